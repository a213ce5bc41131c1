#include "output/stack_labels.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "output/utf8.h"
#include "symbolize/system_calls.h"

namespace offcpu {
namespace {

std::string Bracketed(std::string_view what, std::string_view reason) {
  std::string label = "[";
  label += what;
  label += ": ";
  label += reason;
  label += "]";
  return label;
}

}  // namespace

std::string WaitLabel(WaitCause cause, int32_t syscall) {
  return absl::StrCat(std::string(Name(cause)), syscall == kNoSystemCall ? "" : " in ", SystemCallName(syscall));
}

std::string EndLabel(const UserStackEntry& entry) {
  if (entry.overflow) return "[other]";
  if (entry.missing != NoUserStack::kNone) return Bracketed("no user stack", Name(entry.missing));
  return entry.stack.end == EndReason::kComplete ? "" : Bracketed("truncated", Name(entry.stack.end));
}

std::vector<std::string> UserLabels(const Profile& profile, const SymbolizedProfile& symbols, size_t index) {
  const std::vector<SymbolizedFrame>& frames = symbols.user_stacks[index];
  std::vector<std::string> labels;
  labels.reserve(frames.size() + 1);
  if (std::string end = EndLabel(profile.user_stacks[index]); !end.empty()) labels.push_back(std::move(end));
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) labels.push_back(Printable(frame->name));
  return labels;
}

std::vector<std::string> KernelLabels(const Profile& profile, const SymbolizedProfile& symbols, size_t index) {
  const KernelStack& stack = profile.kernel_stacks[index];
  if (stack.overflow) return {"[other]"};
  if (stack.user_mode) return {};
  if (stack.addresses.empty()) return {"[unknown kernel stack]"};
  const std::vector<std::string_view>& frames = symbols.kernel_stacks[index];
  std::vector<std::string> labels;
  labels.reserve(frames.size());
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) labels.push_back(Printable(*frame));
  return labels;
}

std::string ThreadLabel(std::string_view comm) { return comm.empty() ? "[no name]" : Printable(comm); }

std::string ProcessLabel(const ProcessInfo& process) {
  return absl::StrCat(Printable(process.name), "-", process.key.pid);
}

std::vector<std::string> WakerLabels(const Profile& profile, const SymbolizedProfile& symbols, size_t index,
                                     bool with_process) {
  if (profile.wakers[index].empty()) return {std::string(kWakerMark), "[other]"};
  std::vector<std::string> labels;
  const auto append_reversed = [&labels](std::vector<std::string> stack) {
    labels.insert(labels.end(), std::make_move_iterator(stack.rbegin()), std::make_move_iterator(stack.rend()));
  };
  for (const WakerLink& link : profile.wakers[index]) {
    labels.emplace_back(kWakerMark);
    append_reversed(KernelLabels(profile, symbols, link.kernel_stack));
    labels.emplace_back("-");
    if (link.interrupt) {
      labels.emplace_back(kInterrupt);
      continue;
    }
    append_reversed(UserLabels(profile, symbols, link.user_stack));
    labels.push_back(ThreadLabel(profile.comms[link.comm]));
    if (with_process) labels.push_back(ProcessLabel(profile.processes[link.process]));
  }
  return labels;
}

std::string KernelLeaf(const std::vector<std::string>& labels) {
  if (labels.empty()) return "";
  const auto is_scheduler = [](const std::string& label) { return label.find("schedule") != std::string::npos; };
  const auto leaf = std::find_if_not(labels.rbegin(), labels.rend(), is_scheduler);
  return leaf == labels.rend() ? labels.back() : *leaf;
}

}  // namespace offcpu
