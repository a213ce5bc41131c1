#include "labels/frame_filter.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "labels/stack_labels.h"

namespace offcpu {
namespace {

// Which stacks of a profile have a frame that one of some patterns is in. Each name is looked at once.
class FrameSearch {
 public:
  FrameSearch(const std::vector<FramePattern>& patterns, const NamedProfile& profile) : patterns_(patterns) {
    if (patterns.empty()) return;
    for (const NamedUserStack& stack : profile.user_stacks) users_.push_back(AnyIn(UserLabels(stack)));
    for (const NamedKernelStack& stack : profile.kernel_stacks) kernels_.push_back(AnyIn(KernelLabels(stack)));
  }

  bool IsIn(const RowKey& row) const {
    return !patterns_.empty() && (users_[row.user_stack] || kernels_[row.kernel_stack]);
  }

 private:
  bool AnyIn(const std::vector<std::string>& names) {
    return std::any_of(names.begin(), names.end(), [this](const std::string& name) {
      const auto [it, is_new] = known_.try_emplace(name, false);
      if (is_new) {
        const auto is_in = [&name](const FramePattern& pattern) { return pattern.IsIn(name); };
        it->second = std::any_of(patterns_.begin(), patterns_.end(), is_in);
      }
      return it->second;
    });
  }

  const std::vector<FramePattern>& patterns_;
  absl::flat_hash_map<std::string, bool> known_;
  std::vector<bool> users_;
  std::vector<bool> kernels_;
};

}  // namespace

absl::StatusOr<FramePattern> FramePattern::Parse(const std::string& text) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<const RE2>(text, options);
  if (regex->ok()) return FramePattern(std::move(regex));
  return absl::InvalidArgumentError(absl::StrCat("'", text, "' is not a regular expression: ", regex->error()));
}

bool FramePattern::IsIn(const std::string& name) const { return RE2::PartialMatch(name, *regex_); }

void KeepRowsByFrames(const std::vector<FramePattern>& focus, const std::vector<FramePattern>& ignore,
                      NamedProfile* profile) {
  if (focus.empty() && ignore.empty()) return;
  const FrameSearch focused(focus, *profile);
  const FrameSearch ignored(ignore, *profile);
  std::erase_if(profile->rows,
                [&](const NamedRow& row) { return (!focus.empty() && !focused.IsIn(row)) || ignored.IsIn(row); });
}

}  // namespace offcpu
