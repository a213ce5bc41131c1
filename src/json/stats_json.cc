#include "json/stats_json.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "labels/profile_counters.h"

namespace offcpu {
namespace {

struct CounterWriter {
  JsonWriter& json;

  void operator()(std::string_view name, uint64_t counter) const { json.Field(name, counter); }
  template <typename Counters, typename NameAt>
  void operator()(std::string_view name, const Counters& counters, NameAt name_at) const {
    json.Key(name);
    json.BeginObject();
    for (size_t i = 0; i < counters.size(); ++i) json.Field(name_at(i), counters[i]);
    json.EndObject();
  }
};

}  // namespace

void WriteStatsJson(const ProfileStats& stats, JsonWriter& json) {
  json.BeginObject();
  VisitCounters(stats, CounterWriter{json});
  WriteLossesJson(stats.losses, json);
  json.EndObject();
}

void WriteErrorsJson(const RowSums& sums, JsonWriter& json) {
  json.Field("count_error", sums.count_error());
  json.Field("ns_error", sums.ns_error());
  json.Field("blocked_error", StandardError(sums.blocked_variance));
  json.Field("runnable_error", StandardError(sums.runnable_variance));
  json.Field("draws", sums.sampled);
}

void WriteLossesJson(const std::vector<Loss>& losses, JsonWriter& json) {
  WriteArray("drops", losses, json, [&](const Loss& loss) {
    json.BeginObject();
    json.Field("reason", loss.reason);
    json.Field("count", loss.count);
    json.Field("ns", loss.ns);
    json.EndObject();
  });
}

void WriteIdleJson(const std::vector<IdleSum>& sums, JsonWriter& json) {
  WriteArray("idle", sums, json, [&](const IdleSum& sum) {
    json.BeginObject();
    json.Field("name", sum.name);
    json.Field("count", sum.count);
    json.Field("blocked_ns", sum.blocked_ns);
    if (sum.blocked_variance > 0) json.Field("blocked_error", StandardError(sum.blocked_variance));
    json.EndObject();
  });
}

}  // namespace offcpu
