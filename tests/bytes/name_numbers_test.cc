#include "bytes/name_numbers.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(NameNumbersTest, ThreadsThatAreNumberedAreOne) {
  EXPECT_EQ(WithoutDigits("pool-1-thread-12"), "pool-*-thread-*");
  EXPECT_EQ(WithoutDigits("worker7"), "worker*");
  EXPECT_EQ(WithoutDigits("42"), "*");
  EXPECT_EQ(WithoutDigits("sh"), "sh");
  EXPECT_EQ(WithoutDigits(""), "");
}

TEST(NameNumbersTest, DigitsBehindALetterBelongToAProgram) {
  EXPECT_EQ(WithoutNumbers("job-12"), "job-*");
  EXPECT_EQ(WithoutNumbers("kworker/u16:3-events"), "kworker/u16:*-events");
  EXPECT_EQ(WithoutNumbers("kworker/0:1H"), "kworker/*:*H");
  EXPECT_EQ(WithoutNumbers("cc1plus"), "cc1plus");
  EXPECT_EQ(WithoutNumbers("x86_64-linux-gn"), "x86_*-linux-gn");
  EXPECT_EQ(WithoutNumbers("python3.11"), "python3.*");
  EXPECT_EQ(WithoutNumbers("caf\xc3\xa9"
                           "2"),
            "caf\xc3\xa9"
            "2")
      << "a letter beyond ASCII";
}

}  // namespace
}  // namespace offcpu
