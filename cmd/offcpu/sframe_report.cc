#include "offcpu/sframe_report.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/utf8.h"
#include "json/json_writer.h"
#include "unwind/sframe_dump.h"

namespace offcpu {
namespace {

bool Before(const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; }

// The bytes that are in any of the ranges.
uint64_t SizeOf(std::vector<CodeRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), Before);
  uint64_t size = 0;
  uint64_t end = 0;
  for (const CodeRange& range : ranges) {
    const uint64_t begin = std::max(range.begin, end);
    if (range.end <= begin) continue;
    size += range.end - begin;
    end = range.end;
  }
  return size;
}

bool IsWithin(const SFrameFunction& function, std::span<const CodeRange> code) {
  return std::any_of(code.begin(), code.end(), [&](const CodeRange& range) {
    return function.begin >= range.begin && function.begin < range.end && function.size <= range.end - function.begin;
  });
}

void CountFunctions(const Module& module, SFrameReport* report) {
  std::vector<CodeRange> covered;
  for (const SFrameSection& section : report->table->sections()) {
    report->functions += section.header().functions;
    section.ForEach([&](uint32_t, const SFrameFunction& function) {
      if (function.damaged || !IsWithin(function, module.code)) return;
      report->rows += function.rows;
      covered.push_back({function.begin, function.begin + function.size});
    });
  }
  report->damaged_functions = report->table->bad_entries();
  report->covered_bytes = SizeOf(std::move(covered));
}

void OpenTable(const Module& module, SFrameReport* report) {
  absl::StatusOr<std::unique_ptr<SFrameTable>> table = SFrameTable::Open(module.sframe, module.code, *module.machine);
  if (!table.ok()) {
    report->sframe = absl::IsUnimplemented(table.status()) ? "other" : "damaged";
    report->why = std::string(table.status().message());
    return;
  }
  report->sframe = "V3";
  report->table = *std::move(table);
  CountFunctions(module, report);
}

std::string Line(const SFrameReport& report) {
  const std::string path = Printable(report.path);
  const char* eh_frame = report.eh_frame ? "yes" : "no";
  if (report.table == nullptr) {
    const std::string why = report.why.empty() ? "" : absl::StrCat(" (", report.why, ")");
    return absl::StrFormat("%-8s%10s%10s%9s  %-9s %s%s\n", report.sframe, "-", "-", "-", eh_frame, path, why);
  }
  const double share = report.code_bytes == 0
                           ? 0
                           : 100.0 * static_cast<double>(report.covered_bytes) / static_cast<double>(report.code_bytes);
  const std::string damaged =
      report.damaged_functions == 0 ? "" : absl::StrCat(" (", report.damaged_functions, " functions damaged)");
  return absl::StrFormat("%-8s%10d%10d%8.1f%%  %-9s %s%s\n", report.sframe, report.functions, report.rows, share,
                         eh_frame, path, damaged);
}

}  // namespace

SFrameReport ReportSFrame(const Module& asked) {
  const Module& module = asked.tables();
  SFrameReport report = {.path = asked.path, .build_id = asked.build_id};
  report.eh_frame = !module.eh_frame.bytes.empty();
  report.code_bytes = SizeOf(module.code);
  if (module.damaged_sframe || module.code.empty()) {
    report.sframe = "damaged";
    report.why = module.code.empty() ? "the object cannot be read" : "the segment cannot be read";
    return report;
  }
  if (module.sframe.bytes.empty()) return report;
  switch (SFrameVersionOf(module.sframe.bytes)) {
    case SFrameVersion::kV1:
      report.sframe = "V1";
      break;
    case SFrameVersion::kV2:
      report.sframe = "V2";
      break;
    case SFrameVersion::kNone:
    case SFrameVersion::kUnknown:
    case SFrameVersion::kBigEndian:
    case SFrameVersion::kV3:
      OpenTable(module, &report);
      break;
  }
  return report;
}

void WriteSFrameReports(std::span<const SFrameReport> reports, bool dump, ByteSink sink) {
  sink("SFrame   functions      rows  of code  .eh_frame object\n");
  for (const SFrameReport& report : reports) {
    sink(Line(report));
    if (dump && report.table != nullptr) {
      DumpSFrame(*report.table, [&](std::string_view line) {
        sink(line);
        sink("\n");
      });
    }
  }
}

void WriteSFrameReportsJson(std::span<const SFrameReport> reports, ByteSink sink) {
  JsonWriter json(sink);
  json.BeginArray();
  for (const SFrameReport& report : reports) {
    json.BeginObject();
    json.Field("path", report.path);
    json.Field("build_id", report.build_id);
    json.Field("sframe", report.sframe);
    if (!report.why.empty()) json.Field("why", report.why);
    if (report.table != nullptr) {
      json.Field("functions", report.functions);
      json.Field("damaged_functions", report.damaged_functions);
      json.Field("rows", report.rows);
      json.Field("covered_bytes", report.covered_bytes);
    }
    json.Field("code_bytes", report.code_bytes);
    json.Key("eh_frame");
    json.Bool(report.eh_frame);
    json.EndObject();
  }
  json.EndArray();
  sink("\n");
}

}  // namespace offcpu
