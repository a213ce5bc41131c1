// Builds .eh_frame tables by hand, for tests.
#ifndef OFFCPU_TESTS_UNWIND_CFI_BYTES_H_
#define OFFCPU_TESTS_UNWIND_CFI_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "process/module.h"

namespace offcpu {

class CfiBytes {
 public:
  static constexpr uint64_t kAddress = 0x8000;  // of the table

  // An entry with its length in front. Returns where it begins.
  size_t Entry(const std::vector<uint8_t>& body) {
    const size_t at = bytes.size();
    Number(static_cast<uint32_t>(body.size()));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return at;
  }

  // A CIE as GCC writes it: CFA = rsp + 8, RA at CFA - 8.
  size_t Cie(std::string_view letters = "zR", std::vector<uint8_t> data = {0x1b}) {
    std::vector<uint8_t> body = {0, 0, 0, 0,  // id of a CIE
                                 1};          // version
    body.insert(body.end(), letters.begin(), letters.end());
    body.insert(body.end(), {0,     // end of the letters
                             1,     // code alignment
                             0x78,  // data alignment, -8
                             16});  // register of the return address
    if (!letters.empty()) body.push_back(static_cast<uint8_t>(data.size()));
    body.insert(body.end(), data.begin(), data.end());
    body.insert(body.end(), {0x0c, 7, 8,  // def_cfa rsp 8
                             0x90, 1});   // offset rip 1
    return Entry(body);
  }

  // A description of [begin, begin + size) whose addresses are as "zR" with 0x1b says: pc-relative, four bytes.
  size_t Fde(size_t cie, uint64_t begin, uint32_t size, const std::vector<uint8_t>& instructions) {
    const size_t at = bytes.size();
    std::vector<uint8_t> body(13);  // distance to the CIE, begin, size, no augmentation data
    const uint32_t id = static_cast<uint32_t>(at + 4 - cie);
    const uint32_t distance = static_cast<uint32_t>(begin - (kAddress + at + 8));
    std::memcpy(body.data(), &id, 4);
    std::memcpy(body.data() + 4, &distance, 4);
    std::memcpy(body.data() + 8, &size, 4);
    body.insert(body.end(), instructions.begin(), instructions.end());
    return Entry(body);
  }

  void Number(uint32_t number) {
    bytes.resize(bytes.size() + 4);
    std::memcpy(bytes.data() + bytes.size() - 4, &number, 4);
  }

  ModuleTable Table() const {
    ModuleTable table;
    table.address = kAddress;
    for (uint8_t b : bytes) table.bytes.push_back(std::byte{b});
    return table;
  }

  // An .eh_frame_hdr as linkers write it, whose search table names functions by where they begin, and their entries.
  static ModuleTable Header(const std::vector<std::pair<uint64_t, size_t>>& functions) {
    constexpr uint64_t kHeader = 0x7000;
    CfiBytes header;
    header.bytes = {1, 0x1b, 0x03, 0x3b};
    header.Number(static_cast<uint32_t>(kAddress - (kHeader + 4)));
    header.Number(static_cast<uint32_t>(functions.size()));
    for (const auto& [begin, at] : functions) {
      header.Number(static_cast<uint32_t>(begin - kHeader));
      header.Number(static_cast<uint32_t>(kAddress + at - kHeader));
    }
    ModuleTable table = header.Table();
    table.address = kHeader;
    return table;
  }

  std::vector<uint8_t> bytes;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_CFI_BYTES_H_
