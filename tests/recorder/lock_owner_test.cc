#include "recorder/lock_owner.h"

#include <linux/futex.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <span>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kBase = 0x7f0000001000;
constexpr uint32_t kWait = FUTEX_WAIT_PRIVATE;
constexpr uint32_t kTimed = FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME;

// `words` from the futex word on; for musl the word before it, too.
int32_t OwnerIn(const std::array<uint32_t, 6>& words, uint32_t operation, uint32_t value, size_t word = 0) {
  const SpanMemory memory(kBase, std::as_bytes(std::span(words)));
  return LockOwnerIn({.address = kBase + 4 * word, .operation = operation, .value = value}, memory);
}

// As glibc 2.36 lays pthread_mutex_t out: lock, count, owner, users, kind.
TEST(LockOwnerTest, IsInAMutexOfGlibc) {
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0}, kWait, 2), 1234);
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0}, FUTEX_WAIT, 2), 1234) << "shared between processes";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0}, kTimed, 2), 1234) << "pthread_mutex_timedlock";
  EXPECT_EQ(OwnerIn({2, 3, 1234, 1, 1}, kWait, 2), 1234) << "recursive, locked three times";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 2}, kWait, 2), 1234) << "that checks for errors";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 3}, kWait, 2), 1234) << "adaptive";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0x80}, kWait, 2), 1234) << "shared between processes";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0x100}, kWait, 2), 1234) << "with elision";
}

TEST(LockOwnerTest, IsNotGuessedFromWhatIsNoMutex) {
  EXPECT_EQ(OwnerIn({1, 0, 1234, 1, 0}, kWait, 2), 0) << "nobody waits any more";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0}, kWait, 1), 0) << "waits for another value";
  EXPECT_EQ(OwnerIn({2, 7, 1234, 1, 0}, kWait, 2), 0) << "is counted, but not recursive";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 1}, kWait, 2), 0) << "is recursive, but not counted";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 0, 0}, kWait, 2), 0) << "has an owner, but no users";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 0xffffffff, 0}, kWait, 2), 0);
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 4}, kWait, 2), 0) << "no such type";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0x12345678}, kWait, 2), 0);
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0x10}, kWait, 2), 0) << "a robust one has its owner in the word";
  EXPECT_EQ(OwnerIn({2, 0, 1234, 1, 0}, FUTEX_WAKE_PRIVATE, 2), 0);
  EXPECT_EQ(OwnerIn({0, 0, 0, 0, 0}, kTimed, 0), 0) << "a condition variable";
}

TEST(LockOwnerTest, IsInTheWordOfARobustMutexOfGlibc) {
  const uint32_t word = FUTEX_WAITERS | 1234;
  EXPECT_EQ(OwnerIn({word, 1, 1234, 1, 0x10}, kWait, word), 1234);
  EXPECT_EQ(OwnerIn({word, 1, 1234, 1, 0x90}, FUTEX_WAIT, word), 1234);
  EXPECT_EQ(OwnerIn({word, 1, 1235, 1, 0x10}, kWait, word), 0) << "they differ";
  EXPECT_EQ(OwnerIn({word, 1, 1234, 1, 0}, kWait, word), 0) << "is not robust";
  EXPECT_EQ(OwnerIn({1234, 1, 1234, 1, 0x10}, kWait, 1234), 0) << "pthread_join waits for a word like this";
  EXPECT_EQ(OwnerIn({word + 1, 1, 1234, 1, 0x10}, kWait, word), 0) << "has changed";
}

// As musl 1.2 lays pthread_mutex_t out: type, lock, waiters.
TEST(LockOwnerTest, IsInTheWordOfAMutexOfMusl) {
  const uint32_t word = FUTEX_WAITERS | 1234;
  EXPECT_EQ(OwnerIn({1, word, 1}, kWait, word, 1), 1234) << "recursive";
  EXPECT_EQ(OwnerIn({2, word, 3}, kWait, word, 1), 1234) << "that checks for errors";
  EXPECT_EQ(OwnerIn({5, word, 1}, kWait, word, 1), 1234) << "robust";
  EXPECT_EQ(OwnerIn({0, FUTEX_WAITERS | 16, 1}, kWait, FUTEX_WAITERS | 16, 1), 0) << "EBUSY: it notes no owner";
  EXPECT_EQ(OwnerIn({1, word, 0}, kWait, word, 1), 0) << "nobody waits";
  EXPECT_EQ(OwnerIn({0x101, word, 1}, kWait, word, 1), 0) << "no such type";
}

