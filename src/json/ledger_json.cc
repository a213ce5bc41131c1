#include "json/ledger_json.h"

namespace offcpu {
namespace {

void WriteEntry(const ProfileFacts& profile, const LedgerEntry& entry, JsonWriter& json) {
  const ProcessInfo& process = profile.processes[entry.process];
  json.BeginObject();
  json.Field("process", process.name);
  json.Key("pid");
  json.Signed(process.key.pid);
  json.Key("tid");
  json.Signed(entry.tid);
  json.Field("comm", entry.comm);
  json.Field("wall_ns", entry.wall_ns);
  json.Field("on_cpu_ns", entry.on_cpu_ns);
  json.Field("blocked_ns", entry.blocked_ns);
  json.Field("runnable_ns", entry.runnable_ns);
  json.Field("stolen_ns", entry.stolen_ns);
  WriteNonZero<LostTime>("lost_ns", entry.lost_ns, json);
  json.Key("rest_ns");
  json.Signed(entry.rest_ns());
  json.EndObject();
}

}  // namespace

void WriteLedgerJson(const ProfileFacts& profile, JsonWriter& json) {
  json.BeginArray();
  for (const LedgerEntry& entry : profile.ledger) WriteEntry(profile, entry, json);
  json.EndArray();
}

}  // namespace offcpu
