#include "export/spool_record.h"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"

namespace offcpu {
namespace {

constexpr char kRecordMagic[8] = {'O', 'F', 'F', 'C', 'P', 'U', 'S', 'R'};
constexpr uint32_t kRecordVersion = 1;

// As it lies in the file.
struct RecordLayout {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t number;
  uint64_t start_unix_ns;
  uint64_t duration_ns;
  uint32_t part;
  uint32_t parts;
  uint64_t appended_unix_ns;
  uint64_t appended_boot_ns;
  uint64_t boot;
  uint64_t body_bytes;
  uint32_t body_crc;
  uint32_t header_crc;
};
static_assert(sizeof(RecordLayout) == kSpoolHeaderBytes);
static_assert(std::has_unique_object_representations_v<RecordLayout>);
static_assert(std::endian::native == std::endian::little);

uint32_t Crc(const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(bytes), size));
}
uint32_t HeaderCrc(const RecordLayout& layout) { return Crc(&layout, offsetof(RecordLayout, header_crc)); }

bool IsValid(const SpoolHeader& header) {
  return header.number > 0 && header.number <= kMaxSpoolNumber && header.parts > 0 && header.parts <= kMaxSpoolParts &&
         header.part < header.parts && header.start_unix_ns <= UINT64_MAX - header.duration_ns &&
         header.body_bytes <= kMaxSpoolBodyBytes;
}

}  // namespace

// duration * (part + 1) / parts - duration * part / parts, without products that overflow.
uint64_t ShareOfWindowNs(uint64_t duration_ns, uint32_t part, uint32_t parts) {
  if (parts == 0) return 0;  // of no window
  const uint64_t rest = duration_ns % parts;
  return duration_ns / parts + rest * (uint64_t{part} + 1) / parts - rest * part / parts;
}

uint64_t ShareOfWindowNs(const SpoolRecord& record) {
  return ShareOfWindowNs(record.duration_ns, record.part, record.parts);
}

absl::StatusOr<SpoolHeader> MakeSpoolHeader(const SpoolRecord& record, uint64_t number, const SpoolTime& appended) {
  const SpoolHeader header = {.number = number,
                              .start_unix_ns = record.start_unix_ns,
                              .duration_ns = record.duration_ns,
                              .part = record.part,
                              .parts = record.parts,
                              .appended = appended,
                              .body_bytes = record.body.size(),
                              .body_crc = Crc(record.body.data(), record.body.size())};
  if (!IsValid(header)) return absl::InvalidArgumentError("not a window that can be spooled");
  return header;
}

std::string EncodeSpoolHeader(const SpoolHeader& header) {
  RecordLayout layout = {.magic = {},
                         .version = kRecordVersion,
                         .header_bytes = sizeof(RecordLayout),
                         .number = header.number,
                         .start_unix_ns = header.start_unix_ns,
                         .duration_ns = header.duration_ns,
                         .part = header.part,
                         .parts = header.parts,
                         .appended_unix_ns = header.appended.unix_ns,
                         .appended_boot_ns = header.appended.boot_ns,
                         .boot = header.appended.boot,
                         .body_bytes = header.body_bytes,
                         .body_crc = header.body_crc,
                         .header_crc = 0};
  std::memcpy(layout.magic, kRecordMagic, sizeof(kRecordMagic));
  layout.header_crc = HeaderCrc(layout);
  return {reinterpret_cast<const char*>(&layout), sizeof(layout)};
}

absl::StatusOr<SpoolHeader> ParseSpoolHeader(std::string_view bytes) {
  RecordLayout layout;
  if (bytes.size() < sizeof(layout)) return absl::DataLossError("its header is truncated");
  std::memcpy(&layout, bytes.data(), sizeof(layout));
  if (std::memcmp(layout.magic, kRecordMagic, sizeof(kRecordMagic)) != 0)
    return absl::DataLossError("is not a spool record");
  if (layout.header_crc != HeaderCrc(layout)) return absl::DataLossError("its header is damaged");
  if (layout.version != kRecordVersion || layout.header_bytes != sizeof(layout)) {
    return absl::DataLossError("is of another version");
  }
  const SpoolHeader header = {
      .number = layout.number,
      .start_unix_ns = layout.start_unix_ns,
      .duration_ns = layout.duration_ns,
      .part = layout.part,
      .parts = layout.parts,
      .appended = {.unix_ns = layout.appended_unix_ns, .boot_ns = layout.appended_boot_ns, .boot = layout.boot},
      .body_bytes = layout.body_bytes,
      .body_crc = layout.body_crc};
  if (!IsValid(header)) return absl::DataLossError("its header has impossible values");
  return header;
}

absl::StatusOr<SpoolRecord> ParseSpoolRecord(std::string bytes) {
  const absl::StatusOr<SpoolHeader> header = ParseSpoolHeader(bytes);
  if (!header.ok()) return header.status();
  if (bytes.size() != header->file_bytes()) return absl::DataLossError("is not as long as its header says");
  bytes.erase(0, kSpoolHeaderBytes);
  if (Crc(bytes.data(), bytes.size()) != header->body_crc) return absl::DataLossError("its body is damaged");
  return SpoolRecord{.number = header->number,
                     .start_unix_ns = header->start_unix_ns,
                     .duration_ns = header->duration_ns,
                     .part = header->part,
                     .parts = header->parts,
                     .body = std::move(bytes)};
}

}  // namespace offcpu
