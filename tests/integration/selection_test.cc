// What is recorded is what was selected, decided in the kernel.
#include <gtest/gtest.h>
#include <mntent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "process/container.h"
#include "tests/harness/harness.h"
#include "tests/harness/pod_of_kubernetes.h"
#include "tests/harness/selection.h"

namespace offcpu::integration {
namespace {

constexpr uint64_t kMostOfIt = 200'000'000;  // of what one thread waits in a run

bool Any(const StackRow&) { return true; }

class Selection : public SelectionTest {
 protected:
  Selection() : SelectionTest("0.4") {}

  void ExpectOnlyWanted(const Recording& recording) {
    EXPECT_GT(NsOf(recording, wanted_->pid()), kMostOfIt) << recording.LossesText();
    EXPECT_EQ(recording.Sum(Any).ns, NsOf(recording, wanted_->pid()));
  }
};

TEST_F(Selection, WholeHostIsEverybodyButTheRecorder) {
  const Recording recording = RecordBoth({});
  EXPECT_GT(NsOf(recording, wanted_->pid()), kMostOfIt) << recording.LossesText();
  EXPECT_GT(NsOf(recording, other_->pid()), kMostOfIt) << recording.LossesText();
  EXPECT_EQ(NsOf(recording, getpid()), 0u) << "the recorder runs in this process";
  EXPECT_EQ(NsOf(recording, 0), 0u) << "the idle task";
}

TEST_F(Selection, Pid) { ExpectOnlyWanted(RecordBoth({{.pids = {wanted_->pid()}}})); }

TEST_F(Selection, CommIsThatOfTheThread) {
  const Recording recording = RecordBoth({{.pids = {wanted_->pid()}, .comms = {"w_p*", "w_?poll"}}});
  for (const StackRow& row : recording.Rows(Any)) {
    EXPECT_TRUE(row.comm == "w_pipe" || row.comm == "w_poll" || row.comm == "w_epoll") << row.comm;
  }
  for (const char* thread : {"w_pipe", "w_poll", "w_epoll"}) {
    EXPECT_GT(recording.Sum([&](const StackRow& row) { return row.comm == thread; }).ns, 0u) << thread;
  }
}

TEST_F(Selection, ExcludedProcessesAreNotRecorded) {
  const std::vector<pid_t> both = {wanted_->pid(), other_->pid()};
  ExpectOnlyWanted(RecordBoth({{.pids = both, .excluded_pids = {other_->pid()}}}));
}

TEST_F(Selection, ExcludedNamesOfThreadsAreNotRecorded) {
  const Recording recording =
      RecordBoth({{.pids = {wanted_->pid()}, .comms = {"w_*"}, .excluded_comms = {"w_e*", "w_pipe"}}});
  const auto ns_of = [&](const char* thread) {
    return recording.Sum([&](const StackRow& row) { return row.comm == thread; }).ns;
  };
  EXPECT_GT(ns_of("w_poll"), 0u);
  EXPECT_EQ(ns_of("w_pipe") + ns_of("w_epoll") + ns_of("waits"), 0u);
}

TEST_F(Selection, Tid) {
  const Recording recording = RecordBoth({{.tids = {wanted_->pid()}}});  // the main thread
  ExpectOnlyWanted(recording);
  for (const StackRow& row : recording.Rows(Any)) EXPECT_EQ(row.comm, "waits");
}

TEST_F(Selection, MinWaitLeavesOutAndCounts) {
  constexpr uint64_t kMinWait = 1'000'000;
  const Recording recording = RecordBoth({{{.min_wait_ns = kMinWait}, {wanted_->pid()}}});
  for (const StackRow& row : recording.Rows(Any)) {
    EXPECT_GE(row.row->max_ns, kMinWait);
    EXPECT_GE(row.row->total_ns(), row.row->count * kMinWait);
  }
  const Loss* loss = recording.FindLoss("shorter than --min-wait");
  ASSERT_NE(loss, nullptr) << recording.LossesText();
  EXPECT_LT(loss->ns, loss->count * kMinWait);
}

TEST_F(Selection, MaxWaitLeavesOutAndCounts) {
  constexpr uint64_t kMaxWait = 2'000'000;
  const Recording recording = RecordBoth({{{.max_wait_ns = kMaxWait}, {wanted_->pid()}}});
  EXPECT_FALSE(recording.profile.rows.empty());
  for (const StackRow& row : recording.Rows(Any)) EXPECT_LE(row.row->max_ns, kMaxWait);
  const Loss* loss = recording.FindLoss("longer than --max-wait");
  ASSERT_NE(loss, nullptr) << recording.LossesText();
  EXPECT_GT(loss->ns, loss->count * kMaxWait);
}

TEST_F(Selection, StatesLeaveOutAndCount) {
  // Two that want the same CPU.
  const std::unique_ptr<Program> one = StartBusyLoop(0);
  const std::unique_ptr<Program> two = StartBusyLoop(0);
  const Recording recording =
      RecordBoth({{{.kinds = {WaitKind::kPreempted}}, {wanted_->pid(), one->pid(), two->pid()}}});
  for (const StackRow& row : recording.Rows(Any)) {
    EXPECT_TRUE(row.row->kind == WaitKind::kPreempted || row.row->kind == WaitKind::kOpen) << Name(row.row->kind);
    EXPECT_EQ(row.row->blocked_ns, 0u) << Name(row.row->kind) << " " << row.comm << "\n" << row.Text();
  }
  EXPECT_GT(NsOf(recording, one->pid()) + NsOf(recording, two->pid()), kMostOfIt) << recording.LossesText();
  const Loss* loss = recording.FindLoss("not of --state");
  ASSERT_NE(loss, nullptr) << recording.LossesText();
  EXPECT_GT(loss->ns, kMostOfIt) << "of the one that sleeps";
}

TEST_F(Selection, UidIsTheEffectiveOne) {
  const std::unique_ptr<Program> user =
      Program::Start({"setpriv", "--reuid=4711", "sh", "-c", "echo; while read line; do sleep 0.01; done"});
  std::string line;
  ASSERT_TRUE(user->ReadLine(&line));
  other_->Go();
  for (int i = 0; i < 100; ++i) user->Write("\n");
  const Recording recording = Record({{.uids = {4711}}}, *wanted_);
  EXPECT_GT(NsOf(recording, user->pid()), 0u);
  EXPECT_EQ(NsOf(recording, wanted_->pid()), 0u);
  EXPECT_EQ(NsOf(recording, other_->pid()), 0u);
}

TEST_F(Selection, ThreadsThatSleepThroughoutAreCounted) {
  // Not let go, so that all of its threads stand at the gate.
  RecordConfig config = {{.pids = {wanted_->pid(), other_->pid()}}};
  config.show_sleepers = false;
  const Recording recording = Record(config, *wanted_);
  EXPECT_GE(recording.profile.stats.slept_throughout, 9u);
  EXPECT_EQ(NsOf(recording, other_->pid()), 0u);
}

class CgroupSelection : public Selection {
 protected:
  void SetUp() override {
    std::unique_ptr<FILE, int (*)(FILE*)> mounts(setmntent("/proc/self/mounts", "r"), endmntent);
    for (const mntent* m; mount_.empty() && (m = getmntent(mounts.get())) != nullptr;) {
      if (std::strcmp(m->mnt_type, "cgroup2") == 0) mount_ = m->mnt_dir;
    }
    if (mount_.empty()) GTEST_SKIP() << "no cgroup v2 hierarchy is mounted";
    outer_ = mount_ + "/offcpu-test-" + std::to_string(getpid());
    inner_ = outer_ + "/" + id_;
    ASSERT_EQ(mkdir(outer_.c_str(), 0755), 0) << strerror(errno);
    ASSERT_EQ(mkdir(inner_.c_str(), 0755), 0) << strerror(errno);
    Selection::SetUp();
    Move(inner_);
  }

