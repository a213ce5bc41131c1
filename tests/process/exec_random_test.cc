#include "process/exec_random.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>

#include "tests/process/forked_child.h"

namespace offcpu {
namespace {

TEST(ExecImageTest, IsWhatTheKernelHasGivenTheProgram) {
  ExecRandom own;
  std::memcpy(own.data(), reinterpret_cast<const void*>(getauxval(AT_RANDOM)), own.size());
  EXPECT_EQ(ReadExecRandom(getpid()), own);
}

TEST(ExecImageTest, AForkedProcessHasItsParents) {
  EXPECT_EQ(ReadExecRandom(ForkedChild(/*execs=*/false).pid()), ReadExecRandom(getpid()));
}

TEST(ExecImageTest, AProgramOfItsOwnHasAnother) {
  const auto of_child = ReadExecRandom(ForkedChild(/*execs=*/true).pid());
  ASSERT_TRUE(of_child.has_value());
  EXPECT_NE(of_child, ReadExecRandom(getpid()));
}

TEST(ExecImageTest, NoProcessHasNone) { EXPECT_FALSE(ReadExecRandom(-1).has_value()); }

}  // namespace
}  // namespace offcpu
