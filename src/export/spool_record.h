// A window, or a part of one, as a file of the spool: a header and the body. Bytes in, values out; nothing is read or
// written here.
//
//   offset  size
//        0     8  "OFFCPUSR"
//        8     4  version of the form, 1
//       12     4  bytes of the header, 88
//       16     8  number of the record: the file's name
//       24     8  start of the window, unix ns
//       32     8  its duration, ns
//       40     4  part, from 0
//       44     4  number of parts
//       48     8  when it was appended, unix ns
//       56     8  the same since the boot, ns
//       64     8  which boot
//       72     8  bytes of the body
//       80     4  CRC-32 (that of zlib) of the body
//       84     4  CRC-32 of all above
//       88        body
//
// Little-endian. The header's sum covers the body's, and so everything. It stands by itself so that of a record whose
// body is damaged it is still known how much time was in it.
#ifndef OFFCPU_EXPORT_SPOOL_RECORD_H_
#define OFFCPU_EXPORT_SPOOL_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "export/spool_time.h"

namespace offcpu {

inline constexpr size_t kSpoolHeaderBytes = 88;
inline constexpr size_t kMaxSpoolBodyBytes = 64u << 20;
inline constexpr uint32_t kMaxSpoolParts = 1u << 16;
inline constexpr uint64_t kMaxSpoolNumber = uint64_t{1} << 62;

struct SpoolRecord {
  uint64_t number = 0;  // 1 and up; given by the spool
  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;
  uint32_t part = 0;  // of a window that is sent in several, below `parts`
  uint32_t parts = 1;
  std::string body;
};

struct SpoolHeader {
  uint64_t number = 0;
  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;
  uint32_t part = 0;
  uint32_t parts = 1;
  SpoolTime appended;
  uint64_t body_bytes = 0;
  uint32_t body_crc = 0;

  uint64_t file_bytes() const { return kSpoolHeaderBytes + body_bytes; }
};

// The part of the window's time that this part of it stands for. The parts of a window add up to it exactly, so what is
// lost of it can be counted part by part, in any order and for different reasons, and never counts twice.
uint64_t ShareOfWindowNs(uint64_t duration_ns, uint32_t part, uint32_t parts);
uint64_t ShareOfWindowNs(const SpoolRecord& record);

// Under a number of its own. InvalidArgument where a value is outside of what can be read again.
absl::StatusOr<SpoolHeader> MakeSpoolHeader(const SpoolRecord& record, uint64_t number, const SpoolTime& appended);
std::string EncodeSpoolHeader(const SpoolHeader& header);

// Parses the first bytes of a file. DataLoss if it is damaged or cut off.
absl::StatusOr<SpoolHeader> ParseSpoolHeader(std::string_view bytes);
// All bytes of a file.
absl::StatusOr<SpoolRecord> ParseSpoolRecord(std::string bytes);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_RECORD_H_
