// Objects that this host's compiler makes with the toolchain for SFrame, and a C library: every function and every row,
// compared with what readelf says of them, and what `offcpu sframe` counts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/harness/sframe_verb.h"
#include "tests/unwind/sframe_compare.h"

namespace offcpu::integration {
namespace {

class SFrameToolchain : public SFrameVerbRuns {
 protected:
  void SetUp() override {
    if (access(readelf_.c_str(), X_OK) != 0) GTEST_SKIP() << readelf_ << ": not there; see scripts/sframe-toolchain";
  }

  // Returns the number of rows.
  size_t Compare(const std::string& path) {
    EXPECT_EQ(RunWords({readelf_, "--sframe", path}), 0) << errors_;
    const std::string said(output_);
    ExpectAsReadelf(path, said);
    std::istringstream lines(said);
    const SFrameObject object = ReadSFrameObject(path);
    const size_t rows = CompareWithReadelf(object, lines);
    EXPECT_GT(CompareWithEhFrame(object), rows / 10 * 9);
    return rows;
  }

  const std::string toolchain_ = OFFCPU_SFRAME_TOOLCHAIN;
  const std::string readelf_ = toolchain_ + "/bin/readelf";
};

TEST_F(SFrameToolchain, ALargeProgramOfCpp) {
  const std::string source = OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/sframe/cpp.cc";
  ASSERT_EQ(RunWords({"g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-fcf-protection", "-Wa,--gsframe",
                      "-B" + toolchain_ + "/bin/", "-o", Path("cpp.so"), source}),
            0)
      << errors_;
  EXPECT_GT(Compare(Path("cpp.so")), 1000u);
}

TEST_F(SFrameToolchain, Libc) {
  const std::string path = toolchain_ + "/libc/lib/libc.so.6";
  if (access(path.c_str(), R_OK) != 0) GTEST_SKIP() << path << ": not there; see WITH_LIBC in scripts/sframe-toolchain";
  EXPECT_GT(Compare(path), 10000u);
}

}  // namespace
}  // namespace offcpu::integration
