// The programs that read our manual pages and completions find no fault with them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/cmd/shell_output.h"

namespace offcpu {
namespace {

const std::string kSource = OFFCPU_SOURCE_DIR;
const std::string kCompletions = kSource + "/packaging/completions/";

bool HasProgram(const std::string& name) {
  return WEXITSTATUS(system(("command -v " + name + " >/dev/null").c_str())) == 0;
}

TEST(Readers, Man) {
  if (!HasProgram("man")) GTEST_SKIP() << "man: not there";
  for (const std::string name : {"offcpu.1", "offcpu-record.1", "offcpu-top.1", "offcpu-report.1", "offcpu-doctor.1",
                                 "offcpu-losses.7", "offcpu-page.7", "offcpud.8", "offcpud.toml.5"})
    EXPECT_EQ(OutputOf("man --warnings -E UTF-8 -l -Tutf8 -Z " + kSource + "/docs/" + name + " 2>&1 >/dev/null"), "");
}

TEST(Readers, Fish) {
  if (!HasProgram("fish")) GTEST_SKIP() << "fish: not there";
  for (const std::string name : {"offcpu.fish", "offcpud.fish"})
    EXPECT_EQ(OutputOf("fish --no-execute " + kCompletions + "fish/" + name + " 2>&1"), "");
}

TEST(Readers, Zsh) {
  if (!HasProgram("zsh")) GTEST_SKIP() << "zsh: not there";
  for (const std::string name : {"_offcpu", "_offcpud"})
    EXPECT_EQ(OutputOf("zsh -n " + kCompletions + "zsh/" + name + " 2>&1"), "");
}

}  // namespace
}  // namespace offcpu
