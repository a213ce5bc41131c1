#include "json/profile_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "classify/idle.h"
#include "json/coverage_json.h"
#include "json/json_writer.h"
#include "json/ledger_json.h"
#include "json/stack_json.h"
#include "json/stats_json.h"
#include "labels/row_error.h"
#include "labels/row_labels.h"
#include "labels/row_value.h"
#include "labels/stack_labels.h"

namespace offcpu {
namespace {

// The functions, and what is known of their places in an array that is parallel to them.
void WriteKernelStack(const NamedKernelStack& stack, JsonWriter& json) {
  std::vector<std::string> labels = KernelLabels(stack);
  std::reverse(labels.begin(), labels.end());
  WriteArray("kernel", labels, json, [&](const std::string& label) { json.String(label); });
  const auto has_place = [](const NamedFrame& frame) {
    return !frame.lines.empty() && !frame.lines.back().file.empty();
  };
  if (std::none_of(stack.frames.begin(), stack.frames.end(), has_place)) return;
  WriteArray("kernel_lines", stack.frames, json, [&](const NamedFrame& frame) {
    json.BeginObject();
    WriteFrameLines(frame, json);
    json.EndObject();
  });
}

void WriteLabels(const RowLabelValues& values, JsonWriter& json) {
  VisitLabels(values, [&json](const RowLabelInfo& info, const RowLabelValue& value) {
    json.Key(info.name);
    if (info.is_number) {
      json.Signed(value.number);
    } else {
      json.String(value.text);
    }
  });
}

// An empty chain stands for all that found no place.
void WriteWakers(const NamedProfile& profile, const WakerChain& chain, RowLabels& labels, JsonWriter& json) {
  WriteArray("wakers", chain, json, [&](const Waker& waker) {
    json.BeginObject();
    if (waker.interrupt) {
      json.Key("interrupt");
      json.Bool(true);
    } else {
      WriteLabels(labels.OfProcess(waker.process), json);
      json.Field("comm", profile.comms[waker.comm]);
      WriteUserStackFields(profile.user_stacks[waker.user_stack], {}, json);
    }
    WriteKernelStack(profile.kernel_stacks[waker.kernel_stack], json);
    json.EndObject();
  });
}

// A recording that may have been a sample tells errors, if only that there are none.
bool HasErrors(const NamedProfile& profile) { return MostSampleNs(profile.stats) != 0 || IsSample(profile); }

void WriteRow(const NamedProfile& profile, const NamedRow& row, RowLabels& labels, JsonWriter& json) {
  json.BeginObject();
  WriteLabels(labels.OfRow(row), json);
  for (const RowValueInfo& info : RowValues(profile.stats.oncpu_period_ns != 0)) {
    if (info.sum != nullptr) json.Field(info.key, row.*info.sum);
  }
  json.Field("max_ns", row.max_ns);
  if (HasErrors(profile)) WriteErrorsJson(row, json);
  WriteUserStackFields(profile.user_stacks[row.user_stack], {}, json);
  WriteKernelStack(profile.kernel_stacks[row.kernel_stack], json);
  if (row.waker != 0) WriteWakers(profile, profile.wakers[row.waker - 1], labels, json);
  json.EndObject();
}

}  // namespace

void WriteProfileJson(const NamedProfile& profile, ByteSink sink) {
  const RowSums total = SumOf(profile.rows);
  JsonWriter json(sink);
  json.BeginObject();
  json.Field("start_unix_ns", profile.start_unix_ns);
  json.Field("duration_ns", profile.duration_ns);
  json.Field("total_ns", total.total_ns());
  if (HasErrors(profile)) {
    json.Field("total_ns_error", total.ns_error());
    json.Field("unsampled_most_ns", UnsampledMostNs(profile.stats));
  }
  if (profile.stats.oncpu_period_ns != 0) json.Field("cpu_ns", total.cpu_ns);
  json.Field("host", profile.host);
  RowLabels labels(profile);
  WriteArray("stacks", profile.rows, json, [&](const NamedRow& row) { WriteRow(profile, row, labels, json); });
  WriteIdleJson(SumIdle(profile), json);
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
