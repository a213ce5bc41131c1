#include "otlp/otlp_profiles.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

OtlpValues OffCpu(int64_t ns) {
  OtlpValues values = {};
  values[static_cast<size_t>(OtlpType::kOffCpu)] = ns;
  return values;
}

class OtlpProfilesTest : public testing::Test {
 protected:
  OtlpProfilesTest() : profiles_({.resource = "R", .scope = "S", .schema_url = "U"}) {
    profiles_.SetFields(OtlpType::kOffCpu, {.before = "B", .after = "A"});
  }
  std::string Bytes() const {
    std::string bytes;
    profiles_.AppendTo(&bytes);
    EXPECT_EQ(bytes.size(), profiles_.bytes());
    return bytes;
  }

  OtlpProfiles profiles_;
};

// The fields that are given are strange to the format: they show where they go.
constexpr char kOneSample[] =
    "R"
    "\x12\x0d"      // ResourceProfiles.scope_profiles
    "S"             //
    "\x12\x09"      // ScopeProfiles.profiles
    "B"             //
    "\x12\x05"      // Profile.samples
    "id"            //
    "\x22\x01\x7f"  // Sample.values: 127
    "A"             //
    "U"             // of the scope
    "U";            // of the resource

TEST_F(OtlpProfilesTest, FieldsInTheirOrder) {
  profiles_.Add("id", OffCpu(127));
  EXPECT_EQ(Bytes(), kOneSample);
}

TEST_F(OtlpProfilesTest, ASampleIsTakenBack) {
  profiles_.Add("id", OffCpu(127));
  profiles_.Add("other", OffCpu(1));
  profiles_.TakeBack();
  EXPECT_EQ(Bytes(), kOneSample);
}

TEST_F(OtlpProfilesTest, WhatWasAddedToASampleIsTakenBack) {
  profiles_.Add("id", OffCpu(127));
  profiles_.Add("id", OffCpu(1));
  EXPECT_EQ(profiles_.bytes(), sizeof(kOneSample));  // with 128, which takes two bytes: one more
  profiles_.TakeBack();
  EXPECT_EQ(Bytes(), kOneSample);
}

TEST_F(OtlpProfilesTest, TheOnlySampleIsTakenBack) {
  profiles_.Add("id", OffCpu(127));
  profiles_.TakeBack();
  EXPECT_TRUE(profiles_.empty());
  EXPECT_FALSE(profiles_.Has(OtlpType::kOffCpu));
  profiles_.Add("id", OffCpu(127));
  EXPECT_EQ(Bytes(), kOneSample);
}

}  // namespace
}  // namespace offcpu
