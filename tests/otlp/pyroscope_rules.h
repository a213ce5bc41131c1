// What a Pyroscope server makes of OTLP requests, and what it refuses: its rules and the defaults of its limits, as of
// version 2, put in our own words. It makes a pprof profile of each Profile, whose name follows from the type, splits
// it by labels into series, and refuses it whole if one of them breaks a rule.
#ifndef OFFCPU_TESTS_OTLP_PYROSCOPE_RULES_H_
#define OFFCPU_TESTS_OTLP_PYROSCOPE_RULES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "otlp_reader.h"

namespace offcpu {

class PyroscopeStore {
 public:
  using Labels = std::map<std::string, std::string>;

  void Take(const std::string& request) {
    const OtlpReader reader(request);
    for (const auto& resource : reader.message().resource_profiles()) {
      for (const auto& scope : resource.scope_profiles()) {
        for (const otlp::Profile& profile : scope.profiles()) TakeProfile(reader, resource, scope, profile);
      }
    }
  }

  const std::map<Labels, int64_t>& series() const { return series_; }
  const std::vector<std::string>& refused() const { return refused_; }
  // The sum of all series of a type, by a label; "process_cpu:cpu".
  std::map<std::string, int64_t> Sums(const std::string& type, const std::string& label) const {
    std::map<std::string, int64_t> sums;
    for (const auto& [labels, value] : series_) {
      const auto found = labels.find(label);
      if (labels.at("__type__") == type) sums[found == labels.end() ? "" : found->second] += value;
    }
    return sums;
  }

 private:
  static constexpr size_t kMostNames = 30, kMostNameBytes = 1024, kMostValueBytes = 2048;
  static constexpr int kMostSamples = 16'000, kMostSampleLabels = 100;
  static constexpr size_t kMostProfileBytes = 4u << 20;

  struct Type {
    std::string profile;  // the name of the series; none: it is refused
    std::string sample;
    int64_t factor = 1;
  };
  // It knows what "off_cpu" and samples of the CPU are; for others the type of the period is the name.
  static Type TypeOf(const OtlpReader& reader, const otlp::Profile& profile) {
    const bool has_period = profile.has_period_type() && profile.period() != 0;
    const std::string period = has_period ? reader.Text(profile.period_type().type_strindex()) : "";
    const std::string period_unit = has_period ? reader.Text(profile.period_type().unit_strindex()) : "";
    const std::string sample = reader.Text(profile.sample_type().type_strindex());
    const std::string unit = reader.Text(profile.sample_type().unit_strindex());
    if (sample == "samples" && unit == "count" && period == "cpu" && period_unit == "nanoseconds")
      return {"process_cpu", "cpu", profile.period()};
    if (sample == "off_cpu" && unit == "nanoseconds" && !has_period) return {"off_cpu", sample};
    return {period, sample};
  }

  // Texts and whole numbers become labels.
  template <typename Attributes>
  static void AddLabels(const Attributes& attributes, Labels* labels) {
    for (const auto& attribute : attributes) {
      const OtlpAnyValue& value = attribute.value();
      if (value.has_string_value() || value.has_int_value()) labels->emplace(attribute.key(), TextOf(value));
    }
  }

  void TakeProfile(const OtlpReader& reader, const otlp::ResourceProfiles& resource, const otlp::ScopeProfiles& scope,
                   const otlp::Profile& profile) {
    const Type type = TypeOf(reader, profile);
    Labels labels = {{"__delta__", "false"}, {"__otel__", "true"}, {"__name__", type.profile}};
    AddLabels(resource.resource().attributes(), &labels);
    AddLabels(scope.scope().attributes(), &labels);
    labels["service_name"] = labels.count("service.name") != 0 ? labels["service.name"] : "unknown_service";
    std::string why = type.profile.empty() ? "invalid metric name" : "";
    if (type.sample.find('-') != std::string::npos) why = "sample type";
    if (profile.samples_size() > kMostSamples) why = "samples";
    if (BytesOf(reader, profile) > kMostProfileBytes) why = "profile size";
    std::map<Labels, int64_t> sums;
    for (const otlp::Sample& sample : profile.samples()) {
      if (sample.values_size() != 1) why = "sample value length mismatch";
      if (sample.attribute_indices_size() > kMostSampleLabels) why = "sample labels";
      Labels of_sample = labels;
      for (const auto& [key, text] : reader.Attributes(sample.attribute_indices())) of_sample.emplace(key, text);
      if (const std::string bad = Sanitize(&of_sample); !bad.empty()) why = bad;
      of_sample["__type__"] = type.profile + ":" + type.sample;
      if (sample.values_size() == 1) sums[of_sample] += sample.values(0) * type.factor;
    }
    if (!why.empty()) return refused_.push_back(reader.Type(profile) + ": " + why);
    for (const auto& [of, sum] : sums) series_[of] += sum;
  }

  // Dots become underscores; two names that are one then have to say the same.
  static std::string Sanitize(Labels* labels) {
    if (labels->size() > kMostNames) return "label names";
    Labels sanitized;
    for (const auto& [name, value] : *labels) {
      if (name.empty() || name.size() > kMostNameBytes || value.size() > kMostValueBytes) return "label length " + name;
      std::string legacy = name;
      for (size_t i = 0; i < name.size(); ++i) {
        const bool is_letter =
            std::string_view("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ").find(name[i]) !=
            std::string_view::npos;
        const bool is_digit = i != 0 && name[i] >= '0' && name[i] <= '9';
        if (name[i] == '.') legacy[i] = '_';
        if (!is_letter && !is_digit && name[i] != '.') return "label name " + name;
      }
      const auto [known, is_new] = sanitized.emplace(legacy, value);
      if (!is_new && known->second != value) return "duplicate label " + legacy;
    }
    *labels = sanitized;
    return "";
  }

  // The most bytes that the profile takes in pprof, where each sample has its whole stack.
  static size_t BytesOf(const OtlpReader& reader, const otlp::Profile& profile) {
    size_t bytes = 0;
    std::set<int32_t> locations;
    for (const otlp::Sample& sample : profile.samples()) {
      const auto& stack = reader.dictionary().stack_table(sample.stack_index()).location_indices();
      bytes += 24 + 3 * static_cast<size_t>(stack.size()) + 8 * static_cast<size_t>(sample.attribute_indices_size());
      locations.insert(stack.begin(), stack.end());
    }
    for (const int32_t index : locations)
      bytes += 48 + reader.Function(reader.dictionary().location_table(index)).size();
    return bytes;
  }

  std::map<Labels, int64_t> series_;  // what was taken
  std::vector<std::string> refused_;  // "contentions/count: invalid metric name"
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OTLP_PYROSCOPE_RULES_H_
