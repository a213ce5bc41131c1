// Rows of a profile by the functions in their stacks, chosen by regular expressions. The expressions are RE2's, which
// takes time in proportion to the name whatever the expression is: std::regex recurses, and dies of long names.
#ifndef OFFCPU_LABELS_FRAME_FILTER_H_
#define OFFCPU_LABELS_FRAME_FILTER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profile/named_profile.h"

namespace re2 {
class RE2;
}

namespace offcpu {

// Found anywhere in a name, unless it says ^ or $. A copy shares what it was compiled to. Threads: any.
class FramePattern {
 public:
  // InvalidArgument if it is no regular expression of RE2, or one that takes too much memory.
  static absl::StatusOr<FramePattern> Parse(const std::string& text);

  bool IsIn(const std::string& name) const;

 private:
  explicit FramePattern(std::shared_ptr<const re2::RE2> regex) : regex_(std::move(regex)) {}

  std::shared_ptr<const re2::RE2> regex_;
};

// Leaves out rows without a frame that one of `focus` is in, unless there is none of those, and rows with a frame that
// one of `ignore` is in. Frames are those of the row's own user and kernel stack, by their names as a reader sees them,
// with the words for what is missing (stack_labels.h); not those of who woke it.
void KeepRowsByFrames(const std::vector<FramePattern>& focus, const std::vector<FramePattern>& ignore,
                      NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_FRAME_FILTER_H_
