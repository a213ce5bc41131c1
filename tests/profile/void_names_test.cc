#include "profile/void_names.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(VoidNames, AreThoseThatWereAdded) {
  VoidNames names;
  EXPECT_FALSE(names.Contains(1));
  names.Add(1);
  EXPECT_TRUE(names.Contains(1));
  EXPECT_FALSE(names.Contains(2));
}

TEST(VoidNames, AreAllWhenThereAreTooMany) {
  VoidNames names;
  for (uint64_t name = 1; name < VoidNames::kMost; ++name) names.Add(name);
  EXPECT_FALSE(names.Contains(VoidNames::kMost + 5));
  names.Add(VoidNames::kMost);
  EXPECT_TRUE(names.Contains(VoidNames::kMost + 5));
  names.Add(VoidNames::kMost + 1);
  EXPECT_TRUE(names.Contains(VoidNames::kMost + 5));
}

}  // namespace
}  // namespace offcpu
