// The counters of a recording as one JSON object, for scripts: the fields of ProfileStats by their names, arrays that
// are indexed by an enum as objects with the enum's names, drops as an array of {"reason", "count", "ns"}.
#ifndef OFFCPU_JSON_STATS_JSON_H_
#define OFFCPU_JSON_STATS_JSON_H_

#include "json/json_writer.h"
#include "profile/profile.h"

namespace offcpu {

void WriteStatsJson(const ProfileStats& stats, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_JSON_STATS_JSON_H_
