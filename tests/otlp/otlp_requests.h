// What the tests of OTLP share: requests of a profile that is made by hand, and what is found in them.
#ifndef OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_
#define OFFCPU_TESTS_OTLP_OTLP_REQUESTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <utility>
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

// Takes the scheduler off the leaves of kernel stacks. Stacks that are the same then are one.
inline void TakeOffScheduler(NamedProfile* profile) {
  static const std::regex scheduler(
      R"((__schedule(_loop)?|schedule(_preempt_disabled|_timeout(_(idle|interruptible|killable|uninterruptible))?|)"
      R"(_hrtimeout(_range(_clock)?)?)?)(\..*)?)");
  const auto is_other = [](const NamedFrame& frame) { return !std::regex_match(std::string(frame.name()), scheduler); };
  std::vector<uint32_t> same;
  for (NamedKernelStack& stack : profile->kernel_stacks) {
    const auto wait = std::find_if(stack.frames.begin(), stack.frames.end(), is_other);
    if (wait != stack.frames.end()) stack.frames.erase(stack.frames.begin(), wait);
    const auto is_it = [&stack](const NamedKernelStack& other) {
      const auto same_place = [](const NamedFrame& a, const NamedFrame& b) { return a.address == b.address; };
      const bool is_same = !stack.frames.empty() && std::ranges::equal(other.frames, stack.frames, same_place);
      return &other == &stack || is_same;
    };
    const auto first = std::find_if(profile->kernel_stacks.begin(), profile->kernel_stacks.end(), is_it);
    same.push_back(static_cast<uint32_t>(first - profile->kernel_stacks.begin()));
  }
  std::vector<NamedRow> rows;
  for (NamedRow& row : profile->rows) {
    row.kernel_stack = same[row.kernel_stack];
    const auto is_it = [&row](const NamedRow& other) { return other.key() == row.key() && other.idle == row.idle; };
    const auto known = std::find_if(rows.begin(), rows.end(), is_it);
    if (known == rows.end()) {
      rows.push_back(std::move(row));
    } else {
      known->Add(row);
    }
  }
  profile->rows = std::move(rows);
}

// Without what OTLP has no value for, because it cannot be added up, and without the scheduler below a wait.
inline NamedProfile OfSums(NamedProfile profile) {
  TakeOffScheduler(&profile);
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
