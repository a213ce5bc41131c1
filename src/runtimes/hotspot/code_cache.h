// The code cache of a HotSpot virtual machine: which blob an address is in, and what a blob says of itself. A blob is
// all that is compiled at once: a method, a stub, the interpreter. Reads the process; every number is taken as hostile.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_CODE_CACHE_H_
#define OFFCPU_RUNTIMES_HOTSPOT_CODE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "process/memory.h"
#include "runtimes/hotspot/layout.h"
#include "unwind/made_code.h"

namespace offcpu {

inline constexpr size_t kMaxCodeHeaps = 16;
inline constexpr size_t kMaxBlobs = 1 << 16;                 // that are looked at when all are
inline constexpr uint64_t kMaxSegments = uint64_t{1} << 25;  // of a heap: 2 GiB of the smallest
inline constexpr int32_t kMaxBlobFrameWords = 1 << 16;

enum class BlobKind : uint8_t {
  kCompiled,      // a Java method
  kNative,        // the wrapper of a native one
  kInterpreter,   // every function that is interpreted
  kStubs,         // written by hand, with a frame pointer: call_stub among them
  kContinuation,  // stubs of virtual threads
  kOther,         // with a frame of a fixed size, or without one
};

struct Blob {
  uint64_t at = 0;     // the CodeBlob
  uint64_t begin = 0;  // [begin, end): its code
  uint64_t end = 0;
  BlobKind kind = BlobKind::kOther;
  int32_t frame_words = 0;     // with the return address and the caller's frame pointer; 0 or less: no frame
  int32_t frame_complete = 0;  // code from there on has the frame; -1: never
  std::string name;            // unless it is a method
  CodeStamp stamp;             // of its block, and its number or its name

  // What only methods have.
  int32_t compile_id = 0;  // never given twice
  uint64_t method = 0;     // Method*
  uint64_t deopt = 0;      // what a return address becomes when the method is not valid any more
  uint64_t deopt_mh = 0;   // likewise, at calls through method handles
  int32_t orig_pc = 0;     // where, above the stack pointer, the return address is kept then
  uint64_t pcs = 0;        // [pcs, pcs_end): its PcDescs
  uint64_t pcs_end = 0;
  uint64_t scopes = 0;    // what their offsets are counted from
  uint64_t metadata = 0;  // its array of Method* and others

  bool is_method() const { return kind == BlobKind::kCompiled || kind == BlobKind::kNative; }
  bool Contains(uint64_t address) const { return address >= begin && address < end; }
  bool operator==(const Blob&) const = default;
};

class CodeCache {
 public:
  // The heaps as they are now: they grow.
  static CodeCache Read(const HotSpotLayout& layout, const Memory& memory);

  // It has no heap, or none that could be read.
  bool empty() const { return heaps_.empty(); }
  // The blob that `address` is in the code of; nothing if that is free.
  std::optional<Blob> Find(uint64_t address) const;
  // Calls `use` for each blob there is, up to kMaxBlobs. Each takes one read of `blocks`, which is the process's
  // memory.
  void ForEach(const Memory& blocks, absl::FunctionRef<void(const Blob&)> use) const;

 private:
  struct Heap {
    uint64_t low = 0;
    uint64_t high = 0;
    uint64_t segments = 0;  // a byte for each: how far back the block begins
    int log2 = 0;           // of the bytes of a segment
  };

  // What heaps are made of.
  struct Block {
    uint64_t bytes = 0;        // 0: that is not known
    std::optional<Blob> blob;  // nothing: it is free, or what is in it cannot be
  };

  CodeCache(const HotSpotLayout& layout, const Memory& memory) : layout_(layout), memory_(memory) {}
  // Where the used block of the address begins.
  std::optional<uint64_t> BlockOf(const Heap& heap, uint64_t address) const;
  std::optional<Block> BlockAt(const Heap& heap, uint64_t begin, const Memory& memory) const;
  // `header`: has what the blob says of itself.
  std::optional<Blob> BlobIn(const Memory& header, uint64_t at) const;

  const HotSpotLayout& layout_;
  const Memory& memory_;
  std::vector<Heap> heaps_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_CODE_CACHE_H_
