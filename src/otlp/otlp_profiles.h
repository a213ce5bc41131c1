// The profiles of one resource in an OTLP request, while they are filled: OTLP has one value a sample, so a sample of
// ours is one in each profile of which it has a value. Samples with the same identity become one. The list of the types
// of profiles is here; otlp_choice.h chooses among them. One thread.
#ifndef OFFCPU_OTLP_OTLP_PROFILES_H_
#define OFFCPU_OTLP_OTLP_PROFILES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace offcpu {

// In the order in which they are written: readers take the first for the one to show.
enum class OtlpType : uint8_t {
  kOffCpu,
  kCpu,  // how many samples, each of which stands for a period on the CPU
  kContentions,
  kBlocked,
  kRunnable,
  // About the recording itself.
  kRecording,  // one sample: how long
  kComments,   // one sample: how many, if they take more than one request
  kLostTime,   // by reason
  kLostCount,
};
inline constexpr size_t kOtlpTypeCount = 9;

// Readers name a profile by what its period is; only off_cpu they know without one.
struct OtlpTypeInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view period_name;  // "": it has no period
  std::string_view period_unit;
};
OtlpTypeInfo InfoOf(OtlpType type);

// Nanoseconds that one of kCpu stands for: one, where the period is not known.
int64_t CpuPeriodNs(uint64_t oncpu_period_ns);

// Sums: what cannot be added up is no value.
using OtlpValues = std::array<int64_t, kOtlpTypeCount>;  // none is negative; 0: no sample of this type

// Fields of a Profile but its samples, serialized.
struct OtlpProfileFields {
  std::string before;  // field 1
  std::string after;   // from field 3 on
};

class OtlpProfiles {
 public:
  // The fields of ResourceProfiles and of ScopeProfiles around the profiles, serialized and framed.
  struct Frame {
    std::string resource;    // field 1 of ResourceProfiles
    std::string scope;       // field 1 of ScopeProfiles
    std::string schema_url;  // field 3 of both
  };
  explicit OtlpProfiles(Frame frame) : frame_(std::move(frame)) {}

  // Before the first value of its type.
  bool Has(OtlpType type) const { return parts_[Index(type)].samples != 0; }
  void SetFields(OtlpType type, OtlpProfileFields fields) { parts_[Index(type)].fields = std::move(fields); }

  // `identity`: the fields of a Sample that come before its values, serialized. Not all values are 0.
  void Add(const std::string& identity, const OtlpValues& values);
  // Takes the last Add back; once.
  void TakeBack();

  bool empty() const { return samples_.empty(); }
  size_t samples() const { return samples_.size(); }  // of a profile at most
  size_t bytes() const;                               // of the ResourceProfiles
  void AppendTo(std::string* out) const;

 private:
  struct Sample {
    std::string identity;
    OtlpValues values = {};
  };
  struct Part {
    OtlpProfileFields fields;
    size_t samples = 0;
    size_t samples_bytes = 0;
  };
  static size_t Index(OtlpType type) { return static_cast<size_t>(type); }
  static size_t ProfileBytes(const Part& part);
  size_t ScopeBytes() const;
  void Count(const Sample& sample);
  void Uncount(const Sample& sample);

  Frame frame_;
  std::array<Part, kOtlpTypeCount> parts_;
  std::deque<Sample> samples_;  // never move: their identities are keys
  absl::flat_hash_map<std::string_view, size_t> index_;
  size_t last_ = 0;              // of the last Add,
  OtlpValues before_last_ = {};  // and what was there before; zeros: nothing
};

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_PROFILES_H_
