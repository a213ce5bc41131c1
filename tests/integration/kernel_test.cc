// What the recorder finds out of the running kernel before it loads its programs. Needs root.
#include "bpf_programs/kernel.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "bpf_programs/kernel_code.h"

namespace offcpu::integration {
namespace {

KernelRanges Ranges() {
  std::ostringstream text;
  text << std::ifstream("/proc/kallsyms").rdbuf();
  return FindKernelRanges(kHostMachine, text.str());
}

// Both mended, and in the form that is known, in all kernels that a test is run on.
TEST(Kernel, OffersWhatUserStacksTake) {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  ASSERT_TRUE(features.ok()) << features.status();
  EXPECT_TRUE(features->mm_tree);
  EXPECT_TRUE(features->can_read_user);
}

// d319f344561d, of Linux 6.4 and of 6.1.36.
TEST(Kernel, CodeOfTheMendedReadAsksBeforeItReads) {
  const KernelRanges ranges = Ranges();
  const absl::StatusOr<std::vector<uint8_t>> code = ReadKernelCode(ranges.nofault_copy.begin);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_TRUE(Calls(*code, ranges.nofault_copy.begin, ranges.uaccess_check));
  EXPECT_FALSE(Calls(*code, ranges.nofault_copy.begin, ranges.schedule.begin));
}

TEST(Kernel, AddressThatIsNoneHasNoCode) { EXPECT_FALSE(ReadKernelCode(0x1000).ok()); }

}  // namespace
}  // namespace offcpu::integration
