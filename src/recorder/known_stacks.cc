#include "recorder/known_stacks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "process/machine.h"

namespace offcpu {
namespace {

constexpr size_t kMaxDistrusted = 4096;  // when there are more, nothing is told of any code

// As the BPF programs can apply it; nothing if they cannot.
std::optional<UserRow> UserRowOf(const WalkTrace::Step& step) {
  const Row& row = step.row;
  UserRow told = {.lookup_pc = step.lookup_pc};
  if (step.is_outermost) {
    told.cfa = UserRow::Cfa::kNone;
    return told;
  }
  const ValueRule below_cfa = {.offset = -8, .place = Place::kAtCfa};
  if (row.cfa.deref || row.ra.place != below_cfa.place || row.ra.offset != below_cfa.offset) return std::nullopt;
  if (row.cfa.reg != kX86_64.sp && row.cfa.reg != kX86_64.fp) return std::nullopt;
  told.cfa = row.cfa.reg == kX86_64.sp ? UserRow::Cfa::kStackPointer : UserRow::Cfa::kFramePointer;
  told.cfa_offset = row.cfa.offset;
  switch (row.fp.place) {
    case Place::kUnchanged:
      break;
    case Place::kAtCfa:
      told.fp = UserRow::FramePointer::kAtCfa;
      told.fp_offset = row.fp.offset;
      break;
    case Place::kUndefined:
      told.fp = UserRow::FramePointer::kLost;
      break;
    case Place::kAtRegister:
    case Place::kInRegister:
      return std::nullopt;
  }
  return PackUserRow(told) != 0 ? std::optional(told) : std::nullopt;
}

std::optional<std::vector<UserRow>> UserRowsOf(const WalkTrace& trace) {
  std::vector<UserRow> rows;
  for (const WalkTrace::Step& step : trace.steps) {
    const std::optional<UserRow> row = UserRowOf(step);
    if (!row.has_value()) return std::nullopt;
    rows.push_back(*row);
  }
  return rows;
}

// Of a process's own tables others could be led astray, and code in memory has others at every moment. The BPF programs
// read words of 64 bits.
bool IsOfFiles(const UserStack& stack) {
  return std::all_of(stack.frames.begin(), stack.frames.end(), [](const Frame& frame) {
    return frame.module != nullptr && frame.module->matches_file && frame.module->machine == &kX86_64;
  });
}

}  // namespace

bool KnownStacks::Learn(const CaptureEvent& capture, const UserStack& stack, const WalkTrace& trace) {
  const uint64_t code_hash = capture.code.hash;
  if (!learns() || stack.end != EndReason::kComplete || code_hash == 0) return false;
  const uint64_t id = UserStackId(code_hash, trace.pcs);
  const bool is_compared = capture.walked != 0 && capture.walked_code == code_hash;  // none was mapped in between
  if (is_compared && capture.walked != id) {
    Distrust(code_hash);
    return false;
  }
  if (trace.is_fixed && IsOfFiles(stack)) Tell(code_hash, id, stack, trace);
  return is_compared;
}

void KnownStacks::Tell(uint64_t code_hash, uint64_t id, const UserStack& stack, const WalkTrace& trace) {
  if (distrusted_.contains(code_hash) || distrusted_.size() >= kMaxDistrusted) return;
  std::optional<std::vector<UserRow>> rows = UserRowsOf(trace);
  if (!rows.has_value()) return;
  Keep(id, stack);
  hooks_.tell({.code_hash = code_hash, .stack_id = id, .rows = *std::move(rows)});
}

void KnownStacks::Distrust(uint64_t code_hash) {
  ++wrong_;
  distrusted_.insert(code_hash);
  Forget();
}

void KnownStacks::Keep(uint64_t id, const UserStack& stack) {
  if (told_.stacks.contains(id)) return;
  if (told_.stacks.size() >= limits_.stacks || told_.frames + stack.frames.size() > limits_.frames) Forget();
  told_.stacks.emplace(id, stack);
  told_.frames += stack.frames.size();
  for (const Frame& frame : stack.frames) {
    std::shared_ptr<const Module>& module = told_.modules[frame.module];
    if (module == nullptr) module = frame.module->shared_from_this();
  }
}

void KnownStacks::Forget() {
  hooks_.forget();
  before_ = std::exchange(told_, {});
}

const UserStack* KnownStacks::Find(uint64_t id) const {
  for (const Generation* generation : {&told_, &before_}) {
    const auto found = generation->stacks.find(id);
    if (found != generation->stacks.end()) return &found->second;
  }
  return nullptr;
}

void KnownStacks::BeginWindow() {
  if (learns() && ++windows_ % limits_.windows == 0) Forget();
}

}  // namespace offcpu
