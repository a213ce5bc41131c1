#include "classify/interpreted.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(IsInterpretedName, AsRuntimesWriteThemIntoPerfMaps) {
  for (const char* name : {"py::f:/srv/a.py", "JS:~g /srv/a.js:1", "LazyCompile:~h", "Function:~i", "Interpreter"})
    EXPECT_TRUE(IsInterpretedName(name)) << name;
  for (const char* name : {"", "JS:*g /srv/a.js:1", "Interpreter2", "main", "happy::f"})
    EXPECT_FALSE(IsInterpretedName(name)) << name;
}

}  // namespace
}  // namespace offcpu
