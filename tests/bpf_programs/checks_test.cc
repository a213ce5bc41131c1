#include "bpf_programs/checks.h"

#include <linux/capability.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t Bit(int capability) { return uint64_t{1} << capability; }

// Linux 6.18 as root.
HostFacts Everything() {
  KernelFeatures features;
  features.switch_tp = features.task_iter = features.exit_tp = features.rq_clock = true;
  features.mm_tree = features.can_read_user = features.kernel_walk = true;
  features.task_work_arguments = 5;
  features.ranges.schedule = {.begin = 0xffffffff81000000, .end = 0xffffffff81001000};
  return {.release = "6.18.0",
          .features = features,
          .process = {.pids = PidNamespace::kHost, .host_users = true, .capabilities = ~uint64_t{0}},
          .load = absl::OkStatus(),
          .kallsyms_readable = true,
          .kptr_restrict = 0,
          .cgroup_mount = "/sys/fs/cgroup"};
}

HostFacts Without(int capability) {
  HostFacts facts = Everything();
  facts.process.capabilities &= ~Bit(capability) & ~Bit(CAP_SYS_ADMIN);
  return facts;
}

// "name: verdict" of all that is not well.
std::vector<std::string> Complaints(const HostFacts& facts) {
  std::vector<std::string> complaints;
  for (const Check& check : CheckHost(facts)) {
    EXPECT_NE(check.found, "") << check.name;
    EXPECT_EQ(check.lost.empty(), check.verdict == Verdict::kOk) << check.name;
    EXPECT_EQ(check.advice.empty(), check.verdict == Verdict::kOk) << check.name;
    if (check.verdict != Verdict::kOk) complaints.push_back(check.name + ": " + std::string(Name(check.verdict)));
  }
  return complaints;
}

