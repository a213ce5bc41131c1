// The output of commands of the shell.
#ifndef OFFCPU_TESTS_CMD_SHELL_OUTPUT_H_
#define OFFCPU_TESTS_CMD_SHELL_OUTPUT_H_

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace offcpu {

// What a command of the shell prints; "" and a failure if it fails.
inline std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> bytes;
  while (const size_t got = fread(bytes.data(), 1, bytes.size(), pipe)) output.append(bytes.data(), got);
  const int status = pclose(pipe);
  EXPECT_EQ(status, 0) << command;
  return status == 0 ? output : "";
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_CMD_SHELL_OUTPUT_H_
