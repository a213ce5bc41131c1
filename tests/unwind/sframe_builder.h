// Builds SFrame sections by hand, for tests. Every field of the header can be set to a lie.
#ifndef OFFCPU_TESTS_UNWIND_SFRAME_BUILDER_H_
#define OFFCPU_TESTS_UNWIND_SFRAME_BUILDER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "process/machine.h"
#include "process/module.h"

namespace offcpu {

class SFrameBuilder {
 public:
  static constexpr uint64_t kAddress = 0x8000;  // of the section
  static constexpr CodeRange kCode = {0x1000, 0x5000};

  // func_info: how wide starts of rows are, and bits.
  static constexpr uint8_t kStart1 = 0;
  static constexpr uint8_t kStart2 = 1;
  static constexpr uint8_t kStart4 = 2;
  static constexpr uint8_t kBlocks = 0x10;
  static constexpr uint8_t kKeyB = 0x20;
  static constexpr uint8_t kSignal = 0x80;

  explicit SFrameBuilder(const Machine& machine = kX86_64)
      : abi(machine.sframe_abi), fixed_ra(&machine == &kX86_64 ? -8 : 0) {}

  // A function whose rows, already encoded, are `rows`. Returns the offset of its attributes.
  uint32_t Function(uint64_t begin, uint32_t size, uint8_t info, const std::vector<std::vector<uint8_t>>& rows,
                    bool flexible = false, uint8_t block_size = 0) {
    const uint32_t at = static_cast<uint32_t>(row_bytes.size());
    Put(row_bytes, rows.size(), 2);
    row_bytes.insert(row_bytes.end(), {info, uint8_t{flexible}, block_size});
    for (const std::vector<uint8_t>& row : rows) row_bytes.insert(row_bytes.end(), row.begin(), row.end());
    row_count += static_cast<uint32_t>(rows.size());
    Element(begin, size, at);
    return at;
  }

  // A function all of which has CFA = rsp + offset.
  void OnStack(uint64_t begin, uint32_t size, uint8_t offset) {
    Function(begin, size, kStart1,
             {{0,          // start
               0x03,       // one word of one byte, from SP
               offset}});  // of the CFA
  }

  // An element of the index alone.
  void Element(uint64_t begin, uint32_t size, uint32_t attributes) { index.push_back({begin, size, attributes}); }

  // The section as it stands at `address`.
  std::vector<uint8_t> Bytes(uint64_t address = kAddress) const {
    std::vector<uint8_t> out;
    Put(out, 0xdee2, 2);
    out.insert(out.end(), {version, flags, abi, uint8_t{0}, static_cast<uint8_t>(fixed_ra), uint8_t{0}});
    Put(out, index.size(), 4);
    Put(out, row_count, 4);
    Put(out, row_bytes.size(), 4);
    Put(out, 0, 4);                  // where the index is, behind the header
    Put(out, 16 * index.size(), 4);  // and where the rows are
    for (const IndexElement& element : index) {
      Put(out, element.begin - (address + out.size()), 8);
      Put(out, element.size, 4);
      Put(out, element.attributes, 4);
    }
    out.insert(out.end(), row_bytes.begin(), row_bytes.end());
    return out;
  }

  ModuleTable Table() const { return TableOf(Bytes()); }

  static ModuleTable TableOf(const std::vector<uint8_t>& bytes) {
    ModuleTable table;
    table.address = kAddress;
    for (uint8_t byte : bytes) table.bytes.push_back(std::byte{byte});
    return table;
  }

  uint8_t version = 3;
  uint8_t flags = 4;  // starts are relative to their field
  uint8_t abi;
  int8_t fixed_ra;
  uint32_t row_count = 0;
  std::vector<uint8_t> row_bytes;

 private:
  struct IndexElement {
    uint64_t begin = 0;
    uint32_t size = 0;
    uint32_t attributes = 0;
  };

  static void Put(std::vector<uint8_t>& out, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) out.push_back(static_cast<uint8_t>(value >> 8 * i));
  }

  std::vector<IndexElement> index;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_SFRAME_BUILDER_H_
