#include "output/profile_json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "output/coverage_table.h"
#include "output/idle.h"
#include "output/json_writer.h"
#include "output/ledger_json.h"
#include "output/stack_json.h"
#include "output/stack_labels.h"
#include "output/stats_json.h"
#include "symbolize/system_calls.h"
#include "symbolize/wait_cause.h"

namespace offcpu {
namespace {

void WriteKernelStack(const Profile& profile, const SymbolizedProfile& symbols, size_t index, JsonWriter& json) {
  std::vector<std::string> labels = KernelLabels(profile, symbols, index);
  json.Key("kernel");
  json.BeginArray();
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) json.String(*label);
  json.EndArray();
}

// An empty chain stands for all that found no place.
void WriteWakers(const Profile& profile, const SymbolizedProfile& symbols, const WakerChain& chain, JsonWriter& json) {
  json.Key("wakers");
  json.BeginArray();
  for (const WakerLink& link : chain) {
    json.BeginObject();
    if (link.interrupt) {
      json.Key("interrupt");
      json.Bool(true);
    } else {
      const ProcessInfo& process = profile.processes[link.process];
      json.Field("process", process.name);
      json.Key("pid");
      json.Signed(process.key.pid);
      json.Field("comm", profile.comms[link.comm]);
      WriteUserStackFields(profile, symbols, link.user_stack, {}, json);
    }
    WriteKernelStack(profile, symbols, link.kernel_stack, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteRow(const Profile& profile, const SymbolizedProfile& symbols, size_t index, WaitCauses& causes,
              JsonWriter& json) {
  const ProfileRow& row = profile.rows[index];
  const ProcessInfo& process = profile.processes[row.process];
  json.BeginObject();
  json.Field("process", process.name);
  json.Key("pid");
  json.Signed(process.key.pid);
  if (row.tid != 0) {
    json.Key("tid");
    json.Signed(row.tid);
  }
  json.Field("comm", profile.comms[row.comm]);
  json.Field("kind", Name(row.kind));
  if (row.kind != WaitKind::kRunning) json.Field("cause", Name(causes.Of(row)));
  if (row.syscall != kNoSystemCall) json.Field("syscall", SystemCallName(row.syscall));
  if (!symbols.idle.empty() && !symbols.idle[index].empty()) json.Field("idle", symbols.idle[index]);
  json.Field("count", row.count);
  json.Field("blocked_ns", row.blocked_ns);
  json.Field("runnable_ns", row.runnable_ns);
  json.Field("max_ns", row.max_ns);
  if (profile.stats.oncpu_period_ns != 0) {
    json.Field("samples", row.samples);
    json.Field("cpu_ns", row.cpu_ns);
  }
  if (profile.stats.sample_ns != 0) {
    json.Field("count_error", row.count_error());
    json.Field("ns_error", row.ns_error());
  }
  WriteUserStackFields(profile, symbols, row.user_stack, {}, json);
  WriteKernelStack(profile, symbols, row.kernel_stack, json);
  if (row.waker != 0) WriteWakers(profile, symbols, profile.wakers[row.waker - 1], json);
  json.EndObject();
}

void WriteIdle(const std::vector<IdleSum>& sums, JsonWriter& json) {
  json.Key("idle");
  json.BeginArray();
  for (const IdleSum& sum : sums) {
    json.BeginObject();
    json.Field("name", sum.name);
    json.Field("count", sum.count);
    json.Field("blocked_ns", sum.blocked_ns);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteProfileJson(const Profile& profile, const SymbolizedProfile& symbols, ByteSink sink) {
  uint64_t total_ns = 0;
  uint64_t cpu_ns = 0;
  for (const ProfileRow& row : profile.rows) {
    total_ns += row.total_ns();
    cpu_ns += row.cpu_ns;
  }
  JsonWriter json(sink);
  json.BeginObject();
  json.Field("start_unix_ns", profile.start_unix_ns);
  json.Field("duration_ns", profile.duration_ns);
  json.Field("total_ns", total_ns);
  if (profile.stats.oncpu_period_ns != 0) json.Field("cpu_ns", cpu_ns);
  json.Field("host", profile.host);
  json.Key("stacks");
  json.BeginArray();
  WaitCauses causes(symbols);
  for (size_t i = 0; i < profile.rows.size(); ++i) WriteRow(profile, symbols, i, causes, json);
  json.EndArray();
  WriteIdle(SumIdle(profile, symbols), json);
  if (!profile.ledger.empty()) {
    json.Key("ledger");
    WriteLedgerJson(profile, json);
  }
  json.Key("modules");
  WriteCoverageJson(profile, json);
  json.Key("stats");
  WriteStatsJson(profile.stats, json);
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
