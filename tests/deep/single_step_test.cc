// At every single instruction, programs of each layout and compiler, and those that SFrame describes.
#include "tests/deep/single_step.h"

namespace offcpu::integration {
namespace {

// What the C library does need not be stepped through by every compiler and option.
TEST_F(SingleStep, EveryCallerIsRight) {
  const std::vector<SteppedProgram> programs = {
      {"stepped", "", true}, {"stepped_static", ""},  {"stepped_static_pie", ""},  {"stepped_cxx", ""},
      {"stepped_O3", ""},    {"stepped_O0", "short"}, {"stepped_no_plt", "short"}, {"stepped_clang", "short"}};
  Check(programs, {kDefaultOrder});
  ExpectRare();
}

TEST_F(SingleStep, EveryCallerIsRightBySFrame) {
  std::vector<SteppedProgram> programs = {{"stepped_sframe", ""}};
  for (const char* name : {"raw_sframe", "raw_sframe_pie", "raw_signal_sframe", "raw_mixed", "raw_all"})
    programs.push_back({name, "3"});  // how often to sleep
  Check(programs, {kDefaultOrder, "sframe"});
  ExpectRare();
}

}  // namespace
}  // namespace offcpu::integration
