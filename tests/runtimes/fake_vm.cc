#include "tests/runtimes/fake_vm.h"

#include <utility>

namespace offcpu {

void FakeVm::PutCounter(uint64_t entry, std::string_view name) {
  Put(entry, uint32_t{64});
  Put(entry + 4, uint32_t{20});  // the name
  Put(entry + 12, 'J');
  Put(entry + 16, uint32_t{56});  // the value
  std::memcpy(bytes_.data() + (entry + 20 - kBase), name.data(), name.size());
}

// Counters of performance: see perfMemory.hpp.
void FakeVm::DefineCounters() {
  const uint64_t begin = Take(32 + 4 * 64 + 8), start = Take(8), top = Take(8);
  counters_ = begin + 32;
  Put(start, begin);
  Put(top, counters_ + 4 * 64);
  Put(begin + 24, uint32_t{32});  // where the first one is
  PutCounter(counters_, "java.cls.loadedClasses");
  PutCounter(counters_ + 64, "java.cls.unloadedClasses");
  PutCounter(counters_ + 2 * 64, "sun.rt.safepoints");
  PutCounter(counters_ + 3 * 64, "sun.rt.safepointTime");
  Static("PerfMemory", "_start", "char*", start);
  Static("PerfMemory", "_top", "char*", top);
  Field("InstanceKlass", "_init_state", "u1", kStateAt);
}

void FakeVm::DefineTables() {
  const uint64_t version = Take(8), heaps = Take(8), low = Take(8), high = Take(8), call_stub = Take(8);
  call_stub_ = call_stub;
  Put(version, int32_t{version_});
  Put(low, kCodeLow);
  Put(high, kCodeHigh);
  Put(call_stub, kCallStubReturn);
  // The growable array of heaps, with one.
  const uint64_t array = Take(24), data = Take(8), heap = Take(512);
  Put(heaps, array);
  Put(array, int32_t{1});
  Put(array + 8, data);
  Put(data, heap);
  const uint64_t memory = heap + (is_new() ? 0 : 8), segments = heap + (is_new() ? 112 : 120);
  segmap_ = Take((kCodeHigh - kCodeLow) / kSegmentBytes);
  std::memset(bytes_.data() + (segmap_ - kBase), 0xff, (kCodeHigh - kCodeLow) / kSegmentBytes);
  Put(memory + 0, kCodeLow);    // _low_boundary
  Put(memory + 24, kCodeHigh);  // _high
  Put(segments + 16, segmap_);  // _low
  Put(heap + (is_new() ? 248 : 256), int32_t{7});

  Static("Abstract_VM_Version", "_vm_major_version", "int", version);
  DefineCounters();
  Static("CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", heaps);
  Static("CodeCache", "_low_bound", "address", low);
  Static("CodeCache", "_high_bound", "address", high);
  Static("StubRoutines", "_call_stub_return_address", "address", call_stub);
  Field("GrowableArrayBase", "_len", "int", 0);
  Field("GrowableArray<int>", "_data", "int*", 8);
  Field("CodeHeap", "_memory", "VirtualSpace", is_new() ? 0 : 8);
  Field("CodeHeap", "_segmap", "VirtualSpace", is_new() ? 112 : 120);
  Field("CodeHeap", "_log2_segment_size", "int", is_new() ? 248 : 256);
  Field("VirtualSpace", "_low_boundary", "char*", 0);
  Field("VirtualSpace", "_low", "char*", 16);
  Field("VirtualSpace", "_high", "char*", 24);
  Field("HeapBlock", "_header", "HeapBlock::Header", 0);
  Field("HeapBlock::Header", "_length", is_new() ? "uint32_t" : "size_t", 0);
  Field("HeapBlock::Header", "_used", "bool", is_new() ? 4 : 8);
  if (is_new()) {
    continuation_ = Take(8);
    Static("ContinuationEntry", "_return_pc", "address", continuation_);
    Field("CodeBlob", "_name", "const char*", 8);
    Field("CodeBlob", "_mutable_data", "address", 16);
    Field("CodeBlob", "_relocation_size", "int", 28);
    Field("CodeBlob", "_code_offset", "int", 36);
    Field("CodeBlob", "_data_offset", "int", 40);
    Field("CodeBlob", "_frame_size", "int", 44);
    Field("CodeBlob", "_frame_complete_offset", "int16_t", 54);
    Field("nmethod", "_method", "Method*", 80);
    Field("nmethod", "_immutable_data", "address", 96);
    Field("nmethod", "_deopt_handler_offset", "int", 176);
    Field("nmethod", "_deopt_mh_handler_offset", "int", 180);
    Field("nmethod", "_scopes_pcs_offset", "int", 196);
    Field("nmethod", "_scopes_data_offset", "int", 200);
    Field("nmethod", "_orig_pc_offset", "int", 208);
    Field("nmethod", "_compile_id", "int", 212);
    Field("ConstMethod", "_flags._flags", "u4", 28);
    Field("ConstMethod", "_code_size", "u2", 34);
    Field("ConstMethod", "_name_index", "u2", 36);
  } else {
    Field("CodeBlob", "_frame_complete_offset", "int", 20);
    Field("CodeBlob", "_frame_size", "int", 28);
    Field("CodeBlob", "_code_begin", "address", 32);
    Field("CodeBlob", "_code_end", "address", 40);
    Field("CodeBlob", "_name", "const char*", 96);
    Field("CompiledMethod", "_method", "Method*", 112);
    Field("CompiledMethod", "_scopes_data_begin", "address", 120);
    Field("CompiledMethod", "_deopt_handler_begin", "address", 128);
    Field("CompiledMethod", "_deopt_mh_handler_begin", "address", 136);
    Field("nmethod", "_metadata_offset", "int", 260);
    Field("nmethod", "_scopes_pcs_offset", "int", 268);
    Field("nmethod", "_dependencies_offset", "int", 272);
    Field("nmethod", "_orig_pc_offset", "int", 300);
    Field("nmethod", "_compile_id", "int", 304);
    Field("ConstMethod", "_flags", "u2", 28);
    Field("ConstMethod", "_code_size", "u2", 32);
    Field("ConstMethod", "_name_index", "u2", 34);
  }
  Field("PcDesc", "_pc_offset", "int", 0);
  Field("PcDesc", "_scope_decode_offset", "int", 4);
  Field("Method", "_constMethod", "ConstMethod*", 8);
  Field("Method", "_access_flags", "AccessFlags", is_new() ? 44 : 40);
  Field("ConstMethod", "_constants", "ConstantPool*", 8);
  Field("ConstantPool", "_pool_holder", "InstanceKlass*", 24);
  Field("ConstantPool", "_source_file_name_index", "u2", 54);
  Field("ConstantPool", "_length", "int", 60);
  Field("Klass", "_name", "Symbol*", 24);
  Field("InstanceKlass", "_constants", "ConstantPool*", is_new() ? 224 : 232);
  Field("Symbol", "_length", "u2", 4);
  Field("Symbol", "_body[0]", "u1", 6);
  PutTables();
}

void FakeVm::PutTables() {
  const auto symbol = [this](std::string_view name, uint64_t value) {
    const uint64_t at = Take(8);
    Put(at, value);
    symbols_.emplace(name, at);
  };
  const std::pair<std::string_view, uint64_t> types[] = {{"int", 4},
                                                         {"u1", 1},
                                                         {"u2", 2},
                                                         {"u4", 4},
                                                         {"size_t", 8},
                                                         {"address", 8},
                                                         {"AccessFlags", 4},
                                                         {"bool", 1},
                                                         {"PcDesc", 16},
                                                         {"ConstantPool", 72},
                                                         {"HeapBlock", is_new() ? 8u : 16u},
                                                         {"CodeBlob", is_new() ? 64u : 104u},
                                                         {"nmethod", is_new() ? 224u : 352u},
                                                         {"ConstMethod", is_new() ? 56u : 48u}};
  const uint64_t type_table = Take((std::size(types) + 1) * 16);
  for (size_t i = 0; i < std::size(types); ++i) {
    Put(type_table + i * 16, Text(types[i].first));
    Put(type_table + i * 16 + 8, types[i].second);
  }
  symbol("Types", type_table);
  symbol("TypeEntryArrayStride", 16);
  symbol("TypeEntryTypeNameOffset", 0);
  symbol("TypeEntrySizeOffset", 8);

  const uint64_t field_table = Take((fields_.size() + 1) * 48);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const FieldEntry& field = fields_[i];
    const uint64_t at = field_table + i * 48;
    Put(at, Text(field.type));
    Put(at + 8, Text(field.field));
    Put(at + 16, Text(field.type_string));
    Put(at + 24, field.is_static);
    Put(at + 32, field.offset);
    Put(at + 40, field.address);
    entries_.emplace(std::string(field.type) + "::" + std::string(field.field), at);
  }
  symbol("Structs", field_table);
  symbol("StructEntryArrayStride", 48);
  symbol("StructEntryTypeNameOffset", 0);
  symbol("StructEntryFieldNameOffset", 8);
  symbol("StructEntryTypeStringOffset", 16);
  symbol("StructEntryIsStaticOffset", 24);
  symbol("StructEntryOffsetOffset", 32);
  symbol("StructEntryAddressOffset", 40);

  const std::pair<std::string_view, int32_t> constants[] = {{"frame::interpreter_frame_sender_sp_offset", -1},
                                                            {"frame::entry_frame_call_wrapper_offset", -6},
                                                            {"InvocationEntryBci", -1},
                                                            {"InstanceKlass::linked", kLinked}};
  const uint64_t constant_table = Take((std::size(constants) + 1) * 16);
  for (size_t i = 0; i < std::size(constants); ++i) {
    Put(constant_table + i * 16, Text(constants[i].first));
    Put(constant_table + i * 16 + 8, constants[i].second);
    constants_.emplace(constants[i].first, constant_table + i * 16);
  }
  symbol("IntConstants", constant_table);
  symbol("IntConstantEntryArrayStride", 16);
  symbol("IntConstantEntryNameOffset", 0);
  symbol("IntConstantEntryValueOffset", 8);
}

// The stubs come first: their code has the place that call_stub returns to.
void FakeVm::DefineHeap() { AddBlob({.name = "StubRoutines (1)", .frame_words = 0, .code_bytes = 0x100}); }

}  // namespace offcpu
