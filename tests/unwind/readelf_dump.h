// What `readelf --sframe` says of a section, for tests: the second source of what the bytes mean.
#ifndef OFFCPU_TESTS_UNWIND_READELF_DUMP_H_
#define OFFCPU_TESTS_UNWIND_READELF_DUMP_H_

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "unwind/sframe_section.h"

namespace offcpu {

struct ReadelfRow {
  uint64_t start = 0;  // an address, in functions of blocks from the begin of each
  bool undefined = false;
  bool mangled = false;
  std::string cfa;  // as printed: sp+8, r10+0, (fp-8)
  std::string fp;
  std::string ra;

  bool operator==(const ReadelfRow&) const = default;
};

struct ReadelfFunction {
  uint64_t begin = 0;
  uint64_t size = 0;
  bool flexible = false;
  bool signal = false;
  bool blocks = false;
  bool key_b = false;
  std::vector<ReadelfRow> rows;

  bool operator==(const ReadelfFunction&) const = default;
};

struct ReadelfDump {
  bool sorted = false;
  uint64_t functions_claimed = 0;
  uint64_t rows_claimed = 0;
  std::vector<ReadelfFunction> functions;
};

// Adds a failure to the test for every line that it does not understand.
ReadelfDump ParseReadelf(std::istream& text);

// What readelf ought to print for a function and its rows.
ReadelfFunction AsReadelf(const SFrameSection& section, const SFrameFunction& function);

std::ostream& operator<<(std::ostream& out, const ReadelfFunction& function);

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_READELF_DUMP_H_