TEST(LockOwnerTest, IsInTheWordOfAFutexThatTheKernelHandsOn) {
  const uint32_t word = FUTEX_WAITERS | 1234;
  EXPECT_EQ(OwnerIn({word}, FUTEX_LOCK_PI_PRIVATE, 0), 1234);
  EXPECT_EQ(OwnerIn({word}, FUTEX_LOCK_PI2_PRIVATE, 0), 1234);
  EXPECT_EQ(OwnerIn({1234}, FUTEX_LOCK_PI_PRIVATE, 0), 0) << "nobody waits any more";
  EXPECT_EQ(OwnerIn({word | FUTEX_OWNER_DIED}, FUTEX_LOCK_PI_PRIVATE, 0), 0);
}

TEST(LockOwnerTest, NeedsTheWholeMutex) {
  const std::array<uint32_t, 5> words = {2, 0, 1234, 1, 0};
  const std::span<const std::byte> bytes = std::as_bytes(std::span(words));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const SpanMemory memory(kBase, bytes.first(size));
    EXPECT_EQ(LockOwnerIn({.address = kBase, .operation = kWait, .value = 2}, memory), 0) << size;
  }
  const SpanMemory memory(kBase, bytes);
  EXPECT_EQ(LockOwnerIn({.address = UINT64_MAX - 3, .operation = kWait, .value = 2}, memory), 0);
}

class FutexWaitTest : public ::testing::Test {
 protected:
  FutexWaitTest() {
    thread_.has_user = thread_.in_syscall = true;
    thread_.syscall = 202;
    thread_.registers.value[kRdi] = kBase;
    thread_.registers.value[kRsi] = kWait;
    thread_.registers.value[kRdx] = 0xffffffff'00000002;  // the kernel takes 32 bits
  }

  WaitingThread thread_;
};

TEST_F(FutexWaitTest, IsInTheRegisters) {
  EXPECT_EQ(FutexWaitOf(thread_), (FutexWait{.address = kBase, .operation = kWait, .value = 2}));
}

TEST_F(FutexWaitTest, IsOnlyInThatSystemCallOf64Bits) {
  thread_.syscall = 0;
  EXPECT_EQ(FutexWaitOf(thread_), std::nullopt);
  thread_.syscall = 202;
  for (bool WaitingThread::*no : {&WaitingThread::is_32_bit, &WaitingThread::on_cpu}) {
    WaitingThread other = thread_;
    other.*no = true;
    EXPECT_EQ(FutexWaitOf(other), std::nullopt);
  }
  for (bool WaitingThread::*needed : {&WaitingThread::has_user, &WaitingThread::in_syscall}) {
    WaitingThread other = thread_;
    other.*needed = false;
    EXPECT_EQ(FutexWaitOf(other), std::nullopt);
  }
  thread_.registers.value[kRdi] = kBase + 2;
  EXPECT_EQ(FutexWaitOf(thread_), std::nullopt) << "the kernel refuses it";
}

// In this process: the mutex lies here, and this thread is the one that it names.
TEST_F(FutexWaitTest, AnOwnerIsAThreadOfTheProcess) {
  std::array<uint32_t, 5> words = {2, 0, static_cast<uint32_t>(gettid()), 1, 0};
  thread_.process.pid = getpid();
  thread_.registers.value[kRdi] = reinterpret_cast<uint64_t>(words.data());
  WaitingThread elsewhere = thread_;
  elsewhere.syscall = 0;
  EXPECT_EQ(LockOwnersOf({elsewhere, thread_}), (std::vector<int32_t>{0, gettid()}));
  words[2] = 1;  // a process, but no thread of this one
  EXPECT_EQ(LockOwnersOf({thread_}), std::vector<int32_t>{0});
  thread_.registers.value[kRdi] = 0x1000;  // nothing is there
  EXPECT_EQ(LockOwnersOf({thread_}), std::vector<int32_t>{0});
}

}  // namespace
}  // namespace offcpu
