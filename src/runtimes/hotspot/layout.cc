#include "runtimes/hotspot/layout.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr int32_t kOldestVersion = 11;

// Looks names up, and keeps the first one that is missing.
class Finder {
 public:
  explicit Finder(const VmStructs& structs) : structs_(structs) {}

  // The first of `names` that there is. A number of a known width.
  VmNumber Need(std::initializer_list<std::string_view> names) {
    const VmNumber found = Take(names);
    if (!found.exists()) Miss(*names.begin());
    return found;
  }
  VmNumber Take(std::initializer_list<std::string_view> names) const {
    for (const std::string_view name : names) {
      const std::optional<VmField> field = structs_.Field(name);
      if (field && !field->is_static && field->bytes != 0)
        return {.offset = field->at, .bytes = field->bytes, .is_signed = field->is_signed};
    }
    return {};
  }
  // Where a part of a structure begins, whatever it is.
  uint64_t Offset(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      const std::optional<VmField> field = structs_.Field(name);
      if (field && !field->is_static) return field->at;
    }
    Miss(*names.begin());
    return 0;
  }
  uint64_t Static(std::string_view name, bool is_needed = true) {
    const std::optional<VmField> field = structs_.Field(name);
    if (field && field->is_static) return field->at;
    if (is_needed) Miss(name);
    return 0;
  }
  uint64_t Size(std::string_view type) {
    const std::optional<uint64_t> bytes = structs_.Size(type);
    if (!bytes || *bytes == 0 || *bytes > kMostBytes) Miss(type);
    return bytes.value_or(0);
  }
  absl::Status status() const {
    if (missing_.empty()) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("this build does not describe ", missing_));
  }

 private:
  static constexpr uint64_t kMostBytes = 4096;

  void Miss(std::string_view name) {
    if (missing_.empty()) missing_ = std::string(name);
  }

  const VmStructs& structs_;
  std::string missing_;
};

void FindCodeCache(Finder& find, HotSpotLayout* layout) {
  layout->heaps = find.Static("CodeCache::_heaps");
  layout->low_bound = find.Static("CodeCache::_low_bound");
  layout->high_bound = find.Static("CodeCache::_high_bound");
  layout->call_stub_return = find.Static("StubRoutines::_call_stub_return_address");
  layout->continuation_return = find.Static("ContinuationEntry::_return_pc", /*is_needed=*/false);
  layout->perf_start = find.Static("PerfMemory::_start", /*is_needed=*/false);
  layout->perf_top = find.Static("PerfMemory::_top", /*is_needed=*/false);
  layout->array_length = find.Need({"GrowableArrayBase::_len", "GenericGrowableArray::_len"});
  layout->array_data = find.Need({"GrowableArray<int>::_data"});
  layout->heap_memory = find.Offset({"CodeHeap::_memory"});
  layout->heap_segments = find.Offset({"CodeHeap::_segmap"});
  layout->heap_log2_segment = find.Need({"CodeHeap::_log2_segment_size"});
  layout->space_low_boundary = find.Need({"VirtualSpace::_low_boundary"});
  layout->space_low = find.Need({"VirtualSpace::_low"});
  layout->space_high = find.Need({"VirtualSpace::_high"});
  layout->block_bytes = find.Size("HeapBlock");
  const uint64_t header = find.Offset({"HeapBlock::_header"});
  layout->block_length = find.Need({"HeapBlock::Header::_length"});
  layout->block_used = find.Need({"HeapBlock::Header::_used"});
  layout->block_length.offset += header;
  layout->block_used.offset += header;
}

void FindBlobs(Finder& find, HotSpotLayout* layout) {
  layout->blob_name = find.Need({"CodeBlob::_name"});
  layout->blob_frame_size = find.Need({"CodeBlob::_frame_size"});
  layout->blob_frame_complete = find.Need({"CodeBlob::_frame_complete_offset"});
  layout->blob_code_begin = find.Take({"CodeBlob::_code_begin"});
  layout->blob_code_end = find.Take({"CodeBlob::_code_end"});
  if (!layout->blob_code_begin.exists() || !layout->blob_code_end.exists()) {
    layout->blob_code_offset = find.Need({"CodeBlob::_code_offset"});
    layout->blob_data_offset = find.Need({"CodeBlob::_data_offset"});
  }
  layout->blob_bytes = find.Size("CodeBlob");
  layout->nmethod_bytes = find.Size("nmethod");
}

