#include "process/trusted_file.h"

#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "os/proc_file.h"

namespace offcpu {
namespace {

// One of this process, in /tmp; removed at the end.
class TrustedFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << "something"; }
  void TearDown() override { unlink(path_.c_str()); }

  TrustedFile Open(pid_t pid) const {
    const std::string status = ReadProcFile("/proc/" + std::to_string(pid) + "/status", 1 << 20).value();
    return OpenTrustedFile(pid, *ParseCredentials(status), "tmp", name_);
  }
  void ExpectRefused(FileRefusal why) const {
    const TrustedFile opened = Open(getpid());
    EXPECT_FALSE(opened.file);
    EXPECT_EQ(opened.refusal, why) << Name(opened.refusal);
  }

  const std::string name_ = "trusted_file_test-" + std::to_string(getpid());
  const std::string path_ = "/tmp/" + name_;
};

TEST_F(TrustedFileTest, ItsOwnFileIsTaken) {
  const TrustedFile opened = Open(getpid());
  EXPECT_TRUE(opened.file);
  EXPECT_EQ(opened.refusal, FileRefusal::kNone);
}

TEST_F(TrustedFileTest, NoneIsNotRefused) {
  unlink(path_.c_str());
  ExpectRefused(FileRefusal::kNone);
}

TEST_F(TrustedFileTest, OnlyARegularFileCounts) {
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(FileRefusal::kNotRegular);
}

TEST_F(TrustedFileTest, ASymbolicLinkIsNotFollowed) {
  const std::string other = path_ + ".other";
  ASSERT_EQ(rename(path_.c_str(), other.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), path_.c_str()), 0);
  ExpectRefused(FileRefusal::kSymbolicLink);
  unlink(other.c_str());
}

TEST_F(TrustedFileTest, AFileWithSeveralNamesMayBeAnybodys) {
  const std::string other = path_ + ".other";
  ASSERT_EQ(link(path_.c_str(), other.c_str()), 0);
  ExpectRefused(FileRefusal::kSeveralNames);
  unlink(other.c_str());
  EXPECT_TRUE(Open(getpid()).file);
}

TEST_F(TrustedFileTest, WhatEverybodyMayWriteDoesNotCount) {
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  ExpectRefused(FileRefusal::kWritable);
  ASSERT_EQ(chmod(path_.c_str(), 0664), 0);
  EXPECT_TRUE(Open(getpid()).file);
}

TEST_F(TrustedFileTest, AnotherUsersFileDoesNotCount) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  ExpectRefused(FileRefusal::kOtherOwner);
}

// Root's files count for others only as far as those may read them.
TEST_F(TrustedFileTest, RootsFileCountsIfTheProcessMayReadIt) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // as nobody
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    pause();
  }
  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  for (int i = 0; i < 10'000 &&
                  ReadProcFile("/proc/" + std::to_string(child) + "/status", 1 << 20)->find("\nUid:\t65534\t65534") ==
                      std::string::npos;
       ++i) {
    usleep(1000);
  }
  const TrustedFile secret = Open(child);
  EXPECT_FALSE(secret.file);
  EXPECT_EQ(secret.refusal, FileRefusal::kNotReadable);
  EXPECT_EQ(chmod(path_.c_str(), 0644), 0);
  EXPECT_TRUE(Open(child).file);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace offcpu
