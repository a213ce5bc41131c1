#include "otlp/otlp_request.h"

#include <utility>

#include "opentelemetry/proto/profiles/v1development/profiles.pb.h"
#include "otlp/otlp_attributes.h"
#include "otlp/otlp_wire.h"

namespace offcpu {
namespace {

namespace pb = opentelemetry::proto::profiles::v1development;

constexpr int kResourceProfilesField = 1;  // of ExportProfilesServiceRequest
constexpr int kDictionaryField = 2;

// One to one, and 0 only of 0.
uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

}  // namespace

void OtlpRequest::SetResource(OtlpProfiles::Frame frame) {
  CloseResource();
  frame_ = std::move(frame);
  profiles_.emplace(frame_);
}

void OtlpRequest::CloseResource() {
  if (profiles_.has_value() && !profiles_->empty()) {
    AppendFrame(kResourceProfilesField, profiles_->bytes(), &closed_);
    profiles_->AppendTo(&closed_);
  }
  profiles_.reset();
}

// The first half differs within a window, the second half is the window's.
std::string OtlpRequest::NextProfileId() {
  const uint64_t mask = Mix(++profile_ids_);
  std::string id(window_.id.begin(), window_.id.end());
  for (size_t i = 0; i < 8; ++i) id[i] = static_cast<char>(window_.id[i] ^ mask >> (8 * i));
  return id;
}

OtlpProfileFields OtlpRequest::FieldsOf(OtlpType type, std::optional<int32_t> attribute) {
  const OtlpTypeInfo info = InfoOf(type);
  pb::Profile before;
  before.mutable_sample_type()->set_type_strindex(dictionary_.String(info.name));
  before.mutable_sample_type()->set_unit_strindex(dictionary_.String(info.unit));
  pb::Profile after;
  if (!info.period_name.empty()) {
    after.mutable_period_type()->set_type_strindex(dictionary_.String(info.period_name));
    after.mutable_period_type()->set_unit_strindex(dictionary_.String(info.period_unit));
    after.set_period(type == OtlpType::kCpu ? CpuPeriodNs(window_.cpu_period_ns) : 1);
  }
  after.set_time_unix_nano(window_.start_unix_ns);
  after.set_duration_nano(window_.duration_ns);
  after.set_profile_id(NextProfileId());
  if (window_.sample_ns != 0) {
    after.add_attribute_indices(
        dictionary_.Attribute(kOtlpSamplePeriod, static_cast<int64_t>(window_.sample_ns), "ns"));
  }
  if (!window_.lost.empty()) after.add_attribute_indices(dictionary_.Attribute(kOtlpLost, window_.lost));
  if (attribute.has_value()) after.add_attribute_indices(*attribute);
  return {.before = before.SerializeAsString(), .after = after.SerializeAsString()};
}

bool OtlpRequest::Add(absl::FunctionRef<OtlpSample(OtlpDictionary&)> make) {
  const OtlpDictionary::Mark mark = dictionary_.mark();
  const OtlpSample sample = make(dictionary_);
  for (size_t i = 0; i < kOtlpTypeCount; ++i) {
    const auto type = static_cast<OtlpType>(i);
    if (sample.values[i] != 0 && !profiles_->Has(type)) profiles_->SetFields(type, FieldsOf(type, sample.of_profiles));
  }
  pb::Sample identity;
  identity.set_stack_index(sample.stack);
  identity.mutable_attribute_indices()->Add(sample.attributes.begin(), sample.attributes.end());
  profiles_->Add(identity.SerializeAsString(), sample.values);
  if (bytes() <= max_bytes_ && profiles_->samples() <= max_samples_) return true;
  profiles_->TakeBack();
  dictionary_.Rewind(mark);
  return false;
}

size_t OtlpRequest::bytes() const {
  const size_t open = profiles_->empty() ? 0 : FramedSize(profiles_->bytes());
  return closed_.size() + open + FramedSize(dictionary_.bytes());
}

std::string OtlpRequest::Take() {
  CloseResource();
  std::string request = std::move(closed_);
  AppendFrame(kDictionaryField, dictionary_.bytes(), &request);
  dictionary_.AppendTo(&request);
  closed_.clear();
  dictionary_ = OtlpDictionary();
  profiles_.emplace(frame_);
  return request;
}

}  // namespace offcpu
