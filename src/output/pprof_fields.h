// The fields of a pprof message where they lie: nothing is copied but the few that stand alone. The bytes are anyone's:
// every number of entries is capped, and so is the size of those that are parsed later.
#ifndef OFFCPU_OUTPUT_PPROF_FIELDS_H_
#define OFFCPU_OUTPUT_PPROF_FIELDS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace offcpu {

struct PprofLimits {
  size_t samples = 1u << 21;  // twice what one recording holds
  size_t mappings = 1u << 16;
  size_t locations = 1u << 22;
  size_t functions = 1u << 22;
  size_t strings = 1u << 22;
  size_t entry_bytes = 1u << 20;  // of one sample, mapping, location or function
  size_t rest_bytes = 1u << 20;
  size_t frames = 1u << 24;  // of all distinct stacks
};

// Each entry is the message itself, without its tag and length.
struct PprofFields {
  std::vector<std::string_view> samples;
  std::vector<std::string_view> mappings;
  std::vector<std::string_view> locations;
  std::vector<std::string_view> functions;
  std::vector<std::string_view> strings;
  std::string rest;  // a Profile message of the other fields
};

// `bytes` must outlive the fields. DataLoss if it is no message; ResourceExhausted beyond a limit.
absl::StatusOr<PprofFields> SplitPprof(std::string_view bytes, const PprofLimits& limits);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_PPROF_FIELDS_H_
