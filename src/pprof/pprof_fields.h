// The fields of a pprof message where they lie: nothing is copied but the few that stand alone. The bytes are anyone's:
// every number of entries is capped, and so is the size of those that are parsed later.
#ifndef OFFCPU_PPROF_PPROF_FIELDS_H_
#define OFFCPU_PPROF_PPROF_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pprof/pprof_ledger.h"
#include "profile/named_profile.h"

namespace offcpu {

struct PprofLimits {
  size_t samples = 1u << 21;  // twice what one recording holds
  size_t mappings = 1u << 16;
  size_t locations = 1u << 22;
  size_t functions = 1u << 22;
  size_t strings = 1u << 22;
  size_t entry_bytes = 1u << 20;                 // of one sample, mapping, location or function
  size_t string_bytes = 3 * kMaxDemangledBytes;  // a name as long as they get, each byte of it replaced by U+FFFD
  size_t rest_bytes = 1u << 20;
  size_t comments = 1024 + kMaxLedgerEntries;
  // Functions of a stack: ours have at most 4096 frames of user code and 127 of the kernel, and some are inlined.
  size_t stack_frames = 32768;
  // PprofFrameBytes of distinct stacks, lines of locations, names of processes, mappings and control groups.
  uint64_t held_bytes = 1u << 30;
  uint64_t shown_bytes = uint64_t{1} << 34;  // the same, each time that a sample refers to them: what an output repeats
};

// Adds up to a limit. The names of a file are held once, but it can refer to each of them any number of times.
class PprofBudget {
 public:
  PprofBudget(const char* what, uint64_t limit) : what_(what), limit_(limit) {}

  // ResourceExhausted beyond the limit.
  absl::Status Take(uint64_t bytes);

 private:
  const char* what_;
  uint64_t limit_;
  uint64_t used_ = 0;
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

// `bytes` must outlive the fields. DataLoss if it is no message, or one of another format; ResourceExhausted beyond a
// limit.
absl::StatusOr<PprofFields> SplitPprof(std::string_view bytes, const PprofLimits& limits);

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_FIELDS_H_
