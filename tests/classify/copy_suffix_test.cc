#include "classify/copy_suffix.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(CopySuffixTest, WhatACompilerAppendedGoes) {
  EXPECT_EQ(WithoutCopySuffix("do_sys_poll.constprop.0"), "do_sys_poll");
  EXPECT_EQ(WithoutCopySuffix("f.part.12"), "f");
  EXPECT_EQ(WithoutCopySuffix("f.isra.0.cold"), "f");
  EXPECT_EQ(WithoutCopySuffix("f.lto_priv.0.constprop.1"), "f");
  EXPECT_EQ(WithoutCopySuffix("f.llvm.1234567890"), "f");
}

TEST(CopySuffixTest, OtherNamesStay) {
  for (const char* name :
       {"", "main", "runtime.park_m", "f.0", "part", "f.parts.1", "libx.so.6+0x10", "main.cold_start"})
    EXPECT_EQ(WithoutCopySuffix(name), name);
}

}  // namespace
}  // namespace offcpu
