// What a spool has lost since it was first made, as a small file of its directory. Bytes in, values out; nothing is
// read or written here.
//
//   offset  size
//        0     8  "OFFCPUSL"
//        8     4  version of the form, 1
//       12     4  number of kinds of losses, 5
//       16     8  number that the next record gets at least
//       24    16  first and last number of the records that the last loss took: counted below, and to be removed
//       40    80  for each kind: records, nanoseconds of windows
//      120     4  CRC-32 (that of zlib) of all above
//
// Little-endian.
#ifndef OFFCPU_EXPORT_SPOOL_LOSSES_H_
#define OFFCPU_EXPORT_SPOOL_LOSSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace offcpu {

enum class SpoolLoss : uint8_t {
  kOverBytes,   // dropped to make room, or larger than all there is
  kTooOld,      // no collector took it in time
  kDamaged,     // not the bytes that were written
  kNotWritten,  // the disk was full, or failed
  kRefused,     // a collector said that it will never take it
};
inline constexpr int kSpoolLossCount = 5;
std::string_view Name(SpoolLoss loss);  // "over bytes", "too old", "damaged", "not written", "refused"

struct SpoolLost {
  uint64_t records = 0;
  uint64_t ns = 0;  // of windows; of a part its share (ShareOfWindowNs), of a record with a damaged header nothing
  bool operator==(const SpoolLost&) const = default;
};
using SpoolLosses = std::array<SpoolLost, kSpoolLossCount>;  // index: SpoolLoss

inline constexpr size_t kSpoolLedgerBytes = 124;

struct SpoolLedger {
  SpoolLosses losses;
  uint64_t next_number = 1;
  // Records that are counted in `losses` but may still be there, if nothing came after the count; 0: none.
  uint64_t removed_first = 0;
  uint64_t removed_last = 0;
  bool operator==(const SpoolLedger&) const = default;
};

std::string EncodeSpoolLedger(const SpoolLedger& ledger);
// DataLoss unless it is whole.
absl::StatusOr<SpoolLedger> ParseSpoolLedger(std::string_view bytes);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_LOSSES_H_
