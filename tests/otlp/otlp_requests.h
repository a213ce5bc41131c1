// What the tests of OTLP share: requests of a profile that is made by hand, and what is found in them.
#ifndef OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_
#define OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "otlp/otlp.h"
#include "otlp_reader.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {

// All that a request can say, but time off the CPU as one.
inline OtlpOptions Everything() {
  OtlpOptions options;
  options.types.set();
  options.labels.of_row.set();
  options.labels.other.set();
  options.labels.other.reset(static_cast<size_t>(OtlpLabel::kPhase));
  return options;
}

// Without what OTLP has no value for, because it cannot be added up, and without the scheduler below a wait.
inline NamedProfile OfSums(NamedProfile profile) {
  for (NamedKernelStack& stack : profile.kernel_stacks) {
    if (stack.frames.size() > 1 && stack.frames.front().name() == "schedule") stack.frames.erase(stack.frames.begin());
  }
  for (NamedRow& row : profile.rows) {
    row.max_ns = 0;
    row.count_variance = row.ns_variance = 0;
  }
  return profile;
}

inline std::vector<std::string> RequestsOf(const RecordedProfile& recorded, const OtlpOptions& options = Everything()) {
  return OtlpRequests(recorded.profile, options);
}

inline std::map<std::string, int64_t> SumsOf(const std::vector<std::string>& requests) {
  std::map<std::string, int64_t> sums;
  for (const std::string& request : requests) {
    for (const auto& [type, sum] : OtlpReader(request).Sums()) OtlpReader::Add(sum, &sums[type]);
  }
  return sums;
}

// The profile of a type among those of one resource; null if there is none.
inline const otlp::Profile* Find(const OtlpReader& reader, int resource, const std::string& type) {
  for (const otlp::Profile& profile : reader.message().resource_profiles(resource).scope_profiles(0).profiles()) {
    if (reader.Type(profile) == type) return &profile;
  }
  return nullptr;
}

// One row of one process.
inline RecordedProfile OneReader() {
  RecordedProfile one = RecordedProfile::OneReader();
  one.profile.host = "web1";
  one.profile.duration_ns = 1'000'000;
  return one;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_
