#include "json/coverage_json.h"

#include <string_view>

#include "labels/coverage.h"

namespace offcpu {

void WriteCoverageJson(const NamedProfile& profile, JsonWriter& json) {
  json.BeginArray();
  for (const ModuleCoverage& coverage : CoverageOf(profile)) {
    json.BeginObject();
    json.Field("path", coverage.code == nullptr ? std::string_view() : std::string_view(coverage.code->path));
    json.Field("build_id", coverage.code == nullptr ? std::string_view() : coverage.code->build_id);
    WriteNonZero<FrameSource>("frames", coverage.frames, json);
    WriteNonZero<EndReason>("walk_ends", coverage.ends, json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace offcpu
