#include "unwind/walk.h"

#include <optional>

#include "unwind/apply.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

// A C library's start code need not have a row that says that nobody calls it (musl's does not). It is where a program
// is entered, and other functions follow at once, so that it must have left the ABI's mark: a frame pointer of 0.
bool IsStartCode(const MappedCode& code, uint64_t address, const FrameState& state) {
  constexpr uint64_t kMaxStartBytes = 64;
  return code.module != nullptr && code.module->entry != 0 && address >= code.module->entry &&
         address - code.module->entry < kMaxStartBytes && !state.exact && state.fp_known && state.fp == 0;
}

}  // namespace

// Goes from the last frame of `out` to its caller; says why the walk ends if it does.
std::optional<EndReason> Walker::Step(const MappedCode& code, const StackWindow& window, FrameState* state,
                                      Frame* frame) {
  Row row;
  const uint64_t address = code.module == nullptr ? state->lookup_pc() : state->lookup_pc() - code.bias;
  const bool plausible_fp = PlausibleFramePointer(*state, window);
  switch (rows_.Find(code.module, address, plausible_fp, &row)) {
    case FindOutcome::kFound:
      break;
    case FindOutcome::kExpression:
      return EndReason::kExpression;
    case FindOutcome::kNotHere:
    case FindOutcome::kCorrupt:
      return IsStartCode(code, address, *state) ? EndReason::kComplete : EndReason::kNoRow;
  }
  if (row.source == FrameSource::kFramePointer) {
    if (EndsFramePointerChain(*state) || IsStartCode(code, address, *state)) return EndReason::kComplete;
    if (!plausible_fp) return EndReason::kNoRow;
  }
  // The "return address" into a trampoline is where it begins; nothing there calls the handler.
  if (row.signal) frame->exact = true;
  return Apply(row, window, state);
}

EndReason Walker::Run(const AddressSpace& space, const StackWindow& window, FrameState* state, UserStack* out,
                      std::vector<uint64_t>* pcs) {
  for (;;) {
    const MappedCode* code = space.Find(state->lookup_pc());
    if (code == nullptr) return out->frames.empty() ? EndReason::kNotMapped : EndReason::kBadReturnAddress;
    if (out->frames.size() == kMaxFrames) return EndReason::kFrameLimit;
    Frame frame;
    frame.module = code->module.get();
    frame.address = frame.module == nullptr ? state->pc : state->pc - code->bias;
    frame.source = state->source;
    frame.exact = state->exact;
    out->frames.push_back(frame);
    if (pcs != nullptr) pcs->push_back(state->pc);
    ++stats_.frames[static_cast<size_t>(frame.source)];
    if (std::optional<EndReason> end = Step(*code, window, state, &out->frames.back())) return *end;
  }
}

void Walker::Walk(const AddressSpace& space, const Registers& registers, bool in_syscall, const StackWindow& window,
                  UserStack* out, std::vector<uint64_t>* pcs) {
  out->frames.clear();
  if (pcs != nullptr) pcs->clear();
  FrameState state = LeafState(registers, in_syscall);
  out->end = Run(space, window, &state, out, pcs);
  ++stats_.walks;
  ++stats_.ends[static_cast<size_t>(out->end)];
}

}  // namespace offcpu
