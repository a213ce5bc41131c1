// One ExportProfilesServiceRequest while it is filled: profiles by resource, and the dictionary that they refer to. A
// sample that would make it too large is not added, with all that only it needs. Used again for the next request. One
// thread.
#ifndef OFFCPU_OTLP_OTLP_REQUEST_H_
#define OFFCPU_OTLP_OTLP_REQUEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "otlp/otlp_dictionary.h"
#include "otlp/otlp_profiles.h"

namespace offcpu {

// The window that all profiles are of.
struct OtlpWindow {
  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;
  uint64_t sample_ns = 0;           // ProfileStats::sample_most_ns
  uint64_t cpu_period_ns = 0;       // ProfileStats::oncpu_period_ns
  std::array<uint8_t, 16> id = {};  // the ids of its profiles are made of it
  std::vector<std::string> lost;    // what each of its profiles says of it
};

struct OtlpSample {
  int32_t stack = 0;
  std::vector<int32_t> attributes;
  OtlpValues values = {};              // at least one is not 0
  std::optional<int32_t> of_profiles;  // an attribute of the profiles that it is the first sample of
};

class OtlpRequest {
 public:
  // No profile has more than `max_samples`.
  OtlpRequest(OtlpWindow window, size_t max_bytes, size_t max_samples)
      : window_(std::move(window)), max_bytes_(max_bytes), max_samples_(max_samples) {}

  // Samples that follow are of this resource. Before the first sample.
  void SetResource(OtlpProfiles::Frame frame);

  // Adds what `make` makes of the dictionary. False if it does not fit: then nothing has changed, but what `make` has
  // put into the dictionary is gone.
  bool Add(absl::FunctionRef<OtlpSample(OtlpDictionary&)> make);

  bool empty() const { return closed_.empty() && (!profiles_.has_value() || profiles_->empty()); }
  // Serialized. What follows is another request, with the same resource and an empty dictionary.
  std::string Take();

 private:
  size_t bytes() const;
  void CloseResource();
  OtlpProfileFields FieldsOf(OtlpType type, std::optional<int32_t> attribute);
  std::string NextProfileId();

  const OtlpWindow window_;
  const size_t max_bytes_;
  const size_t max_samples_;
  OtlpDictionary dictionary_;
  std::string closed_;  // resources that are complete, framed
  OtlpProfiles::Frame frame_;
  std::optional<OtlpProfiles> profiles_;  // of the resource that is not
  uint64_t profile_ids_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_REQUEST_H_
