#include "runtimes/hotspot/hotspot.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "runtimes/hotspot/frame_rows.h"
#include "runtimes/hotspot/vm_structs.h"

namespace offcpu {

// What the walk of one stack asks.
class HotSpotStack final : public MadeCode {
 public:
  HotSpotStack(HotSpot& vm, uint64_t captured_ns)
      : vm_(vm), captured_ns_(captured_ns), functions_(vm.functions()), version_(vm.VersionAt(captured_ns)) {}

  std::optional<MadeFrame> Find(const FrameState& state, const StackCopy& copy) const override {
    const std::optional<HotSpot::Known> known = vm_.Find(state.lookup_pc());
    if (!known) return std::nullopt;
    const Blob& blob = *known->blob;
    MadeFrame made;
    made.frame.code = functions_.get();
    made.frame.kind = blob.kind == BlobKind::kInterpreter ? FrameKind::kInterpreted : FrameKind::kGenerated;
    const bool was_there = known->first_ns <= captured_ns_ && captured_ns_ <= known->last_ns;
    // Where code was interrupted, its frame may not be there yet, or not any more.
    made.is_proven = was_there && !state.exact && (blob.kind != BlobKind::kInterpreter || !vm_.counters_.empty());
    made.row = RowOf(blob, state);
    made.frame.address = FunctionOf(blob, state, copy);
    if (!IsDeoptimized(blob, state)) made.stamp = blob.stamp;
    if (blob.kind == BlobKind::kInterpreter) {
      made.shown = {-kInterpretedBcp, -kInterpretedMethod};
      made.stamp = vm_.InterpreterStampAt(captured_ns_);
    }
    return made;
  }

 private:
  // Where it goes on is kept in the frame.
  static bool IsDeoptimized(const Blob& blob, const FrameState& state) {
    return blob.is_method() && !state.exact && (state.pc == blob.deopt || state.pc == blob.deopt_mh);
  }

  bool IsCallStub(const FrameState& state) const { return state.pc == vm_.call_stub_return_; }

  // Nothing: the frame's caller is not known.
  std::optional<UnwindRow> RowOf(const Blob& blob, const FrameState& state) const {
    // What this virtual thread was called by lies in the heap.
    const uint64_t continuation_return = vm_.continuation_return_;
    if (continuation_return != 0 && state.pc == continuation_return) return std::nullopt;
    switch (blob.kind) {
      case BlobKind::kInterpreter:
        return InterpretedRow();
      case BlobKind::kStubs:
        return IsCallStub(state) ? CallStubRow() : StubRow();
      // The last frame of a virtual thread that is on the stack returns there if others are still in the heap. By the
      // frame pointer the walk would leave those out.
      case BlobKind::kContinuation:
        return std::nullopt;
      case BlobKind::kCompiled:
      case BlobKind::kNative:
      case BlobKind::kOther:
        break;
    }
    const bool has_frame = !state.exact || (blob.frame_complete >= 0 &&
                                            state.pc - blob.begin >= static_cast<uint64_t>(blob.frame_complete));
    if (blob.frame_words < 2 || !has_frame) return std::nullopt;
    return CompiledRow(blob);
  }

  uint64_t FunctionOf(const Blob& blob, const FrameState& state, const StackCopy& copy) const {
    const auto word = [&](uint64_t address) { return ReadWord(copy.memory, address, sizeof(uint64_t)).value_or(0); };
    switch (blob.kind) {
      case BlobKind::kInterpreter: {
        const auto slot = [&](int32_t words) { return state.fp + static_cast<uint64_t>(int64_t{words} * kJavaWord); };
        return functions_->Interpreted(word(slot(kInterpretedMethod)), word(slot(kInterpretedBcp)), version_);
      }
      case BlobKind::kCompiled:
      case BlobKind::kNative: {
        if (state.exact) return functions_->Compiled(blob, 0, version_);
        const uint64_t orig_pc = state.sp + static_cast<uint64_t>(int64_t{blob.orig_pc});
        return functions_->Compiled(blob, IsDeoptimized(blob, state) ? word(orig_pc) : state.pc, version_);
      }
      case BlobKind::kStubs:
      case BlobKind::kContinuation:
      case BlobKind::kOther:
        break;
    }
    return functions_->Stub(blob, IsCallStub(state));
  }

