#include "bpf_programs/glob.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace offcpu {

absl::StatusOr<wire_glob> CompileGlob(std::string_view pattern) {
  wire_glob glob = {};
  uint32_t state = 1;  // the bit of the state that the next symbol leaves
  for (const char c : pattern) {
    if (c == '*') {
      glob.star |= state;
      continue;
    }
    if (state >= 1u << (WIRE_COMM_BYTES - 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("no thread name can match '", std::string(pattern), "': names have at most 15 characters"));
    }
    if (c == '?') {
      for (uint32_t& symbol : glob.symbol) symbol |= state;
    } else {
      glob.symbol[static_cast<unsigned char>(c)] |= state;
    }
    state <<= 1;
  }
  if (pattern.empty()) return absl::InvalidArgumentError("the pattern for thread names is empty");
  glob.accept = state;
  return glob;
}

}  // namespace offcpu
