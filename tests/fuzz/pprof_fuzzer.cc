// Bytes that claim to be a pprof file, compressed or not. What can be read can be written in every format, and as pprof
// it is read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "pprof/pprof_reader.h"
#include "tests/output/written.h"

using offcpu::OutputFormat;
using offcpu::Written;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto stored = offcpu::ParsePprof(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!stored.ok()) return 0;
  const std::string written = Written(OutputFormat::kPprof, *stored);
  const auto again = offcpu::ParsePprof(written);
  if (!again.ok() || Written(OutputFormat::kPprof, *again) != written) std::abort();
  for (OutputFormat format : {OutputFormat::kFolded, OutputFormat::kText, OutputFormat::kJson, OutputFormat::kHtml}) {
    Written(format, *stored);
  }
  return 0;
}
