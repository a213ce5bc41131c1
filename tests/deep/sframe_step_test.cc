// At every single instruction, programs that hold a C library, or load one that SFrame describes.
#include <unistd.h>

#include "tests/deep/single_step.h"

namespace offcpu::integration {
namespace {

bool IsBuilt(const std::string& name) { return access((OFFCPU_BIN_DIR "/targets/" + name).c_str(), X_OK) == 0; }

TEST_F(SingleStep, EveryCallerIsRightInStaticProgramsWithSFrame) {
  if (!IsBuilt("stepped_sframe_static"))
    GTEST_SKIP() << "no toolchain when this was built; see scripts/sframe-toolchain";
  Check({{"stepped_sframe_static", "short"}, {"stepped_sframe_static_pie", ""}}, {kDefaultOrder, "sframe"});
  ExpectRare();
}

TEST_F(SingleStep, EveryCallerIsRightInALibcWithSFrame) {
  if (!IsBuilt("stepped_sframe_libc")) GTEST_SKIP() << "no such libc; see WITH_LIBC in scripts/sframe-toolchain";
  Check({{"stepped_sframe_libc", "", true}}, {kDefaultOrder, "sframe"});
  ExpectRare();
}

}  // namespace
}  // namespace offcpu::integration