Check Find(const HostFacts& facts, const std::string& name) {
  for (const Check& check : CheckHost(facts)) {
    if (check.name == name) return check;
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST(Checks, NothingIsAmissOnARecentKernelAsRoot) {
  const HostFacts facts = Everything();
  EXPECT_THAT(Complaints(facts), IsEmpty());
  EXPECT_TRUE(CanRecord(CheckHost(facts)));
  EXPECT_EQ(UserStackPathOf(*facts.features), UserStackPath::kTaskWork);
  EXPECT_EQ(Find(facts, "task work").found, "takes 5 arguments");
}

TEST(Checks, Linux612CopiesAtTheSwitch) {
  HostFacts facts = Everything();
  facts.features->exit_tp = false;
  facts.features->task_work_arguments = 0;
  EXPECT_THAT(Complaints(facts), ElementsAre("sched_exit_tp: limited", "task work: limited"));
  EXPECT_TRUE(CanRecord(CheckHost(facts)));
  EXPECT_EQ(UserStackPathOf(*facts.features), UserStackPath::kAtOnce);
}

TEST(Checks, Linux61ReadsNoUserMemory) {
  HostFacts facts = Everything();
  facts.features->exit_tp = facts.features->mm_tree = facts.features->can_read_user = facts.features->kernel_walk =
      false;
  facts.features->task_work_arguments = 0;
  EXPECT_THAT(Complaints(facts),
              ElementsAre("sched_exit_tp: limited", "reads of user memory: limited", "task work: limited",
                          "tree of mappings: limited", "kernel's unwind tables: limited"));
  EXPECT_TRUE(CanRecord(CheckHost(facts)));
  EXPECT_EQ(UserStackPathOf(*facts.features), UserStackPath::kWaitingOnly);
}

TEST(Checks, OlderKernelsCannotRecord) {
  HostFacts facts = Everything();
  facts.features->task_iter = false;  // 6.0
  EXPECT_THAT(Complaints(facts), ElementsAre("task iterator: missing"));
  EXPECT_FALSE(CanRecord(CheckHost(facts)));
  facts.features->switch_tp = false;  // 5.17
  EXPECT_THAT(Complaints(facts), ElementsAre("sched_switch: missing", "task iterator: missing"));
}

TEST(Checks, AKernelWithoutGroupSchedulingHasNoClockToRead) {
  HostFacts facts = Everything();
  facts.features->rq_clock = false;
  EXPECT_THAT(Complaints(facts), ElementsAre("scheduler's clock: limited"));
}

TEST(Checks, TaskWorkServesOnlyWhereTheEndOfAWaitIsSeen) {
  KernelFeatures features = *Everything().features;
  features.exit_tp = false;
  EXPECT_EQ(UserStackPathOf(features), UserStackPath::kAtOnce);
}

TEST(Checks, ARealTimeKernelHasTaskWorkThatIsNotUsed) {
  HostFacts facts = Everything();
  facts.features->real_time = true;
  EXPECT_THAT(Complaints(facts), ElementsAre("task work: limited"));
  EXPECT_THAT(Find(facts, "task work").advice, HasSubstr("PREEMPT_RT"));
  EXPECT_EQ(UserStackPathOf(*facts.features), UserStackPath::kAtOnce);
}

TEST(Checks, AKernelWithFramePointersHasNoUnwindTables) {
  HostFacts facts = Everything();
  facts.features->kernel_walk = false;
  EXPECT_THAT(Complaints(facts), ElementsAre("kernel's unwind tables: limited"));
}

TEST(Checks, WithoutTypesTheKernelIsNotJudged) {
  HostFacts facts = Everything();
  facts.features = absl::FailedPreconditionError("no types");
  EXPECT_THAT(Complaints(facts), ElementsAre("type information: missing"));
  EXPECT_EQ(Find(facts, "type information").found, "no types") << "or no sums of waiting";
  std::vector<std::string> names;
  for (const Check& check : CheckHost(facts)) names.push_back(check.name);
  EXPECT_THAT(names, ElementsAre("type information", "pid namespace", "user namespace", "CAP_BPF", "CAP_PERFMON",
                                 "CAP_SYS_PTRACE", "mapped files", "cgroup v2"));
}

TEST(Checks, EachCapabilityIsMissedByItsName) {
  EXPECT_THAT(Complaints(Without(CAP_BPF)), ElementsAre("CAP_BPF: missing"));
  EXPECT_THAT(Complaints(Without(CAP_PERFMON)), ElementsAre("CAP_PERFMON: missing"));
  EXPECT_THAT(Complaints(Without(CAP_SYS_PTRACE)), ElementsAre("CAP_SYS_PTRACE: missing"));
  EXPECT_THAT(Complaints(Without(CAP_DAC_READ_SEARCH)), ElementsAre("mapped files: limited"));
  EXPECT_THAT(Complaints(Without(CAP_CHECKPOINT_RESTORE)), ElementsAre("mapped files: limited"));
}

TEST(Checks, TheCapabilityOfOldStandsForThoseTakenOutOfIt) {
  HostFacts facts = Everything();
  facts.process.capabilities = Bit(CAP_SYS_ADMIN) | Bit(CAP_DAC_READ_SEARCH);
  EXPECT_THAT(Complaints(facts), ElementsAre("CAP_SYS_PTRACE: missing"));
}

TEST(Checks, APidNamespaceOfItsOwn) {
  HostFacts facts = Everything();
  facts.process.pids = PidNamespace::kOwn;
  EXPECT_THAT(Complaints(facts), ElementsAre("pid namespace: limited"));
  EXPECT_EQ(Find(facts, "pid namespace").lost, "processes outside of this container");
}

// `unshare --pid --fork` without --mount-proc.
TEST(Checks, ThePidNamespaceOfProcIsAnother) {
  HostFacts facts = Everything();
  facts.process.pids = PidNamespace::kOtherProc;
  EXPECT_THAT(Complaints(facts), ElementsAre("pid namespace: missing"));
  EXPECT_EQ(Find(facts, "pid namespace").advice, "mount -t proc proc /proc");
}

TEST(Checks, AUserNamespaceOfItsOwn) {
  HostFacts facts = Everything();
  facts.process.host_users = false;
  EXPECT_THAT(Complaints(facts), ElementsAre("user namespace: missing"));
}

TEST(Checks, TheKernelsAnswerIsRepeated) {
  HostFacts facts = Everything();
  facts.load = absl::PermissionDeniedError("not today");
  EXPECT_THAT(Complaints(facts), ElementsAre("loading the programs: missing"));
  EXPECT_EQ(Find(facts, "loading the programs").found, "not today");
}

TEST(Checks, KernelSymbolsMayBeHiddenFromSomeFromAllOrNotThere) {
  HostFacts facts = Everything();
  facts.features->ranges.schedule = {};
  facts.features->kernel_walk = false;  // tables that are not found for this reason are no complaint of their own
  EXPECT_THAT(Complaints(facts), ElementsAre("kernel symbols: limited"));
  EXPECT_THAT(Find(facts, "kernel symbols").advice, HasSubstr("CAP_SYSLOG"));
  facts.kptr_restrict = 2;
  EXPECT_THAT(Find(facts, "kernel symbols").advice, HasSubstr("kernel.kptr_restrict"));
  facts.kallsyms_readable = false;
  EXPECT_THAT(Find(facts, "kernel symbols").advice, HasSubstr("CONFIG_KALLSYMS"));
}

TEST(Checks, WithoutACgroupMountSelectionsByCgroupAreLost) {
  HostFacts facts = Everything();
  facts.cgroup_mount = "";
  EXPECT_THAT(Complaints(facts), ElementsAre("cgroup v2: limited"));
}

}  // namespace
}  // namespace offcpu
