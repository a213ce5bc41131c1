#include "recorder/known_stacks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "process/machine.h"
#include "unwind/apply.h"

namespace offcpu {
namespace {

// As the BPF programs can apply it; nothing if they cannot.
std::optional<UserRow> UserRowOf(const WalkTrace::Step& step) {
  const UnwindRow& row = step.row;
  UserRow told = {.lookup_pc = step.lookup_pc};
  if (step.is_end) {
    told.cfa = UserRow::Cfa::kNone;
    return told;
  }
  const Machine& machine = kHostMachine;
  if (row.signal && row.cfa == KernelContextRow(machine).cfa) {
    told.cfa = UserRow::Cfa::kContext;
    return told;
  }
  const bool keeps_ra = !machine.call_pushes && row.ra.place == Place::kInRegister && row.ra.reg == machine.ra;
  if (row.cfa.deref || (row.ra.place != Place::kAtCfa && !keeps_ra)) return std::nullopt;
  if (row.cfa.reg != machine.sp && row.cfa.reg != machine.fp) return std::nullopt;
  told.ra_offset = keeps_ra ? 0 : row.ra.offset;
  if (!keeps_ra && told.ra_offset == 0) return std::nullopt;
  told.cfa = row.cfa.reg == machine.sp ? UserRow::Cfa::kStackPointer : UserRow::Cfa::kFramePointer;
  told.cfa_offset = row.cfa.offset;
  told.is_guess = row.source == FrameSource::kFramePointer && row.cfa.reg == machine.fp;
  told.keeps_sp = row.kept_sp != 0;
  if (told.keeps_sp && (row.kept_sp != -1 || row.cfa.reg != machine.fp || row.cfa.offset != 16)) return std::nullopt;
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

uint64_t VersionOf(const CodeStamp& stamp) { return wire_code_version(stamp.words[0], stamp.words[1], stamp.behind); }

std::optional<std::vector<UserRow>> UserRowsOf(const WalkTrace& trace) {
  std::vector<UserRow> rows;
  for (const WalkTrace::Step& step : trace.steps) {
    const std::optional<UserRow> row = UserRowOf(step);
    if (!row.has_value()) return std::nullopt;
    rows.push_back(*row);
  }
  for (const WalkTrace::Made& made : trace.made) {
    UserRow& row = rows[made.step];
    row.version = VersionOf(made.stamp);
    row.version_address = made.stamp.address;
    row.version_offset = made.stamp.offset;
    row.shown = made.shown;
  }
  return rows;
}

// By a process's own tables others could be led astray; code that it has made is in no other's version of the code, nor
// are rows that a runtime has for it. The BPF programs read words of 64 bits.
bool MayBeShared(const Frame& frame) {
  if (frame.code == nullptr || frame.code->kind() == CodeKind::kPerfMap) return true;
  if (frame.code->kind() == CodeKind::kRuntime) return true;
  const Module* module = AsModule(frame.code);
  return module != nullptr && module->matches_file && module->machine == &kHostMachine;
}

// Would each walk over the same words end as this one has?
bool EndsByItsPath(const UserStack& stack, const WalkTrace& trace) {
  if (!trace.is_followable || trace.steps.empty() || trace.steps.size() != trace.pcs.size()) return false;
  return stack.end == EndReason::kComplete || stack.end == EndReason::kGuessedEnd || trace.steps.back().is_end ||
         trace.is_cut;
}

// What its id is made of.
std::vector<uint64_t> NameOf(const WalkTrace& trace) {
  std::vector<uint64_t> name;
  auto made = trace.made.begin();
  for (size_t i = 0; i < trace.pcs.size(); ++i) {
    name.push_back(trace.pcs[i]);
    if (made == trace.made.end() || made->step != i) continue;
    name.push_back(VersionOf(made->stamp));
    for (size_t j = 0; j < kShownWords; ++j) {
      if (made->shown[j] != 0) name.push_back(made->shown_values[j]);
    }
    ++made;
  }
  if (trace.is_cut) name.push_back(WIRE_CUT);
  return name;
}

}  // namespace

bool KnownStacks::Learn(const CaptureEvent& capture, const UserStack& stack, const WalkTrace& trace) {
  const uint64_t code_hash = capture.code.hash;
  if (!learns() || code_hash == 0 || !EndsByItsPath(stack, trace)) return false;
  std::vector<uint64_t> name = NameOf(trace);
  const uint64_t id = host_.StackIdOf(code_hash, name);
  if (IsWrong(capture, id, trace)) {
    ++wrong_;
    Distrust(code_hash);
    return false;
  }
  if (std::all_of(stack.frames.begin(), stack.frames.end(), MayBeShared))
    Tell(code_hash, id, std::move(name), stack, trace);
  return capture.walked == id && capture.walked_code == code_hash;
}

// Rows that are guesses may lead to a stack that there is not, as long as that is none that is known.
bool KnownStacks::IsWrong(const CaptureEvent& capture, uint64_t id, const WalkTrace& trace) const {
  const bool is_compared = capture.walked != 0 && capture.walked_code == capture.code.hash;  // none was mapped since
  return is_compared && capture.walked != id && (trace.is_fixed || FindKnown(capture.walked) != nullptr);
}

void KnownStacks::Tell(uint64_t code_hash, uint64_t id, std::vector<uint64_t>&& name, const UserStack& stack,
                       const WalkTrace& trace) {
  if (distrusted_.Contains(code_hash)) return;
  std::optional<std::vector<UserRow>> rows = UserRowsOf(trace);
  if (!rows.has_value()) return;
  const Known* known = FindKnown(id);
  if (known != nullptr && (known->code_hash != code_hash || known->name != name)) {
    ++conflicts_;
    const uint64_t other = known->code_hash;
    for (const uint64_t either : {other, code_hash}) Distrust(either);
    return;
  }
  Keep(id, {.code_hash = code_hash, .name = std::move(name), .stack = stack});
  host_.TellWalk({.code_hash = code_hash, .stack_id = id, .rows = *std::move(rows)});
}

void KnownStacks::Distrust(uint64_t code_hash) {
  if (!learns()) return;
  distrusted_.Add(code_hash);
  Forget();
}

void KnownStacks::Keep(uint64_t id, Known&& known) {
  if (const auto kept = told_.stacks.find(id); kept != told_.stacks.end()) {
    if (known.stack.end == EndReason::kComplete) kept->second.stack.end = EndReason::kComplete;
    return;
  }
  const size_t frames = known.stack.frames.size();
  if (told_.stacks.size() >= limits_.stacks || told_.frames + frames > limits_.frames) Forget();
  told_.frames += frames;
  for (const Frame& frame : known.stack.frames) {
    if (frame.code == nullptr) continue;
    std::shared_ptr<const CodeObject>& code = told_.code[frame.code];
    if (code == nullptr) code = frame.code->shared_from_this();
  }
  told_.stacks.emplace(id, std::move(known));
}

void KnownStacks::Forget() {
  host_.ForgetWalks();
  before_ = std::exchange(told_, {});
}

const KnownStacks::Known* KnownStacks::FindKnown(uint64_t id) const {
  for (const Generation* generation : {&told_, &before_}) {
    const auto found = generation->stacks.find(id);
    if (found != generation->stacks.end()) return &found->second;
  }
  return nullptr;
}

const UserStack* KnownStacks::Find(uint64_t id) const {
  const Known* known = FindKnown(id);
  return known == nullptr || distrusted_.Contains(known->code_hash) ? nullptr : &known->stack;
}

void KnownStacks::BeginWindow() {
  if (learns() && ++windows_ % limits_.windows == 0) Forget();
}

}  // namespace offcpu
