#include "process/code_object.h"

#include <gtest/gtest.h>

namespace offcpu {
namespace {

TEST(IsPerfMapPath, HasTheNumberOfAProcess) {
  EXPECT_TRUE(IsPerfMapPath("/tmp/perf-1234.map"));
  EXPECT_TRUE(IsPerfMapPath("perf-1.map"));
  for (const char* path :
       {"", "/tmp/perf-.map", "/tmp/perf-x.map", "/tmp/perf-10.map2", "/tmp/x-10.map", "/perf-1.map/x"})
    EXPECT_FALSE(IsPerfMapPath(path)) << path;
}

}  // namespace
}  // namespace offcpu
