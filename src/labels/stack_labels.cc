#include "labels/stack_labels.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "classify/system_calls.h"

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

void AppendOutermostFirst(const std::vector<NamedFrame>& frames, std::vector<std::string>* labels) {
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    for (auto line = frame->lines.rbegin(); line != frame->lines.rend(); ++line)
      labels->push_back(Printable(line->function));
  }
}

}  // namespace

std::string WaitLabel(std::string_view cause, int32_t syscall) {
  return absl::StrCat(Printable(cause), syscall == kNoSystemCall ? "" : " in ", SystemCallName(syscall));
}

std::string EndLabel(const NamedUserStack& stack) {
  if (stack.overflow) return "[other]";
  if (stack.missing != NoUserStack::kNone) return Bracketed("no user stack", Name(stack.missing));
  switch (stack.end) {
    case EndReason::kComplete:
      return "";
    case EndReason::kGuessedEnd:
      return "[guessed end]";
    default:
      return Bracketed("truncated", Name(stack.end));
  }
}

std::string MissingLabel(const NamedKernelStack& stack) {
  if (stack.overflow) return "[other]";
  return stack.is_lost() ? "[unknown kernel stack]" : "";
}

std::vector<std::string> UserLabels(const NamedUserStack& stack) {
  std::vector<std::string> labels;
  labels.reserve(stack.frames.size() + 1);
  if (std::string end = EndLabel(stack); !end.empty()) labels.push_back(std::move(end));
  AppendOutermostFirst(stack.frames, &labels);
  return labels;
}

std::vector<std::string> KernelLabels(const NamedKernelStack& stack) {
  if (std::string missing = MissingLabel(stack); !missing.empty()) return {std::move(missing)};
  std::vector<std::string> labels;
  labels.reserve(stack.frames.size());
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame)
    labels.push_back(Printable(frame->name()));
  return labels;
}

std::string ThreadLabel(std::string_view comm) { return comm.empty() ? "[no name]" : Printable(comm); }

std::string ProgramLabel(const ProcessInfo& process) { return ThreadLabel(process.name); }

std::string ProcessLabel(const ProcessInfo& process) {
  return absl::StrCat(ProgramLabel(process), "-", process.key.pid);
}

std::vector<std::string> WakerLabels(const NamedProfile& profile, const WakerChain& chain, const WakerNaming& naming) {
  if (chain.empty()) return {std::string(kWakerMark), "[other]"};
  std::vector<std::string> labels;
  const auto append_reversed = [&labels](std::vector<std::string> stack) {
    labels.insert(labels.end(), std::make_move_iterator(stack.rbegin()), std::make_move_iterator(stack.rend()));
  };
  for (const Waker& waker : chain) {
    labels.emplace_back(kWakerMark);
    append_reversed(naming.kernel(profile.kernel_stacks[waker.kernel_stack]));
    labels.emplace_back("-");
    if (waker.interrupt) {
      labels.emplace_back(kInterrupt);
      continue;
    }
    append_reversed(naming.user(profile.user_stacks[waker.user_stack]));
    labels.push_back(ThreadLabel(profile.comms[waker.comm]));
    if (naming.process != nullptr) labels.push_back(naming.process(profile.processes[waker.process]));
  }
  return labels;
}

std::string KernelLeaf(const std::vector<std::string>& labels) {
  if (labels.empty()) return "";
  const auto is_scheduler = [](const std::string& label) {
    return label.find("schedule") != std::string::npos || label == "do_nanosleep";  // both only call it
  };
  const auto leaf = std::find_if_not(labels.rbegin(), labels.rend(), is_scheduler);
  return leaf == labels.rend() ? labels.back() : *leaf;
}

}  // namespace offcpu
