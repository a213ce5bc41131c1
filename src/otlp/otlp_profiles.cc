#include "otlp/otlp_profiles.h"

#include <algorithm>
#include <cmath>
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

int64_t Combined(OtlpType type, int64_t a, int64_t b) {
  switch (type) {
    case OtlpType::kLongest:
      return std::max(a, b);
    case OtlpType::kContentionsError:
    case OtlpType::kOffCpuError: {
      const double error = std::hypot(static_cast<double>(a), static_cast<double>(b));
      return error < static_cast<double>(kMost) ? std::llround(error) : kMost;
    }
    default:
      return a > kMost - b ? kMost : a + b;
  }
}

}  // namespace

std::pair<std::string_view, std::string_view> NameAndUnit(OtlpType type) {
  switch (type) {
    case OtlpType::kOffCpu:
      return {"off_cpu", "nanoseconds"};
    case OtlpType::kContentions:
      return {"contentions", "count"};
    case OtlpType::kBlocked:
      return {"blocked", "nanoseconds"};
    case OtlpType::kRunnable:
      return {"runnable", "nanoseconds"};
    case OtlpType::kSamples:
      return {"samples", "count"};
    case OtlpType::kCpu:
      return {"cpu", "nanoseconds"};
    case OtlpType::kLongest:
      return {"longest", "nanoseconds"};
    case OtlpType::kContentionsError:
      return {"contentions_error", "count"};
    case OtlpType::kOffCpuError:
      return {"off_cpu_error", "nanoseconds"};
    case OtlpType::kRecording:
      return {"recording", "nanoseconds"};
    case OtlpType::kComments:
      return {"comments", "count"};
    case OtlpType::kLostTime:
      return {"lost", "nanoseconds"};
    case OtlpType::kLostCount:
      break;
  }
  return {"lost", "count"};
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
  for (size_t i = 0; i < kOtlpTypeCount; ++i) {
    sample.values[i] = Combined(static_cast<OtlpType>(i), sample.values[i], values[i]);
  }
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
