// OTLP requests as the generated classes read them, with indices resolved; and what every request must keep to.
#ifndef OFFCPU_TESTS_OUTPUT_OTLP_READER_H_
#define OFFCPU_TESTS_OUTPUT_OTLP_READER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"
#include "output/otlp.h"

namespace offcpu {

namespace otlp = opentelemetry::proto::profiles::v1development;
using OtlpRequestMessage = opentelemetry::proto::collector::profiles::v1development::ExportProfilesServiceRequest;
using OtlpAnyValue = opentelemetry::proto::common::v1::AnyValue;

inline std::vector<std::string> OtlpRequests(const Profile& profile, const SymbolizedProfile& symbols,
                                             const OtlpOptions& options = {}) {
  std::vector<std::string> requests;
  WriteOtlp(profile, symbols, options, [&](std::string request) { requests.push_back(std::move(request)); });
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
        for (const otlp::Sample& sample : profile.samples()) sums[Type(profile)] += sample.values(0);
      }
    }
    return sums;
  }

 private:
  OtlpRequestMessage message_;
};

// Looks at one request: everything that is referred to is there, nothing is there twice or without need, and the shape
// is the one that all readers take. Ids of its profiles go into `ids`.
class OtlpChecker {
 public:
  explicit OtlpChecker(const std::string& request) : reader_(request), tables_(reader_.dictionary()) {}

  void Check(std::set<std::string>* ids) {
    const std::vector<std::string> sizes = TableSizes();
    ASSERT_EQ(sizes, std::vector<std::string>()) << "tables without their zero element";
    ASSERT_GT(reader_.message().resource_profiles_size(), 0);
    for (const auto& resource : reader_.message().resource_profiles()) CheckResource(resource, ids);
    CheckTables();
    CheckNoOrphans();
  }

 private:
  template <typename Table>
  static bool ZeroFirst(const Table& table) {
    return table.size() > 0 && table[0].ByteSizeLong() == 0;
  }
  std::vector<std::string> TableSizes() const {
    std::vector<std::string> bad;
    if (!ZeroFirst(tables_.mapping_table())) bad.push_back("mapping");
    if (!ZeroFirst(tables_.location_table())) bad.push_back("location");
    if (!ZeroFirst(tables_.function_table())) bad.push_back("function");
    if (!ZeroFirst(tables_.link_table()) || tables_.link_table_size() != 1) bad.push_back("link");
    if (tables_.string_table_size() == 0 || !tables_.string_table(0).empty()) bad.push_back("string");
    if (!ZeroFirst(tables_.attribute_table())) bad.push_back("attribute");
    if (!ZeroFirst(tables_.stack_table())) bad.push_back("stack");
    return bad;
  }

  void Use(const char* table, int32_t index, int size) {
    ASSERT_GE(index, 0) << table;
    ASSERT_LT(index, size) << table;
    used_[table].insert(index);
  }
  void UseString(int32_t index) { Use("string", index, tables_.string_table_size()); }
  template <typename Indices>
  void UseAttributes(const Indices& indices) {
    for (const int32_t index : indices) {
      EXPECT_NE(index, 0);
      Use("attribute", index, tables_.attribute_table_size());
    }
  }

