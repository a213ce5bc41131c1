// The calling thread acts as another user and group while this lives; other threads stay who they are. Needs root.
#ifndef OFFCPU_TESTS_DAEMON_THREAD_USER_H_
#define OFFCPU_TESTS_DAEMON_THREAD_USER_H_

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace offcpu {

class ThreadUser {
 public:
  // The calls of libc would change all threads.
  ThreadUser(uid_t uid, gid_t gid) {
    EXPECT_EQ(syscall(SYS_setresgid, -1, gid, -1), 0);
    EXPECT_EQ(syscall(SYS_setresuid, -1, uid, -1), 0);
  }
  ~ThreadUser() {
    EXPECT_EQ(syscall(SYS_setresuid, -1, 0, -1), 0);
    EXPECT_EQ(syscall(SYS_setresgid, -1, 0, -1), 0);
  }
  ThreadUser(const ThreadUser&) = delete;
  ThreadUser& operator=(const ThreadUser&) = delete;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_DAEMON_THREAD_USER_H_
