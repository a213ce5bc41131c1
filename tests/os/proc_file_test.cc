#include "os/proc_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace offcpu {
namespace {

TEST(ProcFileTest, ReadsToTheEnd) {
  auto text = ReadProcFile("/proc/self/maps", 64 << 20);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(text->back(), '\n');
}

TEST(ProcFileTest, Limit) {
  const std::string path = ::testing::TempDir() + "proc_file_test-" + std::to_string(getpid());
  const std::string content(200000, 'x');
  std::ofstream(path) << content;
  EXPECT_EQ(ReadProcFile(path, content.size()).value_or(""), content);
  EXPECT_EQ(ReadProcFile(path, content.size() - 1).status().code(), absl::StatusCode::kResourceExhausted);
  unlink(path.c_str());
}

TEST(ProcFileTest, NoSuchProcess) {
  EXPECT_EQ(ReadProcFile("/proc/8388608/maps", 100).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace offcpu
