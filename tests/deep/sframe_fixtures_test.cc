// What is checked in with tables of SFrame is what its scripts make of the sources beside it. Only the versions of the
// compiler and of the tools that made it make the same bytes.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

class SFrameFixtures : public CliTest {
 protected:
  void ExpectAsMade(const std::string& folder, const std::string& tools) {
    if (!std::filesystem::exists(tools)) GTEST_SKIP() << tools << ": not there; see scripts/sframe-toolchain";
    constexpr int kNotComparable = 77;
    const int code = RunWords({OFFCPU_SOURCE_DIR "/tests/" + folder + "/build", "--check", tools});
    if (code == kNotComparable) GTEST_SKIP() << folder << ": " << output_;
    EXPECT_EQ(code, 0) << output_ << errors_;
  }
};

TEST_F(SFrameFixtures, ProgramsAreAsMade) { ExpectAsMade("targets/sframe_fixtures", OFFCPU_SFRAME_TOOLCHAIN); }

TEST_F(SFrameFixtures, ObjectsAreAsMade) { ExpectAsMade("unwind/fixtures/sframe", OFFCPU_SFRAME_TOOLCHAIN "/bin"); }

}  // namespace
}  // namespace offcpu::integration
