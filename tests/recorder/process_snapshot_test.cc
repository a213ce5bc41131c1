// Looks at real processes, of which the test says what the kernel would say.
#include "recorder/process_snapshot.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::Ge;

constexpr CodeVersion kVersion = {.sequence = 2, .hash = 11};
// Mappings of files that no process here has mapped, nor anything else at these addresses.
constexpr CodeMapping kProgram = {.begin = 0x1000, .end = 0x2000, .inode = 5, .device = 0x100006, .changed_ns = 7};
constexpr CodeMapping kLibrary = {.begin = 0x3000, .end = 0x5000, .inode = 6, .device = 0x100006, .changed_ns = 7};
constexpr CodeMapping kAnonymous = {.begin = 0x8000, .end = 0x9000};

std::shared_ptr<Module> FileOf(const CodeMapping& mapping, const std::string& path) {
  auto module = std::make_shared<Module>();
  module->path = path;
  module->matches_file = true;
  module->identity = {.device = makedev(1, 6), .inode = mapping.inode, .changed_ns = mapping.changed_ns};
  module->file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  return module;
}

// A child that has ended and is not waited for. It is still there, but has no memory: who has to read it cannot.
class EndedChild {
 public:
  EndedChild() : pid_(fork()) {
    if (pid_ == 0) _exit(0);
    siginfo_t ended;
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT), 0);
  }
  ~EndedChild() { waitpid(pid_, nullptr, 0); }
  EndedChild(const EndedChild&) = delete;
  EndedChild& operator=(const EndedChild&) = delete;

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

class ProcessSnapshotTest : public ::testing::Test {
 protected:
  ProcessSnapshotTest() {
    Know(kProgram, program_);
    Know(kLibrary, library_);
  }

  void Know(const CodeMapping& mapping, const std::shared_ptr<Module>& module) {
    files_.Learn(mapping, {.begin = mapping.begin, .end = mapping.end, .module = module, .bias = mapping.begin});
  }

  ProcessSnapshot SnapshotBy(const DescribeFunction& describe, pid_t pid) {
    return TakeProcessSnapshot({.pid = pid}, pid, nullptr, describe, modules_, &files_);
  }
  // At one that has this mapped all the time.
  ProcessSnapshot Snapshot(pid_t pid, const std::vector<CodeMapping>& mappings, const CodeVersion& code = kVersion) {
    const auto describe = [&](pid_t tid) {
      return ProcessVersion{.process = {.pid = tid}, .code = code, .mappings = mappings};
    };
    return SnapshotBy(describe, pid);
  }

  const std::shared_ptr<Module> program_ = FileOf(kProgram, "/bin/program");
  const std::shared_ptr<Module> library_ = FileOf(kLibrary, "/lib/library.so");
  SharedFiles files_{10};
  ModuleCache modules_;
  const EndedChild ended_;
};

TEST_F(ProcessSnapshotTest, AProcessOfKnownFilesIsNotRead) {
  const std::vector<CodeMapping> mappings = {kProgram, kLibrary};
  for (const pid_t pid : {ended_.pid(), getpid()}) {
    const ProcessSnapshot snapshot = Snapshot(pid, mappings);
    ASSERT_EQ(snapshot.outcome, SnapshotOutcome::kSeen);
    EXPECT_THAT(snapshot.space->code(),
                ElementsAre(Field(&MappedCode::module, program_), Field(&MappedCode::module, library_)));
    EXPECT_EQ(snapshot.code, kVersion);
    EXPECT_EQ(snapshot.mappings, mappings);
  }
  EXPECT_EQ(modules_.stats().modules, 0u) << "tables are read";
}

