// Which modules' frames were walked by what, and where walks ended early: a JSON array, a module an element.
#ifndef OFFCPU_JSON_COVERAGE_JSON_H_
#define OFFCPU_JSON_COVERAGE_JSON_H_

#include "json/json_writer.h"
#include "profile/named_profile.h"

namespace offcpu {

void WriteCoverageJson(const NamedProfile& profile, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_JSON_COVERAGE_JSON_H_