  void TearDown() override {
    if (mount_.empty()) return;
    wanted_.reset();
    other_.reset();
    rmdir(inner_.c_str());
    rmdir(outer_.c_str());
  }

  void Move(const std::string& cgroup) const {
    std::ofstream procs(cgroup + "/cgroup.procs");
    procs << wanted_->pid() << std::flush;
    ASSERT_TRUE(procs.good()) << cgroup;
  }

  const std::string id_ = PodOfKubernetes::id();
  std::string mount_;
  std::string outer_;
  std::string inner_;
};

TEST_F(CgroupSelection, BelongsToThoseAboveToo) { ExpectOnlyWanted(RecordBoth({{.cgroups = {outer_}}})); }

// Rows of waits, of those that have not ended, and of samples have what /proc says of the thread.
TEST_F(CgroupSelection, RowsHaveTheControlGroupOfTheirThread) {
  RecordConfig config = {{.pids = {wanted_->pid(), other_->pid()}}};
  config.oncpu_hz = 999;
  const Recording recording = RecordBoth(config);
  std::set<WaitKind> kinds;
  for (const StackRow& row : recording.Rows(Any)) {
    ASSERT_NE(row.row->control_group, 0u) << row.Text();
    const std::string& path = recording.profile.control_groups.at(row.row->control_group - 1);
    const bool is_wanted = row.process->key.pid == wanted_->pid();
    EXPECT_EQ(path == inner_.substr(mount_.size()), is_wanted) << path;
    if (is_wanted) kinds.insert(row.row->kind);
  }
  EXPECT_TRUE(kinds.contains(WaitKind::kSleeping));
  EXPECT_TRUE(kinds.contains(WaitKind::kOpen));
}

TEST_F(CgroupSelection, ExcludedCgroupsAreNotRecorded) {
  const Recording recording = RecordBoth({{.pids = {wanted_->pid(), other_->pid()}, .excluded_cgroups = {outer_}}});
  EXPECT_EQ(NsOf(recording, wanted_->pid()), 0u);
  EXPECT_GT(NsOf(recording, other_->pid()), kMostOfIt) << recording.LossesText();
}

TEST_F(CgroupSelection, ContainerIsFoundByTheBeginningOfItsId) {
  const absl::StatusOr<std::string> found = FindContainerCgroup(mount_, id_.substr(0, 12));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(*found, inner_);
  const Recording recording = RecordBoth({{.cgroups = {*found}}});
  ExpectOnlyWanted(recording);
  for (const StackRow& row : recording.Rows(Any)) EXPECT_EQ(row.process->container, id_);
}

}  // namespace
}  // namespace offcpu::integration
