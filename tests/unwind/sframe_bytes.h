// Builds SFrame tables of Version 3 for AMD64 by hand, for tests.
#ifndef OFFCPU_TESTS_UNWIND_SFRAME_BYTES_H_
#define OFFCPU_TESTS_UNWIND_SFRAME_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "process/module.h"

namespace offcpu {

class SFrameBytes {
 public:
  static constexpr uint64_t kAddress = 0x20000;  // of the table

  // A function with as many rows as told, whose bytes these are; starts take one byte. Sorted by the caller.
  void Function(uint64_t begin, uint32_t size, uint8_t count, const std::vector<uint8_t>& row_bytes) {
    functions_.push_back({begin, size, static_cast<uint32_t>(rows_.size())});
    rows_.insert(rows_.end(), {count, 0,  // number of rows
                               attributes, attributes2, 0});
    rows_.insert(rows_.end(), row_bytes.begin(), row_bytes.end());
    row_count_ += count;
  }
  // CFA = rsp + offset in all of the function.
  void OnStack(uint64_t begin, uint32_t size, uint8_t offset) {
    Function(begin, size, 1,
             {0,         // start
              0x03,      // one word of one byte, from SP
              offset});  // of the CFA
  }

  ModuleTable Table() const {
    std::vector<uint8_t> all = {0xe2, 0xde, version, 0x05,  // magic, version, sorted and pc-relative
                                3,                          // AMD64
                                0,    0xf8,                 // no fixed FP; RA at CFA - 8
                                0};                         // no auxiliary header
    const auto count = static_cast<uint32_t>(functions_.size());
    Append(&all, count);
    Append(&all, row_count_);
    Append(&all, static_cast<uint32_t>(rows_.size()));
    Append(&all, uint32_t{0});  // the index begins behind the header
    Append(&all, count * 16);   // the rows begin behind the index
    for (const Entry& entry : functions_) {
      Append(&all, entry.begin - (kAddress + all.size()));
      Append(&all, entry.size);
      Append(&all, entry.rows_at);
    }
    all.insert(all.end(), rows_.begin(), rows_.end());
    ModuleTable table;
    table.address = kAddress;
    for (uint8_t b : all) table.bytes.push_back(std::byte{b});
    return table;
  }

  uint8_t version = 3;
  uint8_t attributes = 0;   // of the next function: starts of one byte, increasing
  uint8_t attributes2 = 0;  // 1: flexible rows

 private:
  struct Entry {
    uint64_t begin;
    uint32_t size;
    uint32_t rows_at;
  };

  template <typename T>
  static void Append(std::vector<uint8_t>* bytes, T value) {
    bytes->resize(bytes->size() + sizeof(value));
    std::memcpy(bytes->data() + bytes->size() - sizeof(value), &value, sizeof(value));
  }

  std::vector<Entry> functions_;
  std::vector<uint8_t> rows_;
  uint32_t row_count_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_SFRAME_BYTES_H_
