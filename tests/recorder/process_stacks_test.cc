#include "recorder/process_stacks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr pid_t kNobody = 0x3fffff;

bool ReadHere(const ReadSubject&, const std::function<void()>& read) {
  read();
  return true;
}

WaitingThread AThread(pid_t tid) {
  WaitingThread thread;
  thread.process = {.pid = 100};
  thread.tid = tid;
  thread.has_user = true;
  return thread;
}

absl::Status Read(pid_t pid, const absl::StatusOr<std::vector<WaitingThread>>& threads) {
  Listing listing;
  listing.list = [&threads](pid_t) { return threads; };
  return ReadProcessStacks(pid, UnwindOrder(), listing, std::make_shared<ModuleCache>(), ReadHere, [] { return false; })
      .status();
}

TEST(ProcessStacksTest, AProcessThatIsNotListedIsNotCalledMissing) {
  const absl::Status status = Read(getpid(), std::vector<WaitingThread>());
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("the kernel lists no thread of process"));
}

TEST(ProcessStacksTest, NoProcessIsNotFound) {
  EXPECT_EQ(Read(kNobody, std::vector<WaitingThread>()), absl::NotFoundError("there is no process 4194303"));
}

TEST(ProcessStacksTest, WhyNothingCanBeListedIsTheError) {
  const absl::Status refused = absl::PermissionDeniedError("cannot list tasks: Operation not permitted");
  EXPECT_EQ(Read(getpid(), refused), refused);
  EXPECT_EQ(Read(kNobody, refused), refused) << "whether there is one is not known";
}

TEST(ProcessStacksTest, WhatHangsIsTriedOnceWhateverItsThreads) {
  std::vector<WaitingThread> threads;
  for (size_t i = 0; i <= kLiveThreadsAtOnce; ++i) threads.push_back(AThread(static_cast<pid_t>(100 + i)));
  Listing listing;
  listing.list = [&threads](pid_t) { return threads; };
  int reads = 0;
  const auto hangs = [&reads](const ReadSubject&, const std::function<void()>&) {
    ++reads;
    return false;
  };
  const absl::StatusOr<ProcessStacks> stacks =
      ReadProcessStacks(100, UnwindOrder(), listing, std::make_shared<ModuleCache>(), hangs, [] { return false; });
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  EXPECT_EQ(reads, 1);
  ASSERT_EQ(stacks->profile.user_stacks.size(), threads.size());
  for (const UserStackEntry& stack : stacks->profile.user_stacks) EXPECT_EQ(stack.missing, NoUserStack::kTargetStuck);
}

// As a worker of io_uring: it has no user stack that could be read, whether it waits or works.
TEST(ProcessStacksTest, AThreadOfTheKernelIsReadOnce) {
  WaitingThread thread = AThread(getpid());
  thread.has_user = false;
  thread.is_kernel = true;
  thread.kernel = {1, 2};
  int lists = 0;
  Listing listing;
  listing.list = [&](pid_t) {
    ++lists;
    return std::vector<WaitingThread>{thread};
  };
  listing.find = [&](pid_t) -> std::optional<WaitingThread> {
    ++thread.switches;
    return thread;
  };
  listing.describe = [&](pid_t) -> std::optional<ProcessVersion> {
    return ProcessVersion{.process = thread.process, .code = {.sequence = 2, .hash = 1}, .mappings = {}};
  };
  const absl::StatusOr<ProcessStacks> stacks =
      ReadProcessStacks(100, UnwindOrder(), listing, std::make_shared<ModuleCache>(), ReadHere, [] { return false; });
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  EXPECT_EQ(stacks->profile.user_stacks[0].missing, NoUserStack::kKernelThread);
  EXPECT_EQ(stacks->profile.kernel_stacks[0].addresses, thread.kernel);
  EXPECT_EQ(lists, 1);
}

// A thread that runs between any two snapshots of it, until it has done so `runs` times.
TEST(ProcessStacksTest, ThreadsThatHaveRunAreReadAgainAtOnce) {
  alignas(16) const std::array<uint64_t, 64> stack = {};
  const auto thread = [&](uint64_t switches) {
    WaitingThread waiting = AThread(getpid());
    waiting.process.pid = getpid();
    waiting.registers.value[kRsp] = reinterpret_cast<uint64_t>(stack.data());
    waiting.switches = switches;
    return waiting;
  };
  const auto missing_after = [&](uint64_t runs) {
    uint64_t switches = 0;
    Listing listing;
    listing.list = [&](pid_t) { return std::vector<WaitingThread>{thread(0)}; };
    listing.find = [&](pid_t) -> std::optional<WaitingThread> { return thread(std::min(++switches, runs)); };
    listing.describe = [&](pid_t) -> std::optional<ProcessVersion> {
      return ProcessVersion{.process = thread(0).process, .code = {.sequence = 2, .hash = 1}, .mappings = {}};
    };
    const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(
        getpid(), UnwindOrder(), listing, std::make_shared<ModuleCache>(), ReadHere, [] { return false; });
    EXPECT_TRUE(stacks.ok()) << stacks.status();
    return stacks->profile.user_stacks[0].missing;
  };
  EXPECT_EQ(missing_after(0), missing_after(100)) << "the first attempt has time for so many";
  EXPECT_NE(missing_after(0), NoUserStack::kStale);
  EXPECT_EQ(missing_after(1'000'000), NoUserStack::kStale) << "the attempts end";
}

TEST(ProcessStacksTest, IsCalledOff) {
  Listing listing;
  listing.list = [](pid_t) { return std::vector<WaitingThread>{AThread(100)}; };
  const auto hangs = [](const ReadSubject&, const std::function<void()>&) { return false; };
  EXPECT_EQ(ReadProcessStacks(100, UnwindOrder(), listing, std::make_shared<ModuleCache>(), hangs, [] { return true; })
                .status()
                .code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace offcpu
