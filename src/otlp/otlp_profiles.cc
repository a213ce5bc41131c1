#include "otlp/otlp_profiles.h"

#include <algorithm>
#include <limits>

#include "otlp/otlp_wire.h"

namespace offcpu {
namespace {

constexpr int kSamplesField = 2;        // of Profile
constexpr int kProfilesField = 2;       // of ScopeProfiles
constexpr int kScopeProfilesField = 2;  // of ResourceProfiles
constexpr int kValuesField = 4;         // of Sample

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

size_t SampleBytes(const std::string& identity, int64_t value) {
  return identity.size() + FramedSize(VarintSize(static_cast<uint64_t>(value)));
}

int64_t Sum(int64_t a, int64_t b) { return a > kMost - b ? kMost : a + b; }

}  // namespace

OtlpTypeInfo InfoOf(OtlpType type) {
  switch (type) {
    case OtlpType::kOffCpu:
      return {.name = "off_cpu", .unit = "nanoseconds", .period_name = "", .period_unit = ""};
    case OtlpType::kCpu:
      return {.name = "samples", .unit = "count", .period_name = "cpu", .period_unit = "nanoseconds"};
    case OtlpType::kContentions:
      return {.name = "contentions", .unit = "count", .period_name = "contentions", .period_unit = "count"};
    case OtlpType::kBlocked:
      return {.name = "blocked", .unit = "nanoseconds", .period_name = "blocked", .period_unit = "nanoseconds"};
    case OtlpType::kRunnable:
      return {.name = "runnable", .unit = "nanoseconds", .period_name = "runnable", .period_unit = "nanoseconds"};
    case OtlpType::kRecording:
      return {.name = "recording", .unit = "nanoseconds", .period_name = "recording", .period_unit = "nanoseconds"};
    case OtlpType::kComments:
      return {.name = "comments", .unit = "count", .period_name = "comments", .period_unit = "count"};
    case OtlpType::kLostTime:
      return {.name = "lost", .unit = "nanoseconds", .period_name = "lost", .period_unit = "nanoseconds"};
    case OtlpType::kLostCount:
      break;
  }
  return {.name = "lost", .unit = "count", .period_name = "lost", .period_unit = "count"};
}

int64_t CpuPeriodNs(uint64_t oncpu_period_ns) {
  return static_cast<int64_t>(std::clamp<uint64_t>(oncpu_period_ns, 1, kMost));
}

void OtlpProfiles::Count(const Sample& sample) {
  for (size_t i = 0; i < kOtlpTypeCount; ++i) {
    if (sample.values[i] == 0) continue;
    ++parts_[i].samples;
    parts_[i].samples_bytes += FramedSize(SampleBytes(sample.identity, sample.values[i]));
  }
}

void OtlpProfiles::Uncount(const Sample& sample) {
  for (size_t i = 0; i < kOtlpTypeCount; ++i) {
    if (sample.values[i] == 0) continue;
    --parts_[i].samples;
    parts_[i].samples_bytes -= FramedSize(SampleBytes(sample.identity, sample.values[i]));
  }
}

void OtlpProfiles::Add(const std::string& identity, const OtlpValues& values) {
  const auto known = index_.find(identity);
  last_ = known == index_.end() ? samples_.size() : known->second;
  if (known == index_.end()) {
    samples_.push_back({identity});
    index_.emplace(samples_.back().identity, last_);
  }
  Sample& sample = samples_[last_];
  before_last_ = sample.values;
  Uncount(sample);
  for (size_t i = 0; i < kOtlpTypeCount; ++i) sample.values[i] = Sum(sample.values[i], values[i]);
  Count(sample);
}

void OtlpProfiles::TakeBack() {
  Sample& sample = samples_[last_];
  Uncount(sample);
  sample.values = before_last_;
  Count(sample);
  if (before_last_ == OtlpValues{}) {
    index_.erase(sample.identity);
    samples_.pop_back();
  }
}

size_t OtlpProfiles::ProfileBytes(const Part& part) {
  return part.fields.before.size() + part.samples_bytes + part.fields.after.size();
}

size_t OtlpProfiles::ScopeBytes() const {
  size_t bytes = frame_.scope.size() + frame_.schema_url.size();
  for (const Part& part : parts_) {
    if (part.samples != 0) bytes += FramedSize(ProfileBytes(part));
  }
  return bytes;
}

size_t OtlpProfiles::bytes() const {
  return frame_.resource.size() + FramedSize(ScopeBytes()) + frame_.schema_url.size();
}

void OtlpProfiles::AppendTo(std::string* out) const {
  out->append(frame_.resource);
  AppendFrame(kScopeProfilesField, ScopeBytes(), out);
  out->append(frame_.scope);
  for (size_t i = 0; i < kOtlpTypeCount; ++i) {
    const Part& part = parts_[i];
    if (part.samples == 0) continue;
    AppendFrame(kProfilesField, ProfileBytes(part), out);
    out->append(part.fields.before);
    for (const Sample& sample : samples_) {
      const int64_t value = sample.values[i];
      if (value == 0) continue;
      AppendFrame(kSamplesField, SampleBytes(sample.identity, value), out);
      out->append(sample.identity);
      AppendFrame(kValuesField, VarintSize(static_cast<uint64_t>(value)), out);
      AppendVarint(static_cast<uint64_t>(value), out);
    }
    out->append(part.fields.after);
  }
  out->append(frame_.schema_url);
  out->append(frame_.schema_url);
}

}  // namespace offcpu
