// Why requests do not reach a collector, beside what the spool loses (export/spool_losses.h). Plain values.
#ifndef OFFCPU_EXPORT_EXPORT_LOSSES_H_
#define OFFCPU_EXPORT_EXPORT_LOSSES_H_

#include <string>
#include <vector>

#include "export/spool_losses.h"
#include "otlp/otlp.h"

namespace offcpu {

inline constexpr char kEncoderBusy[] = "encoder busy";
inline constexpr char kNoRoomInMemory[] = "no room in memory";
inline constexpr char kProfilesRejected[] = "profiles rejected";

// Every reason that ExporterStats::losses can have, once.
inline std::vector<std::string> AllExportLossNames() {
  std::vector<std::string> names = {kEncoderBusy, kNoRoomInMemory, kProfilesRejected, kOtlpTooLarge};
  for (int i = 0; i < kSpoolLossCount; ++i) names.emplace_back(Name(static_cast<SpoolLoss>(i)));
  return names;
}

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_EXPORT_LOSSES_H_
