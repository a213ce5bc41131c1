#include "recorder/process_stacks.h"

#include <unistd.h>

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
