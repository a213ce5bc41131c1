#include "html/page_data.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "html/data_columns.h"
#include "html/page_rows.h"
#include "html/stack_tree.h"
#include "json/json_writer.h"
#include "labels/row_error.h"
#include "labels/row_labels.h"
#include "tables/summary.h"

namespace offcpu {
namespace {

constexpr std::string_view kMagic = "OFFCPU1\n";

constexpr std::array<std::pair<std::string_view, uint64_t TimeBucket::*>, 5> kTimeFigures = {{
    {"time.count", &TimeBucket::count},
    {"time.blocked", &TimeBucket::blocked_ns},
    {"time.runnable", &TimeBucket::runnable_ns},
    {"time.samples", &TimeBucket::samples},
    {"time.cpu", &TimeBucket::cpu_ns},
}};

// So many bytes as the indices of a list need.
size_t Width(size_t count) {
  if (count <= size_t{std::numeric_limits<uint8_t>::max()} + 1) return 1;
  return count <= size_t{std::numeric_limits<uint16_t>::max()} + 1 ? 2 : 4;
}

void AddTree(const StackTree& tree, Columns& columns) {
  const auto& frames = tree.frames();
  const auto& nodes = tree.nodes();
  columns.Add("frame.name", 4, frames.size(), [&frames](size_t i) { return frames[i].name; });
  columns.Add("frame.module", 4, frames.size(), [&frames](size_t i) { return frames[i].module; });
  columns.Add("frame.kind", 1, frames.size(), [&frames](size_t i) { return frames[i].kind; });
  // Most nodes follow their parents, and the same small numbers take next to no space.
  columns.Add("node.up", 4, nodes.size(), [&nodes](size_t i) { return i - nodes[i].parent; });
  columns.Add("node.frame", 4, nodes.size(), [&nodes](size_t i) { return nodes[i].frame; });
  columns.Add("node.inlined", 1, nodes.size(), [&nodes](size_t i) { return nodes[i].inlined ? 1 : 0; });
}

void AddPlaces(const StackTree& tree, Columns& columns) {
  const auto& places = tree.places();
  const auto& steps = tree.steps();
  columns.Add("step.up", 4, steps.size(), [&steps](size_t i) { return i - steps[i].parent; });
  columns.Add("step.place", Width(places.size()), steps.size(), [&steps](size_t i) { return steps[i].place; });
  columns.Add("place.file", 4, places.size(), [&places](size_t i) { return places[i].file; });
  columns.Add("place.line", 4, places.size(), [&places](size_t i) { return places[i].line; });
  columns.Add("place.start", 4, places.size(), [&places](size_t i) { return places[i].start_line; });
}

// A column for each figure.
void AddSums(const std::vector<PageRow>& rows, std::string_view prefix, RowSums PageRow::*sums, Columns& columns) {
  for (const RowValueInfo& info : kRowValues) {
    if (info.sum == nullptr) continue;
    columns.Add(absl::StrCat(std::string(prefix), std::string(info.name)), 8, rows.size(),
                [&rows, &info, sums](size_t i) { return (rows[i].*sums).*info.sum; });
  }
}

bool HasErrors(const PageRows& page) {
  return std::any_of(page.rows.begin(), page.rows.end(),
                     [](const PageRow& row) { return row.sums.ns_variance > 0 || row.before.ns_variance > 0; });
}

void AddErrors(const std::vector<PageRow>& rows, std::string_view prefix, RowSums PageRow::*sums, Columns& columns) {
  constexpr std::array<std::pair<std::string_view, RowValue>, 4> kErrors = {{{"count", RowValue::kCount},
                                                                             {"time", RowValue::kOffCpu},
                                                                             {"blocked", RowValue::kBlocked},
                                                                             {"runnable", RowValue::kRunnable}}};
  for (const auto& [name, value] : kErrors) {
    columns.Add(absl::StrCat(std::string(prefix), std::string(name)), 8, rows.size(),
                [&rows, sums, wanted = value](size_t i) { return ErrorOf(rows[i].*sums, wanted); });
  }
  columns.Add(absl::StrCat(std::string(prefix), "draws"), 8, rows.size(),
              [&rows, sums](size_t i) { return (rows[i].*sums).sampled; });
}

void AddRows(const PageRows& page, bool is_comparing, Columns& columns) {
  const auto& rows = page.rows;
  columns.Add("row.stack", 4, rows.size(), [&rows](size_t i) { return rows[i].stack; });
  columns.Add("row.waker", 4, rows.size(), [&rows](size_t i) { return rows[i].waker; });
  columns.Add("row.step", 4, rows.size(), [&rows](size_t i) { return rows[i].step; });
  for (size_t label = 0; label < kRowLabelCount; ++label) {
    columns.Add(absl::StrCat("label.", std::string(kRowLabels[label].name)), Width(page.values[label].size()),
                rows.size(), [&rows, label](size_t i) { return rows[i].labels[label]; });
  }
  AddSums(rows, "sum.", &PageRow::sums, columns);
  columns.Add("sum.max", 8, rows.size(), [&rows](size_t i) { return rows[i].sums.max_ns; });
  if (is_comparing) AddSums(rows, "before.", &PageRow::before, columns);
  if (!HasErrors(page)) return;
  AddErrors(rows, "error.", &PageRow::sums, columns);
  if (is_comparing) AddErrors(rows, "before_error.", &PageRow::before, columns);
}

// Adds the times of one row after the other.
void AddTimes(const TimeTable& times, size_t rows, Columns& columns) {
  std::vector<const TimeBucket*> buckets;
  for (uint32_t row = 0; row < rows; ++row) {
    for (const TimeBucket& bucket : times.of(row)) buckets.push_back(&bucket);
  }
  columns.Add("time.slices", 4, rows, [&times](size_t i) { return times.of(static_cast<uint32_t>(i)).size(); });
  columns.Add("time.column", 4, buckets.size(), [&buckets](size_t i) { return buckets[i]->number; });
  for (const auto& [name, figure] : kTimeFigures)
    columns.Add(name, 8, buckets.size(), [&buckets, member = figure](size_t i) { return buckets[i]->*member; });
}

void WriteRecording(const NamedProfile& profile, bool hide_idle, JsonWriter& json) {
  json.Field("host", profile.host);
  json.Field("start_unix_ns", absl::StrCat(profile.start_unix_ns));
  json.Field("duration_ns", profile.duration_ns);
  std::string summary;
  WriteSummary(profile, hide_idle, [&summary](std::string_view text) { summary += text; });
  json.Field("summary", summary);
}

void WriteLabels(const PageRows& page, JsonWriter& json) {
  json.Key("labels");
  json.BeginArray();
  for (size_t label = 0; label < kRowLabelCount; ++label) {
    json.BeginObject();
    json.Field("name", kRowLabels[label].name);
    WriteArray("values", page.values[label], json, [&json](uint32_t string) { json.Number(string); });
    json.EndObject();
  }
  json.EndArray();
}

void WriteSourceLinks(const std::vector<SourceLink>& links, JsonWriter& json) {
  WriteArray("source_links", links, json, [&json](const SourceLink& link) {
    json.BeginObject();
    json.Field("prefix", link.prefix);
    json.Field("url", link.url);
    json.EndObject();
  });
}

bool HasSamples(const NamedProfile& profile) { return profile.stats.oncpu_period_ns != 0; }

// `before` is null if nothing is compared.
std::string Bytes(const NamedProfile& profile, const NamedProfile* before, const PageOptions& options,
                  const PageRows& page, StackTree& tree) {
  Columns columns;
  AddTree(tree, columns);
  AddPlaces(tree, columns);
  AddRows(page, before != nullptr, columns);
  if (page.times.has_value()) AddTimes(*page.times, page.rows.size(), columns);
  std::string header;
  const auto append = [&header](std::string_view text) { header += text; };
  JsonWriter json(append);
  json.BeginObject();
  WriteRecording(profile, options.hide_idle, json);
  if (before != nullptr) {
    json.Key("before");
    json.BeginObject();
    WriteRecording(*before, options.hide_idle, json);
    json.EndObject();
  }
  if (page.times.has_value()) {
    json.Key("times");
    json.BeginObject();
    json.Field("column_ns", page.times->bucket_ns());
    json.Field("begin_ns", absl::StrCat(profile.times.begin_ns));
    json.EndObject();
  }
  json.Field("unsampled_ns", UnsampledMostNs(profile.stats));
  json.Field("value", InfoOf(options.value).name);
  json.Key("samples");
  json.Bool(HasSamples(profile) && (before == nullptr || HasSamples(*before)));
  json.Key("hide_idle");
  json.Bool(options.hide_idle);
  json.Key("live");
  json.Bool(options.live);
  json.Field("pruned", page.pruned);
  WriteSourceLinks(options.source_links, json);
  WriteArray("strings", tree.strings().all(), json, [&json](const std::string& text) { json.String(text); });
  WriteLabels(page, json);
  columns.WriteNames(json);
  json.EndObject();
  std::string bytes(kMagic);
  Columns::AppendNumber(header.size(), 4, bytes);
  bytes += header;
  columns.AppendTo(bytes);
  return bytes;
}

}  // namespace

std::string PageData(const NamedProfile& profile, const PageOptions& options) {
  StackTree tree;
  const PageRows page = RowsOf(profile, options.max_stacks, tree);
  return Bytes(profile, nullptr, options, page, tree);
}

std::string PageDataOfBoth(const NamedProfile& before, const NamedProfile& after, const PageOptions& options) {
  StackTree tree;
  const PageRows page = RowsOfBoth(before, after, options.max_stacks, tree);
  return Bytes(after, &before, options, page, tree);
}

}  // namespace offcpu
