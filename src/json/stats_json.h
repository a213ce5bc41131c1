// The counters of a recording as one JSON object, for scripts: the fields of ProfileStats by their names, arrays that
// are indexed by an enum as objects with the enum's names, losses as the array "drops" of {"reason", "count", "ns"}.
#ifndef OFFCPU_JSON_STATS_JSON_H_
#define OFFCPU_JSON_STATS_JSON_H_

#include <vector>

#include "classify/idle.h"
#include "json/json_writer.h"
#include "profile/profile.h"
#include "profile/profile_row.h"

namespace offcpu {

void WriteStatsJson(const ProfileStats& stats, JsonWriter& json);

// Standard errors, "count_error", "ns_error", "blocked_error", "runnable_error"; and "draws", on which they are based.
void WriteErrorsJson(const RowSums& sums, JsonWriter& json);

// Each with its key: "drops", and "idle", an array of {"name", "count", "blocked_ns"}, of a sample with
// "blocked_error".
void WriteLossesJson(const std::vector<Loss>& losses, JsonWriter& json);
void WriteIdleJson(const std::vector<IdleSum>& sums, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_JSON_STATS_JSON_H_