TEST_F(ProcessSnapshotTest, AProcessWithAnythingElseIsRead) {
  for (const std::vector<CodeMapping>& mappings :
       {std::vector<CodeMapping>{kAnonymous}, {kProgram, kLibrary, kAnonymous}, {kAnonymous, kProgram, kLibrary}}) {
    EXPECT_EQ(Snapshot(ended_.pid(), mappings).outcome, SnapshotOutcome::kUnreadable);
    const ProcessSnapshot snapshot = Snapshot(getpid(), mappings);
    ASSERT_EQ(snapshot.outcome, SnapshotOutcome::kSeen);
    EXPECT_EQ(snapshot.space->Find(kProgram.begin), nullptr);
    const MappedCode* test = snapshot.space->Find(reinterpret_cast<uint64_t>(&FileOf));
    ASSERT_TRUE(test != nullptr && test->module != nullptr);
    EXPECT_EQ(test->module->path, std::filesystem::read_symlink("/proc/self/exe"));
    EXPECT_THAT(modules_.stats().modules, Ge(2u)) << "this program and the C library";
  }
}

TEST_F(ProcessSnapshotTest, AListThatMayGoOnIsNotBelieved) {
  std::vector<CodeMapping> mappings;
  while (mappings.size() < kMaxListedMappings - 1) {
    mappings.push_back(kLibrary);
    mappings.back().begin += mappings.size() << 20;
    mappings.back().end += mappings.size() << 20;
  }
  EXPECT_EQ(Snapshot(ended_.pid(), mappings).outcome, SnapshotOutcome::kSeen);
  mappings.push_back(kProgram);
  EXPECT_EQ(Snapshot(ended_.pid(), mappings).outcome, SnapshotOutcome::kUnreadable);
  EXPECT_EQ(Snapshot(ended_.pid(), {}).outcome, SnapshotOutcome::kUnreadable);
}

TEST_F(ProcessSnapshotTest, WithoutAHashNothingIsComposed) {
  EXPECT_EQ(Snapshot(ended_.pid(), {kProgram}, {.sequence = 2}).outcome, SnapshotOutcome::kUnreadable);
}

// Another reading may say more of it.
TEST_F(ProcessSnapshotTest, AFileOfWhichNotAllIsKnownIsRead) {
  const auto outcome_with = [this](const std::shared_ptr<Module>& library) {
    Know(kLibrary, library);
    return Snapshot(ended_.pid(), {kProgram, kLibrary}).outcome;
  };
  const std::shared_ptr<Module> over_budget = FileOf(kLibrary, "/lib/library.so");
  over_budget->over_budget = true;
  EXPECT_EQ(outcome_with(over_budget), SnapshotOutcome::kUnreadable);
  EXPECT_EQ(outcome_with(library_), SnapshotOutcome::kSeen);
}

TEST_F(ProcessSnapshotTest, WhatIsComposedTakesOfTheBudget) {
  const ProcessSnapshot snapshot = Snapshot(ended_.pid(), {kProgram, kLibrary});
  EXPECT_EQ(modules_.budget().bytes, 2 * sizeof(MappedCode));
  modules_ = ModuleCache({.memory_bytes = 0});
  EXPECT_EQ(Snapshot(ended_.pid(), {kProgram, kLibrary}).outcome, SnapshotOutcome::kUnreadable);
}

// What the hash stood for before and after is what was composed, whatever else has been mapped.
TEST_F(ProcessSnapshotTest, WhatIsComposedIsOfTheHashAroundIt) {
  const auto snapshot_while = [this](const std::function<void(ProcessVersion&)>& change) {
    ProcessVersion version = {.process = {.pid = ended_.pid()}, .code = kVersion, .mappings = {kProgram}};
    const auto describe = [&](pid_t) {
      const ProcessVersion now = version;
      change(version);
      return now;
    };
    return SnapshotBy(describe, ended_.pid());
  };
  const auto maps_code = [](ProcessVersion& version) {
    version.code = {.sequence = version.code.sequence + 2, .hash = version.code.hash + 1};
  };
  EXPECT_EQ(snapshot_while(maps_code).outcome, SnapshotOutcome::kChanging);
  EXPECT_EQ(snapshot_while([](ProcessVersion& version) { ++version.process.exec_id; }).outcome, SnapshotOutcome::kGone);
  const ProcessSnapshot snapshot = snapshot_while([](ProcessVersion& version) { version.code.sequence += 2; });
  EXPECT_EQ(snapshot.outcome, SnapshotOutcome::kSeen);
  EXPECT_EQ(snapshot.code, (CodeVersion{.sequence = 4, .hash = 11}));
}

}  // namespace
}  // namespace offcpu
