#include "export/request_parts.h"

#include <cstdint>
#include <map>
#include <string>

#include "bytes/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp_windows.h"
#include "tests/otlp/otlp_reader.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;

OtlpOptions TwoTypes() {
  OtlpOptions options;
  options.types = *ParseOtlpTypes({"off_cpu", "contentions"});
  return options;
}

std::string Gzipped(const std::string& bytes) {
  std::string compressed;
  const auto append = [&compressed](std::string_view piece) { compressed.append(piece); };
  GzipWriter writer(append);
  writer.Append(bytes);
  writer.Finish();
  return compressed;
}

RequestParts Parsed(const std::string& body) {
  absl::StatusOr<RequestParts> parts = RequestParts::Parse(body);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return *std::move(parts);
}

// Nanoseconds off the CPU by the stack's frame that tells programs apart.
std::map<std::string, int64_t> OffCpuOf(const std::string& request) {
  const OtlpReader reader(request);
  std::map<std::string, int64_t> ns;
  for (const auto& resource : reader.message().resource_profiles()) {
    for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) {
      if (reader.Type(profile) != "off_cpu/nanoseconds") continue;
      for (const otlp::Sample& sample : profile.samples()) ns[reader.Functions(sample).back()] += sample.values(0);
    }
  }
  return ns;
}

TEST(RequestPartsTest, ProfilesHaveNames) {
  const std::string request = RequestOfPrograms(2, TwoTypes());
  for (const std::string& body : {request, Gzipped(request)}) {
    const RequestParts parts = Parsed(body);
    ASSERT_EQ(parts.profiles(), 4u);
    EXPECT_EQ(parts.Name(0), "off_cpu of program-a");
    EXPECT_EQ(parts.Name(1), "contentions of program-a");
    EXPECT_EQ(parts.Name(2), "off_cpu of program-b");
    EXPECT_EQ(parts.Type(3), "contentions");
  }
}

TEST(RequestPartsTest, APartHasItsProfilesAndWhatTheyReferTo) {
  const std::string request = RequestOfPrograms(3, TwoTypes());
  const RequestParts parts = Parsed(request);
  ASSERT_EQ(parts.profiles(), 6u);
  const std::string part = parts.Part({2});
  EXPECT_THAT(OffCpuOf(part), ElementsAre(Pair("function of program-b", 2'000'000)));
  const OtlpReader reader(part);
  ASSERT_EQ(reader.message().resource_profiles_size(), 1);
  const auto& resource = reader.message().resource_profiles(0);
  EXPECT_THAT(OtlpReader::Attributes(resource), Contains(Pair("service.name", "program-b")));
  EXPECT_EQ(resource.scope_profiles(0).scope().name(), "offcpud");
  EXPECT_EQ(resource.schema_url(), "https://opentelemetry.io/schemas/1.43.0");
  EXPECT_EQ(resource.scope_profiles(0).schema_url(), resource.schema_url());
  ASSERT_EQ(resource.scope_profiles(0).profiles_size(), 1);
  const OtlpReader whole(request);
  EXPECT_EQ(resource.scope_profiles(0).profiles(0).profile_id(),
            whole.message().resource_profiles(1).scope_profiles(0).profiles(0).profile_id());
  EXPECT_THAT(reader.dictionary().string_table(), Not(Contains("function of program-a")));
  EXPECT_THAT(reader.dictionary().string_table(), Not(Contains("contentions")));
}

TEST(RequestPartsTest, PartsAddUp) {
  const std::string request = RequestOfPrograms(5);
  const RequestParts parts = Parsed(request);
  std::map<std::string, int64_t> sums;
  for (const std::set<size_t>& profiles : {std::set<size_t>{0, 3}, {2}, {1, 4}}) {
    const std::map<std::string, int64_t> of_part = OffCpuOf(parts.Part(profiles));
    EXPECT_EQ(of_part.size(), profiles.size());
    for (const auto& [name, ns] : of_part) sums[name] += ns;
  }
  EXPECT_EQ(sums, OffCpuOf(request));
  EXPECT_EQ(OffCpuOf(parts.Part({0, 1, 2, 3, 4})), OffCpuOf(request));
}

TEST(RequestPartsTest, DamageIsAnError) {
  EXPECT_FALSE(RequestParts::Parse("\x0a\xff").ok());
  const std::string body = Gzipped(RequestOfPrograms(1));
  EXPECT_FALSE(RequestParts::Parse(body.substr(0, body.size() / 2)).ok());
  EXPECT_EQ(Parsed("").profiles(), 0u);
}

}  // namespace
}  // namespace offcpu
