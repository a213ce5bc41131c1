// The memory of a made-up Java virtual machine, in one of two forms: as JDK 17 keeps its structures, or as JDK 25 does.
// The offsets are those that such builds' own tables have on x86-64 (libjvm.so of Debian's
// openjdk-17-jre-headless 17.0.15, and of Temurin 25.0.3); what is put there is the test's.
#ifndef OFFCPU_TESTS_RUNTIMES_FAKE_VM_H_
#define OFFCPU_TESTS_RUNTIMES_FAKE_VM_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "process/memory.h"

namespace offcpu {

class FakeVm {
 public:
  static constexpr uint64_t kBase = 0x10000;
  static constexpr size_t kBytes = 1 << 20;
  // The code cache: one heap, whose segments are of 128 bytes.
  static constexpr uint64_t kCodeLow = kBase + 0x80000;
  static constexpr uint64_t kCodeHigh = kCodeLow + 0x40000;
  static constexpr uint64_t kSegmentBytes = 128;
  static constexpr uint64_t kCallStubReturn = kCodeLow + 0x1a0;

  explicit FakeVm(int version) : version_(version), bytes_(kBytes) {
    DefineTables();
    DefineHeap();
  }

  const Memory& memory() const { return memory_; }
  const std::map<std::string, uint64_t, std::less<>>& symbols() const { return symbols_; }
  std::map<std::string, uint64_t, std::less<>>& symbols() { return symbols_; }
  std::vector<std::byte>& bytes() { return bytes_; }
  bool is_new() const { return version_ >= 23; }
  uint64_t call_stub_return() const { return call_stub_; }        // where that is kept
  uint64_t continuation_return() const { return continuation_; }  // likewise; of JDK 25

  void SetUnloads(uint64_t classes) { Put(counters_ + 64 + 56, classes); }
  void SetLoads(uint64_t classes) { Put(counters_ + 56, classes); }
  void SetSafepoints(uint64_t begun) { Put(counters_ + 2 * 64 + 56, begun); }
  void SetLinked(uint64_t method, bool is) { Put(HolderOf(method) + kStateAt, static_cast<uint8_t>(kLinked - !is)); }

  template <typename T>
  void Put(uint64_t address, T value) {
    std::memcpy(bytes_.data() + (address - kBase), &value, sizeof(value));
  }
  uint64_t Take(size_t bytes) {
    const uint64_t at = next_;
    next_ += (bytes + 15) / 16 * 16;
    return at;
  }
  uint64_t Text(std::string_view text) {
    const uint64_t at = Take(text.size() + 1);
    std::memcpy(bytes_.data() + (at - kBase), text.data(), text.size());
    return at;
  }

  // Changes what the tables say of a field; see VmStructs::Field.
  void Rename(std::string_view type_and_field, std::string_view field) {
    Put(entries_.find(type_and_field)->second + 8, Text(field));
  }
  void SetConstant(std::string_view name, int32_t value) { Put(constants_.find(name)->second + 8, value); }