  void CheckResource(const otlp::ResourceProfiles& resource, std::set<std::string>* ids) {
    const OtlpReader::Texts attributes = OtlpReader::Attributes(resource);
    EXPECT_EQ(attributes.count("service.name"), 1u);
    for (const auto& attribute : resource.resource().attributes()) EXPECT_EQ(attribute.key_strindex(), 0);
    EXPECT_EQ(resource.schema_url(), "https://opentelemetry.io/schemas/1.43.0");
    ASSERT_EQ(resource.scope_profiles_size(), 1);
    EXPECT_EQ(resource.scope_profiles(0).scope().name(), "offcpud");
    EXPECT_FALSE(resource.scope_profiles(0).scope().version().empty());
    EXPECT_EQ(resource.scope_profiles(0).schema_url(), resource.schema_url());
    EXPECT_GT(resource.scope_profiles(0).profiles_size(), 0);
    std::set<std::string> types;
    for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) {
      EXPECT_TRUE(types.insert(reader_.Type(profile)).second) << reader_.Type(profile);
      CheckProfile(profile, ids);
    }
  }

  void CheckProfile(const otlp::Profile& profile, std::set<std::string>* ids) {
    UseString(profile.sample_type().type_strindex());
    UseString(profile.sample_type().unit_strindex());
    UseAttributes(profile.attribute_indices());
    EXPECT_FALSE(profile.has_period_type());
    EXPECT_EQ(profile.period(), 0);
    EXPECT_EQ(profile.profile_id().size(), 16u);
    EXPECT_TRUE(ids->insert(profile.profile_id()).second);
    EXPECT_GT(profile.samples_size(), 0);
    std::set<std::pair<int32_t, std::set<int32_t>>> identities;
    for (const otlp::Sample& sample : profile.samples()) {
      Use("stack", sample.stack_index(), tables_.stack_table_size());
      UseAttributes(sample.attribute_indices());
      EXPECT_EQ(sample.link_index(), 0);
      ASSERT_EQ(sample.values_size(), 1);
      EXPECT_GT(sample.values(0), 0);
      EXPECT_EQ(sample.timestamps_unix_nano_size(), 0);
      const auto& attributes = sample.attribute_indices();
      EXPECT_TRUE(
          identities.emplace(sample.stack_index(), std::set<int32_t>(attributes.begin(), attributes.end())).second);
    }
  }

  template <typename Table>
  static void CheckDistinct(const char* name, const Table& table) {
    std::set<std::string> entries;
    for (const auto& entry : table) EXPECT_TRUE(entries.insert(entry.SerializeAsString()).second) << name;
  }

  // What the entries refer to, and that none is there twice.
  void CheckTables() {
    for (const otlp::Stack& stack : tables_.stack_table()) {
      for (const int32_t index : stack.location_indices()) Use("location", index, tables_.location_table_size());
    }
    for (const otlp::Location& location : tables_.location_table()) {
      Use("mapping", location.mapping_index(), tables_.mapping_table_size());
      UseAttributes(location.attribute_indices());
      for (const otlp::Line& line : location.lines()) {
        Use("function", line.function_index(), tables_.function_table_size());
      }
    }
    for (const otlp::Function& function : tables_.function_table()) UseString(function.name_strindex());
    for (const otlp::Mapping& mapping : tables_.mapping_table()) {
      UseString(mapping.filename_strindex());
      UseAttributes(mapping.attribute_indices());
    }
    for (const otlp::KeyValueAndUnit& attribute : tables_.attribute_table()) {
      UseString(attribute.key_strindex());
      UseString(attribute.unit_strindex());
      EXPECT_EQ(attribute.value().string_value_strindex(), 0);
    }
    CheckDistinct("stack", tables_.stack_table());
    CheckDistinct("location", tables_.location_table());
    CheckDistinct("function", tables_.function_table());
    CheckDistinct("mapping", tables_.mapping_table());
    CheckDistinct("attribute", tables_.attribute_table());
    const auto& strings = tables_.string_table();
    EXPECT_EQ(std::set<std::string>(strings.begin(), strings.end()).size(), static_cast<size_t>(strings.size()));
  }

  void CheckNoOrphans() {
    const std::map<std::string, int> sizes = {
        {"mapping", tables_.mapping_table_size()},     {"location", tables_.location_table_size()},
        {"function", tables_.function_table_size()},   {"string", tables_.string_table_size()},
        {"attribute", tables_.attribute_table_size()}, {"stack", tables_.stack_table_size()},
    };
    for (const auto& [table, size] : sizes) {
      used_[table].insert(0);
      EXPECT_EQ(used_[table].size(), static_cast<size_t>(size)) << table << " has entries that nothing refers to";
    }
  }

  OtlpReader reader_;
  const otlp::ProfilesDictionary& tables_;
  std::map<std::string, std::set<int32_t>> used_;  // by table
};

inline void CheckOtlp(const std::vector<std::string>& requests) {
  std::set<std::string> ids;
  for (const std::string& request : requests) OtlpChecker(request).Check(&ids);
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OUTPUT_OTLP_READER_H_