  HotSpot& vm_;
  const uint64_t captured_ns_;
  const std::shared_ptr<JavaFunctions> functions_;
  const std::optional<uint64_t> version_;
};

absl::StatusOr<std::shared_ptr<HotSpot>> HotSpot::Open(const Memory& memory,
                                                       const std::map<std::string, uint64_t, std::less<>>& symbols,
                                                       Clock clock, MemoryLease room) {
  const PagedMemory paged(memory);
  const absl::StatusOr<VmStructs> structs = VmStructs::Read(paged, symbols);
  if (!structs.ok()) return structs.status();
  const absl::StatusOr<HotSpotLayout> layout = HotSpotLayout::Of(*structs, paged);
  if (!layout.ok()) return layout.status();
  std::shared_ptr<HotSpot> vm(new HotSpot(*layout, clock, std::move(room)));
  vm->bounds_ = {.begin = paged.ReadValue<uint64_t>(layout->low_bound).value_or(0),
                 .end = paged.ReadValue<uint64_t>(layout->high_bound).value_or(0)};
  vm->call_stub_return_ = paged.ReadValue<uint64_t>(layout->call_stub_return).value_or(0);
  if (vm->call_stub_return_ < vm->bounds_.begin || vm->call_stub_return_ >= vm->bounds_.end)
    return absl::UnavailableError("the virtual machine has not generated its code yet");
  vm->counters_ = ClassCounters::Find(*layout, paged);
  return vm;
}

bool HotSpot::Read(const Memory& memory, std::span<const uint64_t> words) {
  ReadVersion(memory);
  if (!ReadCode(memory, words)) return false;
  functions()->Read(layout_, memory, [&] { return ReadVersion(memory); });
  if (!functions()->is_full()) return true;
  auto next = std::make_shared<JavaFunctions>(functions()->memory.Another());
  std::lock_guard lock(mutex_);
  functions_before_ = std::exchange(functions_, std::move(next));
  return true;
}

std::optional<uint64_t> HotSpot::ReadVersion(const Memory& memory) {
  const uint64_t before_ns = clock_();
  if (counters_.empty()) return before_ns / kUncountedNs;
  const std::optional<ClassCounts> counts = counters_.Read(memory);
  std::lock_guard lock(mutex_);
  return counts ? std::optional(changes_.Note(*counts, before_ns, clock_())) : std::nullopt;
}

std::optional<uint64_t> HotSpot::VersionAt(uint64_t ns) const {
  if (counters_.empty()) return ns / kUncountedNs;
  std::lock_guard lock(mutex_);
  return changes_.At(ns);
}

// The interpreter stays as it is, and what it runs is another method once classes have changed.
CodeStamp HotSpot::InterpreterStampAt(uint64_t ns) const {
  std::lock_guard lock(mutex_);
  const std::optional<ClassCounts> counts = changes_.CountsAt(ns);
  return counts ? counters_.StampOf(*counts) : CodeStamp();
}

bool HotSpot::ReadCode(const Memory& memory, std::span<const uint64_t> words) {
  const uint64_t began_ns = clock_();
  const PagedMemory paged(memory);
  if (layout_.continuation_return != 0) {
    const std::optional<uint64_t> now = paged.ReadValue<uint64_t>(layout_.continuation_return);
    if (now) continuation_return_ = *now;
  }
  const CodeCache cache = CodeCache::Read(layout_, paged);
  if (cache.empty()) return false;
  ReadWords(paged, cache, words, began_ns);
  // What is there from the beginning on is known before the next stack is captured.
  if (!has_read_all_.exchange(true)) {
    cache.ForEach(memory, [&](const Blob& blob) {
      std::lock_guard lock(mutex_);
      Learn(blob, began_ns);
    });
  }
  return true;
}

void HotSpot::ReadWords(const PagedMemory& memory, const CodeCache& cache, std::span<const uint64_t> words,
                        uint64_t began_ns) {
  std::vector<uint64_t> sorted(words.begin(), words.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::optional<Blob> last;
  for (const uint64_t word : sorted) {
    if (last && last->Contains(word)) continue;
    std::optional<Blob> blob = cache.Find(word);
    if (memory.is_spent()) break;
    // Walks wait for no more than one.
    std::lock_guard lock(mutex_);
    if (!blob) {
      LearnFree(word);
      continue;
    }
    Learn(*blob, began_ns);
    last = std::move(blob);
  }
}

void HotSpot::Learn(const Blob& blob, uint64_t began_ns) {
  const auto known = blobs_.find(blob.begin);
  if (known != blobs_.end() && *known->second.blob == blob) {
    known->second.last_ns = std::max(known->second.last_ns, began_ns);
    return;
  }
  LearnFree(blob.begin);
  Forget(blobs_.lower_bound(blob.begin), blobs_.lower_bound(blob.end));
  if (blobs_.size() >= kMaxKnownBlobs) Forget(blobs_.begin(), blobs_.end());
  if (!room_.Grow(kBytesEach)) return;
  blobs_.emplace(blob.begin,
                 Known{.blob = std::make_shared<const Blob>(blob), .first_ns = clock_(), .last_ns = began_ns});
}

// A blob that was known there is gone.
void HotSpot::LearnFree(uint64_t address) {
  auto after = blobs_.upper_bound(address);
  if (after == blobs_.begin()) return;
  --after;
  if (after->second.blob->Contains(address)) Forget(after, std::next(after));
}

void HotSpot::Forget(absl::btree_map<uint64_t, Known>::iterator begin, absl::btree_map<uint64_t, Known>::iterator end) {
  room_.Shrink(static_cast<size_t>(std::distance(begin, end)) * kBytesEach);
  blobs_.erase(begin, end);
}

std::optional<HotSpot::Known> HotSpot::Find(uint64_t address) const {
  std::lock_guard lock(mutex_);
  auto after = blobs_.upper_bound(address);
  if (after == blobs_.begin()) return std::nullopt;
  const Known& known = std::prev(after)->second;
  return known.blob->Contains(address) ? std::optional(known) : std::nullopt;
}

std::unique_ptr<MadeCode> HotSpot::CodeAt(uint64_t captured_ns) {
  return std::make_unique<HotSpotStack>(*this, captured_ns);
}

}  // namespace offcpu