  struct BlobOptions {
    std::string_view name = "nmethod";
    int32_t frame_words = 4;
    int32_t frame_complete = 16;
    uint64_t code_bytes = 256;
    // What only methods have.
    int32_t compile_id = 1;
    uint64_t method = 0;
    int32_t orig_pc = 8;
    struct Pc {
      int32_t pc = 0;  // from the begin of the code
      int32_t scope = 0;
    };
    std::vector<Pc> pcs;
    std::vector<uint8_t> scopes;     // the first byte is of offset 0, which no scope has
    std::vector<uint64_t> metadata;  // Method*s, the first one of index 1
  };
  // A blob at the next free segment. Gives where its code begins.
  uint64_t AddBlob(const BlobOptions& options) { return AddBlobAt(next_segment_, options); }
  // Another one there, whose code and size are the same.
  uint64_t AddBlobAt(uint64_t segment, const BlobOptions& options) {
    const uint64_t header_bytes = is_new() ? 224 : 352;
    const uint64_t block = kCodeLow + segment * kSegmentBytes;
    const uint64_t at = block + (is_new() ? 8 : 16);
    const uint64_t code = (at + header_bytes + 31) / 32 * 32;
    const uint64_t end = code + options.code_bytes;
    const uint64_t segments = (end - block + kSegmentBytes - 1) / kSegmentBytes;
    PutBlock(segment, segments);
    const uint64_t pcs = Take(options.pcs.size() * 16 + options.scopes.size() + 16);
    for (size_t i = 0; i < options.pcs.size(); ++i) {
      Put(pcs + i * 16, options.pcs[i].pc);
      Put(pcs + i * 16 + 4, options.pcs[i].scope);
    }
    const uint64_t scopes = pcs + options.pcs.size() * 16;
    for (size_t i = 0; i < options.scopes.size(); ++i) Put(scopes + i, options.scopes[i]);
    const uint64_t metadata = Take(options.metadata.size() * 8 + 8);
    for (size_t i = 0; i < options.metadata.size(); ++i) Put(metadata + i * 8, options.metadata[i]);
    if (is_new()) {
      PutNew(at, code, end, options, pcs, scopes, metadata);
    } else {
      PutOld(at, code, end, options, pcs, scopes, metadata);
    }
    return code;
  }
  uint64_t next_segment() const { return next_segment_; }
  // Where the code of the blob at that segment is said to end.
  void SetCodeEnd(uint64_t segment, uint64_t end) {
    const uint64_t at = kCodeLow + segment * kSegmentBytes + (is_new() ? 8 : 16);
    is_new() ? Put(at + 40, static_cast<int32_t>(end - at)) : Put(at + 40, end);
  }
  // How far these segments, which are all but the first of a blob, are said to be behind others of it.
  void SetSegments(uint64_t first, uint64_t count, uint8_t back) {
    for (uint64_t i = 0; i < count; ++i) Put(segmap_ + first + i, back);
  }
  void FreeSegments(uint64_t segment) { Put(kCodeLow + segment * kSegmentBytes + (is_new() ? 4 : 8), uint8_t{0}); }

  struct MethodOptions {
    std::string_view class_name = "com/shop/Inventory";
    std::string_view name = "reserve";
    std::string_view file = "Inventory.java";
    uint16_t code_bytes = 40;
    std::vector<uint8_t> lines;  // the compressed table, with its end; empty: it has none
    uint32_t access = 1;
  };
  uint64_t AddMethod(const MethodOptions& options) {
    const uint64_t pool = Take(72 + 4 * 8);
    const uint64_t klass = Take(256);
    const uint64_t const_bytes = is_new() ? 56 : 48;
    const uint64_t const_method = Take(const_bytes + options.code_bytes + options.lines.size());
    const uint64_t method = Take(88);
    Put(klass + 24, Symbol(options.class_name));
    Put(klass + kStateAt, uint8_t{kLinked});
    Put(klass + (is_new() ? 224 : 232), pool);
    Put(pool + 24, klass);
    Put(pool + 60, int32_t{4});
    Put(pool + 54, uint16_t{2});
    Put(pool + 72 + 1 * 8, Symbol(options.name));
    Put(pool + 72 + 2 * 8, Symbol(options.file));
    Put(const_method + 8, pool);
    Put(const_method + 28, is_new() ? uint32_t{!options.lines.empty()} : uint32_t{!options.lines.empty()});
    Put(const_method + (is_new() ? 34 : 32), options.code_bytes);
    Put(const_method + (is_new() ? 36 : 34), uint16_t{1});
    for (size_t i = 0; i < options.lines.size(); ++i) {
      Put(const_method + const_bytes + options.code_bytes + i, options.lines[i]);
    }
    Put(method + 8, const_method);
    Put(method + (is_new() ? 44 : 40), options.access);
    return method;
  }
  // Where the byte code of a method is.
  uint64_t BytecodeOf(uint64_t method) const { return Word(method + 8) + (is_new() ? 56 : 48); }
  // The constant pool of a method, and the class that it is of.
  uint64_t ConstantsOf(uint64_t method) const { return Word(Word(method + 8) + 8); }
  uint64_t HolderOf(uint64_t method) const { return Word(ConstantsOf(method) + 24); }
  // Gives a class that name, of the same length, where the name is that it has.
  void RenameClass(uint64_t method, std::string_view name) {
    std::memcpy(bytes_.data() + (Word(HolderOf(method) + 24) + 6 - kBase), name.data(), name.size());
  }

 private:
  static constexpr uint64_t kStateAt = 0xf8;
  static constexpr int32_t kLinked = 2;

  uint64_t Word(uint64_t address) const { return *memory_.ReadValue<uint64_t>(address); }