void FindCompiled(Finder& find, HotSpotLayout* layout) {
  layout->nmethod_method = find.Need({"nmethod::_method", "CompiledMethod::_method"});
  layout->nmethod_compile_id = find.Need({"nmethod::_compile_id"});
  layout->nmethod_orig_pc = find.Need({"nmethod::_orig_pc_offset"});
  layout->nmethod_deopt = find.Take({"nmethod::_deopt_handler_offset", "nmethod::_deopt_handler_entry_offset"});
  layout->deopt_is_offset = layout->nmethod_deopt.exists();
  layout->nmethod_deopt_mh = find.Take({"nmethod::_deopt_mh_handler_offset"});
  if (!layout->deopt_is_offset) {
    layout->nmethod_deopt = find.Need({"CompiledMethod::_deopt_handler_begin", "nmethod::_deopt_handler_begin"});
    layout->nmethod_deopt_mh =
        find.Take({"CompiledMethod::_deopt_mh_handler_begin", "nmethod::_deopt_mh_handler_begin"});
  }
  layout->nmethod_immutable_data = find.Take({"nmethod::_immutable_data"});
  layout->nmethod_scopes_pcs = find.Need({"nmethod::_scopes_pcs_offset"});
  if (layout->nmethod_immutable_data.exists()) {
    layout->nmethod_scopes_data = find.Need({"nmethod::_scopes_data_offset"});
    layout->nmethod_pcs_end = layout->nmethod_scopes_data;
  } else {
    layout->nmethod_scopes_data = find.Need({"CompiledMethod::_scopes_data_begin", "nmethod::_scopes_data_begin"});
    layout->nmethod_pcs_end = find.Need({"nmethod::_dependencies_offset"});
  }
  layout->nmethod_metadata = find.Take({"nmethod::_metadata_offset"});
  layout->metadata_is_mutable_data = !layout->nmethod_metadata.exists();
  if (layout->metadata_is_mutable_data) {
    layout->blob_mutable_data = find.Need({"CodeBlob::_mutable_data"});
    layout->blob_relocation_size = find.Need({"CodeBlob::_relocation_size"});
  } else if (layout->nmethod_immutable_data.exists() && !layout->blob_data_offset.exists()) {
    layout->blob_data_offset = find.Need({"CodeBlob::_data_offset"});
  }
  layout->pc_desc_bytes = find.Size("PcDesc");
  layout->pc_desc_pc = find.Need({"PcDesc::_pc_offset"});
  layout->pc_desc_scope = find.Need({"PcDesc::_scope_decode_offset"});
}

void FindMethods(Finder& find, HotSpotLayout* layout) {
  layout->method_const = find.Need({"Method::_constMethod"});
  layout->method_access = find.Need({"Method::_access_flags", "Method::_access_flags._flags"});
  layout->const_constants = find.Need({"ConstMethod::_constants"});
  layout->const_code_size = find.Need({"ConstMethod::_code_size"});
  layout->const_name_index = find.Need({"ConstMethod::_name_index"});
  layout->const_flags = find.Need({"ConstMethod::_flags", "ConstMethod::_flags._flags"});
  layout->const_bytes = find.Size("ConstMethod");
  layout->pool_holder = find.Need({"ConstantPool::_pool_holder"});
  layout->pool_length = find.Need({"ConstantPool::_length"});
  layout->pool_source_file = find.Take({"ConstantPool::_source_file_name_index"});
  layout->pool_bytes = find.Size("ConstantPool");
  layout->klass_name = find.Need({"Klass::_name"});
  layout->klass_constants = find.Need({"InstanceKlass::_constants"});
  layout->klass_state = find.Need({"InstanceKlass::_init_state"});
  layout->klass_source_file = find.Take({"InstanceKlass::_source_file_name_index"});
  layout->symbol_length = find.Need({"Symbol::_length"});
  layout->symbol_body = find.Offset({"Symbol::_body", "Symbol::_body[0]"});
}

}  // namespace

std::optional<int64_t> VmNumber::Read(const Memory& memory, uint64_t structure) const {
  int64_t value = 0;
  if (bytes == 0 || bytes > sizeof(value)) return std::nullopt;
  if (!memory.Read(structure + offset, std::as_writable_bytes(std::span(&value, 1)).first(bytes))) return std::nullopt;
  if (!is_signed) return value;
  const int unused = 64 - 8 * bytes;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >> unused;
}

absl::StatusOr<HotSpotLayout> HotSpotLayout::Of(const VmStructs& structs, const Memory& memory) {
  HotSpotLayout layout;
  Finder find(structs);
  const uint64_t version = find.Static("Abstract_VM_Version::_vm_major_version");
  FindCodeCache(find, &layout);
  FindBlobs(find, &layout);
  FindCompiled(find, &layout);
  FindMethods(find, &layout);
  if (!find.status().ok()) return find.status();
  const std::optional<int32_t> linked = structs.Constant("InstanceKlass::linked");
  if (!linked) return absl::NotFoundError("this build does not describe InstanceKlass::linked");
  layout.linked_state = *linked;
  layout.major_version = memory.ReadValue<int32_t>(version).value_or(0);
  if (layout.major_version < kOldestVersion)
    return absl::FailedPreconditionError(absl::StrCat("version ", layout.major_version, " is not served"));
  // What no table says is that of a frame in which these hold.
  if (structs.Constant("frame::interpreter_frame_sender_sp_offset") != kInterpretedSenderSp ||
      structs.Constant("frame::entry_frame_call_wrapper_offset") != -6 || structs.Constant("InvocationEntryBci") != -1)
    return absl::FailedPreconditionError("its frames are not those of any known version");
  return layout;
}

}  // namespace offcpu
