// What the tests of OTLP share: requests of a profile that is made by hand, and what is found in them.
#ifndef OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_
#define OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "otlp/otlp.h"
#include "otlp_reader.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {

inline std::vector<std::string> RequestsOf(const RecordedProfile& recorded, const OtlpOptions& options = {}) {
  return OtlpRequests(recorded.profile, options);
}

inline std::map<std::string, int64_t> SumsOf(const std::vector<std::string>& requests) {
  std::map<std::string, int64_t> sums;
  for (const std::string& request : requests) {
    for (const auto& [type, sum] : OtlpReader(request).Sums()) OtlpReader::Add(sum, &sums[type]);
  }
  return sums;
}

// Of a type, of the profiles of one resource; null if there is none.
inline const otlp::Profile* Find(const OtlpReader& reader, int resource, const std::string& type) {
  for (const otlp::Profile& profile : reader.message().resource_profiles(resource).scope_profiles(0).profiles()) {
    if (reader.Type(profile) == type) return &profile;
  }
  return nullptr;
}

// One row of one process.
inline RecordedProfile OneReader() {
  RecordedProfile one;
  one.profile.host = "web1";
  one.profile.duration_ns = 1'000'000;
  const uint32_t process = one.AddProcess({10, 1000, 1}, "server", "3f5c0b1e2a77");
  const uint32_t comm = one.AddComm("worker");
  const uint32_t kernel = one.AddPipe();
  const uint32_t user = one.AddReader();
  one.profile.rows = {{{{process, 0, comm, kernel, user, WaitKind::kDisk, 0}, {2, 5000, 1, 4000}}}};
  return one;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_
