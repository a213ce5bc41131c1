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

// As pprof compares it: without the dot of an ABI, and without parameters.
std::string_view Compared(std::string_view name) {
  name = ShownFunction(name);
  if (name.starts_with('.')) name.remove_prefix(1);
  return name.substr(0, name.find('('));
}

// Where an interrupt or a fault enters the kernel.
bool IsEntry(std::string_view name) { return name.starts_with("asm_"); }

using Names = std::set<std::string_view>;

void AddKernel(const NamedKernelStack& stack, Names* found) {
  const size_t frames = BeginOfInterrupted(stack);
  for (size_t i = 0; i < frames; ++i) {
    const std::string_view name = ShownFunction(stack.frames[i].name());
    if (IsOfScheduler(name)) found->insert(name);
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
  Names of_programs;
  std::vector<bool> kernel_done(profile.kernel_stacks.size());
  std::vector<bool> user_done(profile.user_stacks.size());
  for (const NamedRow& row : profile.rows) {
    if (!kernel_done[row.kernel_stack]) AddKernel(profile.kernel_stacks[row.kernel_stack], &found);
    kernel_done[row.kernel_stack] = true;
    if (user_done[row.user_stack]) continue;
    user_done[row.user_stack] = true;
    for (const NamedFrame& frame : profile.user_stacks[row.user_stack].frames) {
      for (const FrameLine& line : frame.lines) of_programs.insert(Compared(line.function));
    }
  }
  for (const std::string_view name : of_programs) found.erase(name);
  return absl::StrJoin(found, "|", [](std::string* out, std::string_view name) { out->append(name); });
}

size_t BeginOfInterrupted(const NamedKernelStack& stack) {
  const auto is_entry = [](const NamedFrame& frame) { return IsEntry(ShownFunction(frame.name())); };
  const auto entry = std::find_if(stack.frames.begin(), stack.frames.end(), is_entry);
  return static_cast<size_t>(entry - stack.frames.begin());
}

size_t BeginOfWait(const NamedKernelStack& stack) {
  const auto is_scheduler = [](const NamedFrame& frame) { return IsOfScheduler(ShownFunction(frame.name())); };
  const auto wait = std::find_if_not(stack.frames.begin(), stack.frames.end(), is_scheduler);
  return wait == stack.frames.end() ? 0 : static_cast<size_t>(wait - stack.frames.begin());
}

bool IsOfScheduler(std::string_view name) {
  return std::find(std::begin(kScheduler), std::end(kScheduler), ShownFunction(name)) != std::end(kScheduler);
}

std::string InterruptedFunction(std::string_view name) { return std::string(ShownFunction(name)) + " [interrupted]"; }

}  // namespace offcpu
