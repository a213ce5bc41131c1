#include "runtimes/hotspot/code_cache.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace offcpu {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr uint8_t kFreeSegment = 0xff;
constexpr int kMaxSegmentHops = 4096;  // a hop goes back by up to 254 segments
constexpr int kMinLog2 = 3, kMaxLog2 = 20;

std::string ReadName(const Memory& memory, uint64_t address) {
  std::string name;
  for (; name.size() < kMaxNameBytes; ++address) {
    const std::optional<char> c = memory.ReadValue<char>(address);
    if (!c || *c == '\0') return c ? name : "";
    name.push_back(*c);
  }
  return name;
}

BlobKind KindOf(std::string_view name) {
  if (name == "nmethod") return BlobKind::kCompiled;
  if (name == "native nmethod") return BlobKind::kNative;
  if (name == "Interpreter") return BlobKind::kInterpreter;
  return name.starts_with("StubRoutines") || name.ends_with("stubs") ? BlobKind::kStubs : BlobKind::kOther;
}

// What only the blob of a method says of itself. `read`: its header.
void ReadMethod(const HotSpotLayout& layout, const Memory& read, Blob* blob) {
  const uint64_t at = blob->at;
  blob->compile_id = static_cast<int32_t>(layout.nmethod_compile_id.Read(read, at).value_or(0));
  blob->method = layout.nmethod_method.Address(read, at);
  blob->orig_pc = static_cast<int32_t>(layout.nmethod_orig_pc.Read(read, at).value_or(0));
  const uint64_t from = layout.deopt_is_offset ? at : 0;
  blob->deopt = from + layout.nmethod_deopt.Address(read, at);
  blob->deopt_mh = from + layout.nmethod_deopt_mh.Address(read, at);
  const bool is_apart = layout.nmethod_immutable_data.exists();
  const uint64_t tables = is_apart ? layout.nmethod_immutable_data.Address(read, at) : at;
  blob->pcs = tables + layout.nmethod_scopes_pcs.Address(read, at);
  blob->pcs_end = tables + layout.nmethod_pcs_end.Address(read, at);
  blob->scopes = (is_apart ? tables : 0) + layout.nmethod_scopes_data.Address(read, at);
  if (layout.metadata_is_mutable_data) {
    blob->metadata = layout.blob_mutable_data.Address(read, at) + layout.blob_relocation_size.Address(read, at);
  } else {
    // Where the tables are apart, this one is counted from the blob's data.
    const uint64_t data = is_apart ? layout.blob_data_offset.Address(read, at) : 0;
    blob->metadata = at + data + layout.nmethod_metadata.Address(read, at);
  }
}

}  // namespace

CodeCache CodeCache::Read(const HotSpotLayout& layout, const Memory& memory) {
  CodeCache cache(layout, memory);
  const uint64_t array = memory.ReadValue<uint64_t>(layout.heaps).value_or(0);
  const int64_t length = layout.array_length.Read(memory, array).value_or(0);
  const uint64_t data = layout.array_data.Address(memory, array);
  for (int64_t i = 0; i < length && i < static_cast<int64_t>(kMaxCodeHeaps); ++i) {
    const uint64_t heap = memory.ReadValue<uint64_t>(data + static_cast<uint64_t>(i) * sizeof(uint64_t)).value_or(0);
    Heap found;
    found.low = layout.space_low_boundary.Address(memory, heap + layout.heap_memory);
    found.high = layout.space_high.Address(memory, heap + layout.heap_memory);
    found.segments = layout.space_low.Address(memory, heap + layout.heap_segments);
    found.log2 = static_cast<int>(layout.heap_log2_segment.Read(memory, heap).value_or(0));
    const bool is_possible = found.low < found.high && found.log2 >= kMinLog2 && found.log2 <= kMaxLog2 &&
                             (found.high - found.low) >> found.log2 <= kMaxSegments;
    if (is_possible) cache.heaps_.push_back(found);
  }
  return cache;
}

std::optional<uint64_t> CodeCache::BlockOf(const Heap& heap, uint64_t address) const {
  uint64_t segment = (address - heap.low) >> heap.log2;
  for (int hop = 0; hop < kMaxSegmentHops; ++hop) {
    const std::optional<uint8_t> back = memory_.ReadValue<uint8_t>(heap.segments + segment);
    if (!back || *back == kFreeSegment || *back > segment) return std::nullopt;
    if (*back == 0) return heap.low + (segment << heap.log2);
    segment -= *back;
  }
  return std::nullopt;
}

std::optional<Blob> CodeCache::Find(uint64_t address) const {
  for (const Heap& heap : heaps_) {
    if (address < heap.low || address >= heap.high) continue;
    const std::optional<uint64_t> block = BlockOf(heap, address);
    if (!block || layout_.block_used.Read(memory_, *block).value_or(0) == 0) return std::nullopt;
    std::optional<Blob> blob = BlobAt(*block + layout_.block_bytes);
    return blob && blob->Contains(address) ? blob : std::nullopt;
  }
  return std::nullopt;
}

void CodeCache::ForEach(absl::FunctionRef<void(const Blob&)> use) const {
  size_t left = kMaxBlobs;
  for (const Heap& heap : heaps_) ForEachIn(heap, &left, use);
}

void CodeCache::ForEachIn(const Heap& heap, size_t* left, absl::FunctionRef<void(const Blob&)> use) const {
  const uint64_t segments = (heap.high - heap.low) >> heap.log2;
  for (uint64_t segment = 0; segment<segments&& * left> 0; --*left) {
    const uint64_t block = heap.low + (segment << heap.log2);
    const int64_t length = layout_.block_length.Read(memory_, block).value_or(0);
    if (length <= 0) return;  // behind the last one there is nothing yet
    if (layout_.block_used.Read(memory_, block).value_or(0) != 0) {
      if (const std::optional<Blob> blob = BlobAt(block + layout_.block_bytes)) use(*blob);
    }
    segment += static_cast<uint64_t>(length);
  }
}

std::optional<Blob> CodeCache::BlobAt(uint64_t at) const {
  // All of its header in one read; that of a small blob may end where the heap does.
  std::vector<std::byte> header(std::max(layout_.nmethod_bytes, layout_.blob_bytes));
  if (!memory_.Read(at, header)) {
    header.resize(layout_.blob_bytes);
    if (!memory_.Read(at, header)) return std::nullopt;
  }
  const SpanMemory read(at, header);
  Blob blob = {.at = at};
  if (layout_.blob_code_begin.exists() && layout_.blob_code_end.exists()) {
    blob.begin = layout_.blob_code_begin.Address(read, at);
    blob.end = layout_.blob_code_end.Address(read, at);
  } else {
    blob.begin = at + layout_.blob_code_offset.Address(read, at);
    blob.end = at + layout_.blob_data_offset.Address(read, at);
  }
  if (blob.begin < at || blob.begin >= blob.end) return std::nullopt;
  const std::string name = ReadName(memory_, layout_.blob_name.Address(read, at));
  blob.kind = KindOf(name);
  blob.frame_words = static_cast<int32_t>(layout_.blob_frame_size.Read(read, at).value_or(0));
  blob.frame_complete = static_cast<int32_t>(layout_.blob_frame_complete.Read(read, at).value_or(-1));
  if (blob.frame_words > kMaxBlobFrameWords) return std::nullopt;
  if (!blob.is_method()) {
    blob.name = name;
    return blob;
  }
  ReadMethod(layout_, read, &blob);
  return blob;
}

}  // namespace offcpu
