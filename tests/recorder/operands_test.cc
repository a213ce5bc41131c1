#include "recorder/operands.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

// Exits at once and is not reaped before this object goes.
class Zombie {
 public:
  Zombie() : pid_(fork()) {
    if (pid_ == 0) _exit(0);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  ~Zombie() { waitpid(pid_, nullptr, 0); }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Selection, AProcessIsNamedByItsFirstThread) {
  EXPECT_TRUE(CheckProcess(getpid()).ok());
  std::thread([] {
    const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
    EXPECT_TRUE(CheckThread(tid).ok());
    const absl::Status status = CheckProcess(tid);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(status.message()).find(std::to_string(getpid())), std::string::npos) << "says which one";
  }).join();
}

TEST(Selection, WhatDoesNotExistIsNotFound) {
  constexpr pid_t kNobody = 1 << 30;  // above any pid_max
  EXPECT_EQ(CheckProcess(kNobody).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckThread(kNobody).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckProcess(0).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CheckProcess(-1).code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(CgroupDirectory("/no/such/group").ok());
}

TEST(Selection, UsersHaveNumbersAndNames) {
  EXPECT_EQ(*FindUser("root"), 0u);
  EXPECT_EQ(*FindUser("12345"), 12345u);
  EXPECT_EQ(FindUser("nobody knows").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(FindUser("").ok());
  EXPECT_FALSE(FindUser("-1").ok());
}

TEST(Selection, StatesHaveNamesAndLetters) {
  EXPECT_EQ(*FindState("S"), WaitKind::kSleeping);
  EXPECT_EQ(*FindState("disk"), WaitKind::kDisk);
  EXPECT_EQ(*FindState("R"), WaitKind::kPreempted);
  for (const char* name : {"", "s", "open", "other", "SD"}) EXPECT_FALSE(FindState(name).ok()) << name;
}

TEST(Selection, AZombieHasEnded) {
  for (const auto has_ended : {ThreadHasEnded, ProcessHasEnded}) {
    EXPECT_FALSE(has_ended(getpid()));
    EXPECT_TRUE(has_ended(1 << 30));
    const Zombie zombie;
    EXPECT_TRUE(has_ended(zombie.pid()));
  }
  const Zombie zombie;
  for (const auto check : {CheckProcess, CheckUserProcess, CheckThread}) {
    const absl::Status status = check(zombie.pid());
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_NE(std::string(status.message()).find("has ended"), std::string::npos) << status;
  }
}

// However a process calls itself, its state is distinguished from its name.
TEST(Selection, ANameThatSnapshotsLikeAState) {
  std::thread([] {
    const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
    ASSERT_EQ(pthread_setname_np(pthread_self(), "a) Z 1 (b) Z 1"), 0);
    EXPECT_FALSE(ThreadHasEnded(tid));
  }).join();
}

}  // namespace
}  // namespace offcpu
