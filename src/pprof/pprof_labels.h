// What the samples of our pprof files say beside their stacks: the keys of their labels, and how the sources of a
// stack's frames become the text of one; and what older files call otherwise. Pure functions.
#ifndef OFFCPU_PPROF_PPROF_LABELS_H_
#define OFFCPU_PPROF_PPROF_LABELS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// Beside those of row_labels.h; texts, none if empty.
inline constexpr std::string_view kUserEndLabel = "user_end";               // why the walk ended
inline constexpr std::string_view kNoUserStackLabel = "no_user_stack";      // or why there was none; "other"
inline constexpr std::string_view kNoKernelStackLabel = "no_kernel_stack";  // "lost", "other" or "user mode"
inline constexpr std::string_view kOtherStack = "other";
inline constexpr std::string_view kLostStack = "lost";
inline constexpr std::string_view kUserModeStack = "user mode";  // there is none
inline constexpr std::string_view kKernelMapping = "[kernel.kallsyms]";

// The labels of each of the chain of wakers: these, and those of its process and of its stacks, behind
// WakerPrefix(index). The name of an interrupt is kInterrupt, and it has no pid; a chain of kOtherStack has no more.
inline constexpr std::string_view kWakerLabel = "waker";  // thread name
std::string WakerPrefix(size_t index);                    // "waker_", "waker2_", "waker3_", "waker4_"
std::string WakerLabel(size_t index);                     // "waker", "waker2", ...

// How the frames beyond the leaf were found, in runs from the leaf outwards: "sframe*3+eh_frame*2+sframe*1". A '!'
// behind a name: Frame::exact is not what it is with most frames of that source. Empty without callers.
std::string SourcesText(const std::vector<NamedFrame>& frames);

// What older files call otherwise, as it is called now: the text of a label, the word for what a stack lacks, or the
// name of a counter.
std::string_view NameToday(std::string_view name);

// Gives the frames what SourcesText said of them. False if `text` is none of its texts, or of fewer or more frames.
bool ReadSources(std::string_view text, std::vector<NamedFrame>& frames);

// The value of an enum with such a name.
template <typename Enum>
std::optional<Enum> ByName(std::string_view name, int count) {
  for (int i = 0; i < count; ++i) {
    if (Name(static_cast<Enum>(i)) == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_LABELS_H_
