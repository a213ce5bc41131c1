#include "output/diff_files.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "json/json_writer.h"
#include "profile/profile_row.h"

namespace offcpu {
namespace {

void WriteSide(std::string_view key, const DiffSide& side, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  json.Field("start_unix_ns", side.start_unix_ns);
  json.Field("duration_ns", side.duration_ns);
  json.Field("total", side.total);
  if (side.total_variance > 0) json.Field("total_error", StandardError(side.total_variance));
  json.Field("hidden_ns", side.hidden_ns);
  json.EndObject();
}

void WriteAmounts(const DiffLine& line, JsonWriter& json) {
  json.Field("before", line.before);
  json.Field("after", line.after);
  if (line.before_variance <= 0 && line.after_variance <= 0) return;
  json.Field("before_error", StandardError(line.before_variance));
  json.Field("after_error", StandardError(line.after_variance));
}

}  // namespace

void WriteDiffFolded(const ProfileDiff& diff, bool nanoseconds, ByteSink sink) {
  const double unit = nanoseconds || !IsTime(diff.options.value) ? 1 : 1000;
  const double seconds = static_cast<double>(diff.after.duration_ns) / 1e9;
  std::set<std::string> lines;
  for (const DiffLine& line : diff.stacks) {
    const uint64_t before = Rounded(diff.before.PerSecond(line.before) * seconds / unit);
    const uint64_t after = Rounded(static_cast<double>(line.after) / unit);
    if (before != 0 || after != 0) lines.insert(absl::StrCat(line.name, " ", before, " ", after, "\n"));
  }
  for (const std::string& line : lines) sink(line);
}

void WriteDiffJson(const ProfileDiff& diff, ByteSink sink) {
  JsonWriter json(sink);
  json.BeginObject();
  json.Field("value", InfoOf(diff.options.value).name);
  WriteSide("before", diff.before, json);
  WriteSide("after", diff.after, json);
  json.Field("by", LabelsName(diff.options.by));
  WriteArray("labels", diff.labels, json, [&](const DiffLine& line) {
    json.BeginObject();
    json.Field("name", line.name);
    WriteAmounts(line, json);
    json.EndObject();
  });
  WriteArray("stacks", diff.stacks, json, [&](const DiffLine& line) {
    const std::vector<std::string> frames = absl::StrSplit(line.name, ';');
    json.BeginObject();
    WriteArray("frames", frames, json, [&json](const std::string& frame) { json.String(frame); });
    WriteAmounts(line, json);
    json.EndObject();
  });
  json.EndObject();
  sink("\n");
}

}  // namespace offcpu
