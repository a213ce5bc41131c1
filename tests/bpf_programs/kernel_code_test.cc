#include "bpf_programs/kernel_code.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>

namespace offcpu {
namespace {

constexpr uint64_t kAddress = 0xffffffff81341000;
constexpr std::array<uint8_t, 12> kCode = {
    0x41, 0x54,                    // push %r12
    0xe8, 0xf9, 0x0f, 0x00, 0x00,  // call, 0xff9 from the next instruction, which is at 7: 0x1000 from the first byte
    0xe8, 0xf4, 0xff, 0xff, 0xff,  // call, 12 before the next instruction, which is at 12: the first byte
};

TEST(KernelCode, CallsAreToldByTheirDistance) {
  EXPECT_TRUE(Calls(kCode, kAddress, kAddress + 0x1000));
  EXPECT_TRUE(Calls(kCode, kAddress, kAddress));
  EXPECT_FALSE(Calls(kCode, kAddress, kAddress + 0xfff));
  EXPECT_FALSE(Calls(kCode, kAddress + 1, kAddress + 0x1000));
}

TEST(KernelCode, CallThatIsCutOffIsNone) {
  const std::span<const uint8_t> code = kCode;
  EXPECT_TRUE(Calls(code.first(7), kAddress, kAddress + 0x1000));
  EXPECT_FALSE(Calls(code.first(6), kAddress, kAddress + 0x1000));
  EXPECT_FALSE(Calls({}, kAddress, kAddress));
}

TEST(KernelCode, OtherInstructionsAreNoCalls) {
  std::array<uint8_t, 12> jumps = kCode;
  jumps[2] = 0xe9;  // jmp
  EXPECT_FALSE(Calls(jumps, kAddress, kAddress + 0x1000));
}

}  // namespace
}  // namespace offcpu
