#include "pprof/pprof_functions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/str_join.h"
#include "classify/copy_suffix.h"

namespace offcpu {
namespace {

constexpr std::string_view kScheduler[] = {
    "__schedule",
    "__schedule_loop",
    "schedule",
    "schedule_hrtimeout",
    "schedule_hrtimeout_range",
    "schedule_hrtimeout_range_clock",
    "schedule_preempt_disabled",
    "schedule_timeout",
    "schedule_timeout_idle",
    "schedule_timeout_interruptible",
    "schedule_timeout_killable",
    "schedule_timeout_uninterruptible",
};

bool IsScheduler(std::string_view name) {
  return std::find(std::begin(kScheduler), std::end(kScheduler), name) != std::end(kScheduler);
}

// As pprof compares it: without the dot of an ABI, and without parameters.
std::string_view Compared(std::string_view name) {
  name = ShownFunction(name);
  if (name.starts_with('.')) name.remove_prefix(1);
  return name.substr(0, name.find('('));
}

// Where an interrupt or a fault enters the kernel.
bool IsEntry(std::string_view name) { return name.starts_with("asm_"); }

using Names = std::set<std::string_view>;

// From the leaf outwards: what is called by a function is seen before it.
void AddKernel(const NamedKernelStack& stack, Names* found, Names* unsafe) {
  bool is_interrupted = false;
  for (const NamedFrame& frame : stack.frames) {
    const std::string_view name = ShownFunction(frame.name);
    is_interrupted = is_interrupted || IsEntry(name);
    if (IsScheduler(name)) (is_interrupted ? unsafe : found)->insert(name);
  }
}

}  // namespace

std::string_view ShownFunction(std::string_view name) {
  const std::string_view shown = WithoutCopySuffix(name);
  return shown.empty() ? name : shown;
}

std::string DropFrames(const NamedProfile& profile) {
  if (std::any_of(profile.rows.begin(), profile.rows.end(), [](const NamedRow& row) { return row.waker != 0; })) {
    return "";
  }
  Names found;
  Names unsafe;
  std::vector<bool> kernel_done(profile.kernel_stacks.size());
  std::vector<bool> user_done(profile.user_stacks.size());
  for (const NamedRow& row : profile.rows) {
    if (!kernel_done[row.kernel_stack]) AddKernel(profile.kernel_stacks[row.kernel_stack], &found, &unsafe);
    kernel_done[row.kernel_stack] = true;
    if (user_done[row.user_stack]) continue;
    user_done[row.user_stack] = true;
    for (const NamedFrame& frame : profile.user_stacks[row.user_stack].frames) unsafe.insert(Compared(frame.name));
  }
  for (const std::string_view name : unsafe) found.erase(name);
  return absl::StrJoin(found, "|", [](std::string* out, std::string_view name) { out->append(name); });
}

}  // namespace offcpu
