#include "process/java_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpu {
namespace {

bool Keeps(const std::vector<std::string>& words) {
  std::string line = std::string("java") + '\0';
  for (const std::string& word : words) line += word + '\0';
  return KeepsFramePointers(line);
}

TEST(JavaOptionsTest, TheLastOneHolds) {
  EXPECT_TRUE(Keeps({"-XX:+PreserveFramePointer", "Main"}));
  EXPECT_TRUE(Keeps({"-Xmx1g", "@options", "-cp", "lib", "-XX:+PreserveFramePointer", "-jar", "x.jar"}));
  EXPECT_FALSE(Keeps({"-XX:+PreserveFramePointer", "-XX:-PreserveFramePointer", "Main"}));
  EXPECT_TRUE(Keeps({"-XX:-PreserveFramePointer", "-XX:+PreserveFramePointer", "Main"}));
  EXPECT_FALSE(Keeps({"Main"}));
  EXPECT_FALSE(Keeps({}));
  EXPECT_FALSE(KeepsFramePointers(""));
}

TEST(JavaOptionsTest, WhatIsTheProgramsOrAValueIsNone) {
  EXPECT_FALSE(Keeps({"Main", "-XX:+PreserveFramePointer"}));
  EXPECT_FALSE(Keeps({"-jar", "-XX:+PreserveFramePointer"}));
  EXPECT_FALSE(Keeps({"-m", "a/b", "-XX:+PreserveFramePointer"}));
  EXPECT_FALSE(Keeps({"-cp", "-XX:+PreserveFramePointer", "Main"}));
  EXPECT_FALSE(Keeps({"-XX:+PreserveFramePointers", "Main"}));
}

TEST(JavaOptionsTest, EveryPrefix) {
  const std::string line = std::string("java\0-XX:+PreserveFramePointer", 30);
  for (size_t size = 0; size < line.size(); ++size) EXPECT_FALSE(KeepsFramePointers(line.substr(0, size))) << size;
  EXPECT_TRUE(KeepsFramePointers(line));
}

}  // namespace
}  // namespace offcpu
