#include "export/spool_losses.h"

#include <zlib.h>

#include <bit>
#include <cstring>
#include <type_traits>

#include "absl/status/status.h"
#include "export/spool_record.h"

namespace offcpu {
namespace {

constexpr char kLossesMagic[8] = {'O', 'F', 'F', 'C', 'P', 'U', 'S', 'L'};
constexpr uint32_t kLossesVersion = 1;

// As it lies in the file, up to the sum.
struct LossesLayout {
  char magic[8];
  uint32_t version;
  uint32_t kinds;
  uint64_t next_number;
  uint64_t removed_first;
  uint64_t removed_last;
  SpoolLosses losses;
};
static_assert(sizeof(LossesLayout) + sizeof(uint32_t) == kSpoolLedgerBytes);
static_assert(std::has_unique_object_representations_v<LossesLayout>);
static_assert(std::endian::native == std::endian::little);

uint32_t LossesCrc(const LossesLayout& layout) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(&layout), sizeof(layout)));
}

}  // namespace

std::string_view Name(SpoolLoss loss) {
  switch (loss) {
    case SpoolLoss::kOverBytes:
      return "over bytes";
    case SpoolLoss::kTooOld:
      return "too old";
    case SpoolLoss::kDamaged:
      return "damaged";
    case SpoolLoss::kNotWritten:
      return "not written";
    case SpoolLoss::kRefused:
      return "refused";
  }
  return "";
}

std::string EncodeSpoolLedger(const SpoolLedger& ledger) {
  LossesLayout layout = {.magic = {},
                         .version = kLossesVersion,
                         .kinds = kSpoolLossCount,
                         .next_number = ledger.next_number,
                         .removed_first = ledger.removed_first,
                         .removed_last = ledger.removed_last,
                         .losses = ledger.losses};
  std::memcpy(layout.magic, kLossesMagic, sizeof(kLossesMagic));
  const uint32_t crc = LossesCrc(layout);
  std::string bytes(reinterpret_cast<const char*>(&layout), sizeof(layout));
  bytes.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
  return bytes;
}

absl::StatusOr<SpoolLedger> ParseSpoolLedger(std::string_view bytes) {
  LossesLayout layout;
  uint32_t crc;
  if (bytes.size() != kSpoolLedgerBytes) return absl::DataLossError("has changed its length");
  std::memcpy(&layout, bytes.data(), sizeof(layout));
  std::memcpy(&crc, bytes.data() + sizeof(layout), sizeof(crc));
  if (std::memcmp(layout.magic, kLossesMagic, sizeof(kLossesMagic)) != 0 || crc != LossesCrc(layout)) {
    return absl::DataLossError("is damaged");
  }
  if (layout.version != kLossesVersion || layout.kinds != kSpoolLossCount) {
    return absl::DataLossError("is of another version");
  }
  if (layout.next_number == 0 || layout.next_number > kMaxSpoolNumber + 1 ||
      layout.removed_first > layout.removed_last || layout.removed_last >= layout.next_number) {
    return absl::DataLossError("has impossible values");
  }
  return SpoolLedger{.losses = layout.losses,
                     .next_number = layout.next_number,
                     .removed_first = layout.removed_first,
                     .removed_last = layout.removed_last};
}

}  // namespace offcpu
