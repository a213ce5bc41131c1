#include "bpf_programs/kernel_ranges.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

// As kallsyms has them: not by address throughout, modules last.
constexpr char kKallsyms[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000a90 T asm_exc_page_fault\n"
    "ffffffff81000d40 T asm_common_interrupt\n"
    "ffffffff81000db0 T asm_sysvec_error_interrupt\n"
    "ffffffff81000df0 T asm_sysvec_apic_timer_interrupt\n"
    "ffffffff81000f70 T __irqentry_text_end\n"
    "ffffffff81001000 T asm_exc_nmi\n"
    "ffffffff82204b90 T __do_softirq\n"
    "ffffffff82204b9c t next_function\n"
    "ffffffff81362070 t handle_softirqs\n"
    "ffffffff813aa620 T try_to_wake_up\n"
    "ffffffff813aac80 T wake_up_process\n"
    "ffffffff82000000 t __schedule\n"
    "ffffffff82000800 T schedule\n"
    "ffffffffc0001000 t process_backlog\t[module]\n";

TEST(KernelRangesTest, AFunctionReachesToTheNextSymbol) {
  const KernelRanges ranges = FindKernelRanges(kX86_64, kKallsyms);
  EXPECT_EQ(ranges.schedule.begin, 0xffffffff82000000u);
  EXPECT_EQ(ranges.schedule.end, 0xffffffff82000800u);
  EXPECT_EQ(ranges.schedule_tail.begin, 0u);
  EXPECT_EQ(ranges.schedule_tail.end, 0u);
  EXPECT_EQ(ranges.wakers.try_to_wake_up.end, 0xffffffff813aac80u);
  EXPECT_EQ(ranges.wakers.softirqs[0].end, 0xffffffff82204b9cu);
  EXPECT_EQ(ranges.wakers.softirqs[1].end, 0xffffffff813aa620u);
  EXPECT_EQ(ranges.wakers.backlog.begin, 0xffffffffc0001000u);
}

TEST(KernelRangesTest, TheKernelIsEnteredBetweenTwoMarks) {
  const KernelRanges ranges = FindKernelRanges(kX86_64,
                                               "ffffffff82400000 T __entry_text_start\n"
                                               "ffffffff82400000 T entry_SYSCALL_64\n"
                                               "ffffffff82400100 T asm_exc_page_fault\n"
                                               "ffffffff82401d80 T __entry_text_end\n"
                                               "ffffffff82401d80 T next\n");
  EXPECT_EQ(ranges.entry.begin, 0xffffffff82400000u);
  EXPECT_EQ(ranges.entry.end, 0xffffffff82401d80u);
}

TEST(KernelRangesTest, TheReadOfUserMemoryEndsAtTheNextFunction) {
  const KernelRanges ranges = FindKernelRanges(kX86_64,
                                               "ffffffff81341000 T copy_from_user_nofault\n"
                                               "ffffffff81341090 T next\n"
                                               "ffffffff8106a000 T nmi_uaccess_okay\n");
  EXPECT_EQ(ranges.nofault_copy.begin, 0xffffffff81341000u);
  EXPECT_EQ(ranges.nofault_copy.end, 0xffffffff81341090u);
  EXPECT_EQ(ranges.uaccess_check, 0xffffffff8106a000u);
}

TEST(KernelRangesTest, InterruptsAreEnteredApartFromExceptions) {
  const WakerRanges wakers = FindKernelRanges(kX86_64, kKallsyms).wakers;
  EXPECT_EQ(wakers.interrupts[0].begin, 0xffffffff81000d40u);
  EXPECT_EQ(wakers.interrupts[0].end, 0xffffffff81000f70u);
  EXPECT_TRUE(wakers.can_tell());
}

TEST(KernelRangesTest, ExceptionsBetweenThemMeanThatNothingCanBeTold) {
  const std::string mixed = std::string(kKallsyms) + "ffffffff81000dd0 T asm_exc_double_fault\n";
  EXPECT_EQ(FindKernelRanges(kX86_64, mixed).wakers.interrupts[0].end, 0u);
  EXPECT_FALSE(FindKernelRanges(kX86_64, mixed).wakers.can_tell());
}

// Without the right to see addresses they are all 0.
TEST(KernelRangesTest, WithoutAddressesThereAreNone) {
  for (const char* text : {"", "\n\n", "0000000000000000 T __schedule\n0000000000000000 T asm_common_interrupt\n",
                           "ffff", "ffff T", "x T __schedule", "ffff T \n", "ffff  "}) {
    const KernelRanges ranges = FindKernelRanges(kX86_64, text);
    EXPECT_EQ(ranges.schedule.begin, 0u) << text;
    EXPECT_FALSE(ranges.wakers.can_tell()) << text;
  }
}

constexpr char kUnwindTables[] =
    "ffffffff81000000 T _stext\n"
    "ffffffff81001000 T ret_from_fork_asm\n"
    "ffffffff821f7be0 T __sched_text_start\n"
    "ffffffff822006f7 T __sched_text_end\n"
    "ffffffff82200700 T __lock_text_start\n"
    "ffffffff82202148 T __lock_text_end\n"
    "ffffffff822090c8 T _etext\n"
    "ffffffff82fffff0 R __start_orc_header\n"
    "ffffffff83000000 R __start_orc_unwind_ip\n"
    "ffffffff83000000 R __stop_orc_header\n"
    "ffffffff83000028 R __start_orc_unwind\n"
    "ffffffff83000028 R __stop_orc_unwind_ip\n";

TEST(KernelRangesTest, UnwindTablesHaveTenRowsOfTwoKinds) {
  const KernelWalkRanges walk =
      FindKernelRanges(kX86_64, std::string(kUnwindTables) + "ffffffff83000064 R __stop_orc_unwind\n").walk;
  EXPECT_TRUE(walk.can_walk(kX86_64));
  EXPECT_EQ(walk.orc.rows(), 10u);
  EXPECT_EQ(walk.orc.header.begin, 0xffffffff82fffff0u);
  EXPECT_EQ(walk.orc.addresses.begin, 0xffffffff83000000u);
  EXPECT_EQ(walk.orc.entries.begin, 0xffffffff83000028u);
  EXPECT_EQ(walk.text.end, 0xffffffff822090c8u);
  EXPECT_EQ(walk.ret_from_fork, 0xffffffff81001000u);
  EXPECT_EQ(walk.orc.modules, 0u);
}

TEST(KernelRangesTest, ModulesHaveTablesOfTheirOwn) {
  const KernelWalkRanges walk =
      FindKernelRanges(kX86_64, std::string(kUnwindTables) + "ffffffff83400000 D modules\n").walk;
  EXPECT_EQ(walk.orc.modules, 0xffffffff83400000u);
}

TEST(KernelRangesTest, UnwindTablesThatAreNotOfOneSizeAreNotUsed) {
  EXPECT_FALSE(FindKernelRanges(kX86_64, std::string(kUnwindTables) + "ffffffff8300006a R __stop_orc_unwind\n")
                   .walk.can_walk(kX86_64));
  EXPECT_FALSE(FindKernelRanges(kX86_64, kUnwindTables).walk.can_walk(kX86_64));
  EXPECT_FALSE(FindKernelRanges(kX86_64, kKallsyms).walk.can_walk(kX86_64));
}

// As kallsyms of AArch64 have them: no tables, one entry for all interrupts, and older kernels' trampoline of probes.
TEST(KernelRangesTest, FrameRecordsNeedNoTables) {
  const KernelRanges ranges = FindKernelRanges(kAArch64,
                                               "ffff800080010000 T _stext\n"
                                               "ffff800080012000 t do_interrupt_handler\n"
                                               "ffff800080012080 t el0_svc\n"
                                               "ffff800080014000 T ret_from_fork\n"
                                               "ffff800080015000 T __kretprobe_trampoline\n"
                                               "ffff800080016000 T return_to_handler\n"
                                               "ffff800080017000 t handle_softirqs\n"
                                               "ffff800080018000 T __do_softirq\n"
                                               "ffff800080a00000 T __sched_text_start\n"
                                               "ffff800080a08000 T __sched_text_end\n"
                                               "ffff800080a08000 T __lock_text_start\n"
                                               "ffff800080a09000 T __lock_text_end\n"
                                               "ffff800080b00000 T _etext\n");
  EXPECT_TRUE(ranges.walk.can_walk(kAArch64));
  EXPECT_FALSE(ranges.walk.can_walk(kX86_64));
  EXPECT_EQ(ranges.walk.ret_from_fork, 0xffff800080014000u);
  EXPECT_EQ(ranges.walk.trampolines[0], 0xffff800080015000u);
  EXPECT_EQ(ranges.walk.trampolines[1], 0xffff800080016000u);
  EXPECT_TRUE(ranges.wakers.can_tell());
  EXPECT_EQ(ranges.wakers.interrupts[0].begin, 0xffff800080012000u);
  EXPECT_EQ(ranges.wakers.interrupts[0].end, 0xffff800080012080u);
  EXPECT_FALSE(FindKernelRanges(kAArch64, kUnwindTables).walk.can_walk(kAArch64)) << "ret_from_fork_asm is of x86-64";
}

}  // namespace
}  // namespace offcpu