  uint64_t Symbol(std::string_view text) {
    const uint64_t at = Take(6 + text.size());
    Put(at + 4, static_cast<uint16_t>(text.size()));
    std::memcpy(bytes_.data() + (at + 6 - kBase), text.data(), text.size());
    return at;
  }

  void PutBlock(uint64_t segment, uint64_t segments) {
    const uint64_t block = kCodeLow + segment * kSegmentBytes;
    if (is_new()) {
      Put(block, static_cast<uint32_t>(segments));
      Put(block + 4, uint8_t{1});
    } else {
      Put(block, segments);
      Put(block + 8, uint8_t{1});
    }
    // As far back as a byte goes; from there on again.
    for (uint64_t i = 0; i < segments; ++i)
      Put(segmap_ + segment + i, static_cast<uint8_t>(i == 0 ? 0 : (i - 1) % 0xfd + 1));
    next_segment_ = std::max(next_segment_, segment + segments);
  }

  void PutOld(uint64_t at, uint64_t code, uint64_t end, const BlobOptions& options, uint64_t pcs, uint64_t scopes,
              uint64_t metadata) {
    Put(at + 20, options.frame_complete);
    Put(at + 28, options.frame_words);
    Put(at + 32, code);
    Put(at + 40, end);
    Put(at + 96, Text(options.name));
    if (options.name != "nmethod" && options.name != "native nmethod") return;
    Put(at + 112, options.method);
    Put(at + 120, scopes);
    Put(at + 128, code + 0x80);  // the handler of deoptimization
    Put(at + 136, code + 0x90);
    Put(at + 260, static_cast<int32_t>(metadata - at));
    Put(at + 268, static_cast<int32_t>(pcs - at));
    Put(at + 272, static_cast<int32_t>(scopes - at));
    Put(at + 300, options.orig_pc);
    Put(at + 304, options.compile_id);
  }

  void PutNew(uint64_t at, uint64_t code, uint64_t end, const BlobOptions& options, uint64_t pcs, uint64_t scopes,
              uint64_t metadata) {
    Put(at + 8, Text(options.name));
    Put(at + 16, metadata - 24);
    Put(at + 28, int32_t{24});  // of relocations, which come before
    Put(at + 36, static_cast<int32_t>(code - at));
    Put(at + 40, static_cast<int32_t>(end - at));
    Put(at + 44, options.frame_words);
    Put(at + 54, static_cast<int16_t>(options.frame_complete));
    if (options.name != "nmethod" && options.name != "native nmethod") return;
    Put(at + 80, options.method);
    Put(at + 96, pcs - 32);
    Put(at + 176, static_cast<int32_t>(code + 0x80 - at));
    Put(at + 180, static_cast<int32_t>(code + 0x90 - at));
    Put(at + 196, int32_t{32});
    Put(at + 200, static_cast<int32_t>(scopes - (pcs - 32)));
    Put(at + 208, options.orig_pc);
    Put(at + 212, options.compile_id);
  }

  void Field(std::string_view type, std::string_view field, std::string_view type_string, uint64_t offset) {
    fields_.push_back({type, field, type_string, 0, offset, 0});
  }
  void Static(std::string_view type, std::string_view field, std::string_view type_string, uint64_t address) {
    fields_.push_back({type, field, type_string, 1, 0, address});
  }

  void DefineTables();
  void DefineCounters();
  void PutCounter(uint64_t entry, std::string_view name);
  void DefineHeap();
  void PutTables();

  struct FieldEntry {
    std::string_view type, field, type_string;
    int32_t is_static = 0;
    uint64_t offset = 0;
    uint64_t address = 0;
  };

  const int version_;
  std::vector<std::byte> bytes_;
  const SpanMemory memory_{kBase, bytes_};
  uint64_t next_ = kBase + 0x100;
  uint64_t next_segment_ = 0;
  uint64_t segmap_ = 0;
  uint64_t call_stub_ = 0;
  uint64_t continuation_ = 0;
  uint64_t counters_ = 0;
  std::vector<FieldEntry> fields_;
  std::map<std::string, uint64_t, std::less<>> symbols_;
  std::map<std::string, uint64_t, std::less<>> entries_;    // where they are, by type and field
  std::map<std::string, uint64_t, std::less<>> constants_;  // likewise
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RUNTIMES_FAKE_VM_H_
