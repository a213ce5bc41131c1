// OTLP requests as the generated classes read them, with indices resolved.
#ifndef OFFCPU_TESTS_OTLP_OTLP_READER_H_
#define OFFCPU_TESTS_OTLP_OTLP_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"
#include "otlp/otlp.h"

namespace offcpu {

namespace otlp = opentelemetry::proto::profiles::v1development;
using OtlpRequestMessage = opentelemetry::proto::collector::profiles::v1development::ExportProfilesServiceRequest;
using OtlpAnyValue = opentelemetry::proto::common::v1::AnyValue;

inline std::vector<std::string> OtlpRequests(const NamedProfile& profile, const OtlpOptions& options = {}) {
  std::vector<std::string> requests;
  WriteOtlp(profile, options, [&](std::string request) { requests.push_back(std::move(request)); });
  return requests;
}

// "text", "12" or "[a, b]".
inline std::string TextOf(const OtlpAnyValue& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_int_value()) return std::to_string(value.int_value());
  std::string text = "[";
  for (const OtlpAnyValue& element : value.array_value().values()) {
    text += (text.size() == 1 ? "" : ", ") + TextOf(element);
  }
  return text + "]";
}

class OtlpReader {
 public:
  using Texts = std::map<std::string, std::string>;

  explicit OtlpReader(const std::string& request) { EXPECT_TRUE(message_.ParseFromString(request)); }

  const OtlpRequestMessage& message() const { return message_; }
  const otlp::ProfilesDictionary& dictionary() const { return message_.dictionary(); }
  const std::string& Text(int32_t index) const { return dictionary().string_table(index); }
  std::string Type(const otlp::Profile& profile) const {
    return Text(profile.sample_type().type_strindex()) + "/" + Text(profile.sample_type().unit_strindex());
  }
  template <typename Indices>
  Texts Attributes(const Indices& indices) const {
    Texts texts;
    for (const int32_t index : indices) {
      const otlp::KeyValueAndUnit& attribute = dictionary().attribute_table(index);
      EXPECT_TRUE(texts.emplace(Text(attribute.key_strindex()), TextOf(attribute.value())).second);
    }
    return texts;
  }
  static Texts Attributes(const otlp::ResourceProfiles& profiles) {
    Texts texts;
    for (const auto& attribute : profiles.resource().attributes()) {
      EXPECT_TRUE(texts.emplace(attribute.key(), TextOf(attribute.value())).second);
    }
    return texts;
  }
  std::string Function(const otlp::Location& location) const {
    if (location.lines_size() == 0) return "";
    return Text(dictionary().function_table(location.lines(0).function_index()).name_strindex());
  }
  std::vector<const otlp::Location*> Locations(const otlp::Sample& sample) const {
    std::vector<const otlp::Location*> locations;
    for (const int32_t index : dictionary().stack_table(sample.stack_index()).location_indices()) {
      locations.push_back(&dictionary().location_table(index));
    }
    return locations;
  }
  std::vector<std::string> Functions(const otlp::Sample& sample) const {
    std::vector<std::string> names;
    for (const otlp::Location* location : Locations(sample)) names.push_back(Function(*location));
    return names;
  }

  // The sums of all values, by type.
  std::map<std::string, int64_t> Sums() const {
    std::map<std::string, int64_t> sums;
    for (const auto& resource : message_.resource_profiles()) {
      for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) {
        for (const otlp::Sample& sample : profile.samples()) Add(sample.values(0), &sums[Type(profile)]);
      }
    }
    return sums;
  }

  // Wraps round: tests have values that are the most that there is.
  static void Add(int64_t value, int64_t* sum) {
    *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(value));
  }

 private:
  OtlpRequestMessage message_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OTLP_OTLP_READER_H_
