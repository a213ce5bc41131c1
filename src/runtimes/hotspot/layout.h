// Where a HotSpot virtual machine keeps what its stacks are walked and named by (tried: JDK 11, 17, 21, 25): the code
// cache's blobs, methods, and the tables that lead from an instruction to the methods inlined there. Worked out from
// the virtual machine's own tables, by name, so that a build that says something else in a known form is served, too;
// one that leaves out what is needed is refused by the name that is missing. A plain value.
//
// A few facts stand in no table: the words of an interpreter's frame and of the call stub's. They are the same in all
// of the versions tried on x86-64 (frame_x86.hpp, stubGenerator_x86_64.cpp of OpenJDK); where a table has a number
// that they follow from, it is checked.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_LAYOUT_H_
#define OFFCPU_RUNTIMES_HOTSPOT_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "absl/status/statusor.h"
#include "process/memory.h"
#include "runtimes/hotspot/vm_structs.h"

namespace offcpu {

// A number inside of a structure.
struct VmNumber {
  uint64_t offset = 0;
  uint8_t bytes = 0;  // 0: this version has no such field
  bool is_signed = false;

  bool exists() const { return bytes != 0; }
  // The number of the structure that begins at `structure`. Nothing if it cannot be read.
  std::optional<int64_t> Read(const Memory& memory, uint64_t structure) const;
  // Likewise, of an address or of what is added to one; 0 if it cannot be read.
  uint64_t Address(const Memory& memory, uint64_t structure) const {
    return static_cast<uint64_t>(Read(memory, structure).value_or(0));
  }
};

// In words of 8 bytes from the frame pointer.
inline constexpr int32_t kInterpretedSenderSp = -1;
inline constexpr int32_t kInterpretedMethod = -3;
inline constexpr int32_t kInterpretedBcp = -8;
inline constexpr int32_t kCallStubRbx = -7;

struct HotSpotLayout {
  int32_t major_version = 0;

  // Static: addresses in the process.
  uint64_t heaps = 0;       // GrowableArray<CodeHeap*>*
  uint64_t low_bound = 0;   // of the code cache
  uint64_t high_bound = 0;  // likewise
  uint64_t call_stub_return = 0;
  uint64_t continuation_return = 0;  // 0: this version has no virtual threads
  uint64_t perf_start = 0;           // 0: this build has no counters
  uint64_t perf_top = 0;             // likewise

  VmNumber array_length, array_data;
  uint64_t heap_memory = 0, heap_segments = 0;  // VirtualSpaces in a CodeHeap
  VmNumber heap_log2_segment;
  VmNumber space_low_boundary, space_low, space_high;
  uint64_t block_bytes = 0;  // of a HeapBlock, which a blob follows
  VmNumber block_length, block_used;

  VmNumber blob_name, blob_frame_size, blob_frame_complete;
  VmNumber blob_code_begin, blob_code_end;      // addresses; else
  VmNumber blob_code_offset, blob_data_offset;  // offsets from the blob
  VmNumber blob_mutable_data, blob_relocation_size;

  VmNumber nmethod_method, nmethod_compile_id, nmethod_orig_pc;
  VmNumber nmethod_deopt, nmethod_deopt_mh;  // addresses, or offsets if `deopt_is_offset`
  bool deopt_is_offset = false;
  VmNumber nmethod_immutable_data;               // where the next ones are counted from, if it exists; else the blob
  VmNumber nmethod_scopes_pcs, nmethod_pcs_end;  // offsets
  VmNumber nmethod_scopes_data;                  // an address, or an offset with `nmethod_immutable_data`
  VmNumber nmethod_metadata;                     // an offset from the blob; with immutable data see below
  bool metadata_is_mutable_data = false;         // *blob_mutable_data + blob_relocation_size
  uint64_t nmethod_bytes = 0;
  uint64_t blob_bytes = 0;

  uint64_t pc_desc_bytes = 0;
  VmNumber pc_desc_pc, pc_desc_scope;

  VmNumber method_const, method_access;
  VmNumber const_constants, const_code_size, const_name_index, const_flags;
  uint64_t const_bytes = 0;
  VmNumber pool_holder, pool_length, pool_source_file;
  uint64_t pool_bytes = 0;
  VmNumber klass_name, klass_constants, klass_source_file;
  VmNumber klass_state;
  int64_t linked_state = 0;  // and behind it: its methods may run
  VmNumber symbol_length;
  uint64_t symbol_body = 0;

  // UNSIGNED5 has no byte of 0 since JDK 20.
  uint32_t excluded_byte() const { return major_version >= 20 ? 1 : 0; }

  // NotFound with the name that is missing, FailedPrecondition if a fact does not hold.
  static absl::StatusOr<HotSpotLayout> Of(const VmStructs& structs, const Memory& memory);
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_LAYOUT_H_
