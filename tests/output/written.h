// What a profile is in one of the formats.
#ifndef OFFCPU_TESTS_OUTPUT_WRITTEN_H_
#define OFFCPU_TESTS_OUTPUT_WRITTEN_H_

#include <string>
#include <string_view>

#include "output/format.h"

namespace offcpu {

// As much of it as a format can say, unless `options` say otherwise.
inline std::string Written(OutputFormat format, const NamedProfile& profile,
                           const FormatOptions& options = {.folded = {.per_process = true}, .frame_sources = true}) {
  std::string bytes;
  WriteProfile(format, profile, options, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OUTPUT_WRITTEN_H_
