#include "bpf_programs/load_failure.h"

#include <gtest/gtest.h>

namespace offcpu {
namespace {

// As libbpf 1.1 words them.
constexpr char kRetry[] =
    "libbpf: Error in bpf_create_map_xattr(stamps):Invalid argument(-22). Retrying without BTF.\n";
constexpr char kRefused[] = "libbpf: prog 'describe_task': BPF program load failed: Invalid argument\n";
constexpr char kLog[] =
    "libbpf: prog 'describe_task': -- BEGIN PROG LOAD LOG --\n"
    "back-edge from insn 57 to 23\n"
    "processed 0 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n"
    "-- END PROG LOAD LOG --\n";

TEST(LoadFailure, SaysWhatWasRefusedAndWhy) {
  LoadFailure failure;
  failure.Hear(kRetry);
  failure.Hear(kRefused);
  failure.Hear(kLog);
  failure.Hear("libbpf: failed to load object 'offcpu_plain'\n");
  EXPECT_EQ(failure.Text(),
            "libbpf: prog 'describe_task': BPF program load failed: Invalid argument: back-edge from insn 57 to 23");
}

TEST(LoadFailure, WithoutALogIsTheFirstWarning) {
  LoadFailure failure;
  failure.Hear("libbpf: map 'captures': failed to create: Cannot allocate memory(-12)\n");
  failure.Hear("libbpf: failed to load object 'offcpu_tw4'\n");
  EXPECT_EQ(failure.Text(), "libbpf: map 'captures': failed to create: Cannot allocate memory(-12)");
}

TEST(LoadFailure, IsOfTheProgramThatWasRefusedFirst) {
  LoadFailure failure;
  failure.Hear(kLog);
  failure.Hear(
      "libbpf: prog 'sched_switch': -- BEGIN PROG LOAD LOG --\nR1 invalid mem access\n-- END PROG LOAD LOG --\n");
  EXPECT_TRUE(failure.Text().ends_with(": back-edge from insn 57 to 23")) << failure.Text();
}

TEST(LoadFailure, ALogMayBeEmptyOrTorn) {
  LoadFailure failure;
  failure.Hear(kRefused);
  failure.Hear("libbpf: prog 'describe_task': -- BEGIN PROG LOAD LOG --\n-- END PROG LOAD LOG --\n");
  EXPECT_EQ(failure.Text(), "libbpf: prog 'describe_task': BPF program load failed: Invalid argument");
  failure.Hear("libbpf: prog 'describe_task': -- BEGIN PROG LOAD LOG --\nR0 is no sca");
  EXPECT_TRUE(failure.Text().ends_with(": R0 is no sca")) << failure.Text();
}

TEST(LoadFailure, NothingHeardIsNothingSaid) { EXPECT_EQ(LoadFailure().Text(), ""); }

}  // namespace
}  // namespace offcpu
