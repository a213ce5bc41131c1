#include "runtimes/hotspot/code_cache.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "runtimes/read_text.h"

namespace offcpu {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr uint8_t kFreeSegment = 0xff;
constexpr int kMaxSegmentHops = 4096;  // a hop goes back by up to 254 segments
constexpr int kMinLog2 = 3, kMaxLog2 = 20;

BlobKind KindOf(std::string_view name) {
  if (name == "nmethod") return BlobKind::kCompiled;
  if (name == "native nmethod") return BlobKind::kNative;
  if (name == "Interpreter") return BlobKind::kInterpreter;
  if (name.starts_with("StubRoutines (continuation")) return BlobKind::kContinuation;
  return name.starts_with("StubRoutines") || name.ends_with("stubs") ? BlobKind::kStubs : BlobKind::kOther;
}

// A block that is free or of another size has another beginning, and no method has another one's number. Other blobs
// have names, and all blobs of one name have frames of one form.
CodeStamp StampOf(const HotSpotLayout& layout, const Memory& read, uint64_t begin, const Blob& blob) {
  const VmNumber& number = blob.is_method() ? layout.nmethod_compile_id : layout.blob_name;
  CodeStamp stamp = {.address = begin, .offset = static_cast<uint32_t>(layout.block_bytes + number.offset)};
  bool is_read = true;
  for (size_t i = 0; i < stamp.words.size(); ++i) {
    const std::optional<uint64_t> word = read.ReadValue<uint64_t>(begin + i * sizeof(uint64_t));
    is_read &= word.has_value();
    stamp.words[i] = word.value_or(0);
  }
  const std::optional<uint32_t> behind = read.ReadValue<uint32_t>(begin + stamp.offset);
  stamp.behind = behind.value_or(0);
  return is_read && behind ? stamp : CodeStamp();
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
    const std::optional<uint64_t> begin = BlockOf(heap, address);
    const std::optional<Block> block = begin ? BlockAt(heap, *begin, memory_) : std::nullopt;
    return block && block->blob && block->blob->Contains(address) ? block->blob : std::nullopt;
  }
  return std::nullopt;
}

void CodeCache::ForEach(const Memory& blocks, absl::FunctionRef<void(const Blob&)> use) const {
  size_t left = kMaxBlobs;
  for (const Heap& heap : heaps_) {
    uint64_t begin = heap.low;
    for (; begin < heap.high && left > 0; --left) {
      const std::optional<Block> block = BlockAt(heap, begin, blocks);
      if (!block || block->bytes == 0) break;  // behind the last one there is nothing yet
      if (block->blob) use(*block->blob);
      begin += block->bytes;
    }
  }
}

std::optional<CodeCache::Block> CodeCache::BlockAt(const Heap& heap, uint64_t begin, const Memory& memory) const {
  // With the blob's header in one read; that of a small blob may end where the heap does.
  std::vector<std::byte> bytes(layout_.block_bytes + std::max(layout_.nmethod_bytes, layout_.blob_bytes));
  if (!memory.Read(begin, bytes)) {
    bytes.resize(layout_.block_bytes + layout_.blob_bytes);
    if (!memory.Read(begin, bytes)) return std::nullopt;
  }
  const SpanMemory read(begin, bytes);
  Block block;
  const int64_t segments = layout_.block_length.Read(read, begin).value_or(0);
  if (segments > 0 && static_cast<uint64_t>(segments) <= (heap.high - begin) >> heap.log2)
    block.bytes = static_cast<uint64_t>(segments) << heap.log2;
  const bool is_used = layout_.block_used.Read(read, begin).value_or(0) != 0;
  if (is_used) block.blob = BlobIn(read, begin + layout_.block_bytes);
  if (block.blob && block.blob->end > heap.high) block.blob.reset();
  if (block.blob) block.blob->stamp = StampOf(layout_, read, begin, *block.blob);
  return block;
}

std::optional<Blob> CodeCache::BlobIn(const Memory& header, uint64_t at) const {
  Blob blob = {.at = at};
  if (layout_.blob_code_begin.exists() && layout_.blob_code_end.exists()) {
    blob.begin = layout_.blob_code_begin.Address(header, at);
    blob.end = layout_.blob_code_end.Address(header, at);
  } else {
    blob.begin = at + layout_.blob_code_offset.Address(header, at);
    blob.end = at + layout_.blob_data_offset.Address(header, at);
  }
  if (blob.begin < at || blob.begin >= blob.end) return std::nullopt;
  const std::optional<std::string> name = ReadText(memory_, layout_.blob_name.Address(header, at), kMaxNameBytes);
  if (!name) return std::nullopt;
  blob.kind = KindOf(*name);
  blob.frame_words = static_cast<int32_t>(layout_.blob_frame_size.Read(header, at).value_or(0));
  blob.frame_complete = static_cast<int32_t>(layout_.blob_frame_complete.Read(header, at).value_or(-1));
  if (blob.frame_words > kMaxBlobFrameWords) return std::nullopt;
  if (!blob.is_method()) {
    blob.name = *name;
    return blob;
  }
  ReadMethod(layout_, header, &blob);
  return blob;
}

}  // namespace offcpu
