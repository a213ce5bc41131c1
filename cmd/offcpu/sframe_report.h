// What the SFrame tables of objects are worth: pure functions from modules to figures, text and JSON.
//   [{"path", "build_id", "sframe", "functions", "damaged_functions", "rows", "covered_bytes", "code_bytes",
//   "eh_frame"}]
// "sframe" is "V1", "V2", "V3", "none", "damaged" or "other", which is not read; the figures of a table are there for
// V3 only.
#ifndef OFFCPU_CMD_OFFCPU_SFRAME_REPORT_H_
#define OFFCPU_CMD_OFFCPU_SFRAME_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "bytes/byte_sink.h"
#include "process/module.h"
#include "unwind/sframe.h"

namespace offcpu {

struct SFrameReport {
  std::string path;
  std::string build_id;
  std::string_view sframe = "none";
  std::string why;  // of "damaged" and "other"
  uint64_t functions = 0;
  uint64_t damaged_functions = 0;
  uint64_t rows = 0;
  uint64_t covered_bytes = 0;  // of the executable segments, by functions that are not damaged
  uint64_t code_bytes = 0;     // in all of them
  bool eh_frame = false;
  std::unique_ptr<SFrameTable> table;  // of V3; refers to the module
};

// The module must outlive the report.
SFrameReport ReportSFrame(const Module& module);

// `dump`: with all functions and rows.
void WriteSFrameReports(std::span<const SFrameReport> reports, bool dump, ByteSink sink);
void WriteSFrameReportsJson(std::span<const SFrameReport> reports, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_SFRAME_REPORT_H_
