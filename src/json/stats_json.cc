#include "json/stats_json.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace offcpu {
namespace {

template <typename Enum, size_t kSize>
void WriteByName(const char* key, const std::array<uint64_t, kSize>& values, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (size_t i = 0; i < kSize; ++i) json.Field(Name(static_cast<Enum>(i)), values[i]);
  json.EndObject();
}

}  // namespace

void WriteStatsJson(const ProfileStats& stats, JsonWriter& json) {
  json.BeginObject();
  json.Field("intervals", stats.intervals);
  json.Field("cookies", stats.cookies);
  json.Field("captures", stats.captures);
  json.Field("capture_ns", stats.capture_ns);
  json.Field("capture_longest_ns", stats.capture_longest_ns);
  json.Field("kernel_stacks", stats.kernel_stacks);
  json.Field("live_stacks", stats.live_stacks);
  json.Field("walks", stats.walks);
  json.Field("processes", stats.processes);
  WriteByName<EndReason>("walk_ends", stats.walk_ends, json);
  WriteByName<FrameSource>("frames_by_source", stats.frames_by_source, json);
  WriteByName<FrameSource>("complete_walks_by_source", stats.complete_walks_by_source, json);
  json.Field("sample_ns", stats.sample_ns);
  json.Field("sample_most_ns", stats.sample_most_ns);
  json.Field("not_drawn", stats.not_drawn);
  json.Field("slept_throughout", stats.slept_throughout);
  json.Field("oncpu_period_ns", stats.oncpu_period_ns);
  json.Field("oncpu_samples", stats.oncpu_samples);
  json.Field("suspended_ns", stats.suspended_ns);
  json.Field("clock_forward_ns", stats.clock_forward_ns);
  json.Field("clock_back_ns", stats.clock_back_ns);
  json.Key("drops");
  json.BeginArray();
  for (const Drop& drop : stats.drops) {
    json.BeginObject();
    json.Field("reason", drop.reason);
    json.Field("count", drop.count);
    json.Field("ns", drop.ns);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace offcpu
