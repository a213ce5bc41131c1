// What every OTLP request must keep to.
#ifndef OFFCPU_TESTS_OTLP_OTLP_CHECKER_H_
#define OFFCPU_TESTS_OTLP_OTLP_CHECKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "otlp_reader.h"

namespace offcpu {

// Looks at one request: everything that is referred to is there, nothing is there twice or without need, and the shape
// is the one that all readers take. Ids of its profiles go into `ids`.
class OtlpChecker {
 public:
  explicit OtlpChecker(const std::string& request) : reader_(request), tables_(reader_.dictionary()) {}

  void Check(std::set<std::string>* ids) {
    const std::vector<std::string> bad = TablesWithoutZero();
    ASSERT_EQ(bad, std::vector<std::string>()) << "tables without their zero element";
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
  std::vector<std::string> TablesWithoutZero() const {
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
    // What readers know without a period has none; of others it is the name.
    EXPECT_EQ(profile.has_period_type(), reader_.Type(profile) != "off_cpu/nanoseconds");
    EXPECT_EQ(profile.has_period_type(), profile.period() > 0);
    if (profile.has_period_type()) {
      UseString(profile.period_type().type_strindex());
      UseString(profile.period_type().unit_strindex());
    }
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

#endif  // OFFCPU_TESTS_OTLP_OTLP_CHECKER_H_
