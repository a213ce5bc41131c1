#include "daemon/control_socket.h"

#include <grp.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <vector>

#include "control_server_fixture.h"
#include "gmock/gmock.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

TEST_F(ControlServerTest, NobodyListensTwice) {
  Serve({});
  EXPECT_EQ(ListenAt(path_, {}).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, ASocketThatWasLeftOverIsReplaced) {
  ASSERT_TRUE(ListenAt(path_, {}).ok());  // closed at once, the file stays
  Serve({});
  EXPECT_EQ(AskOnce("a"), "re: a");
}

TEST_F(ControlServerTest, WhatIsNoSocketIsNotReplaced) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(std::string(ListenAt(path_, {}).status().message()), HasSubstr("cannot bind"));
}

// What a process of other credentials gets as an answer.
class AsAnother : public ControlServerTest {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
    ControlServerTest::SetUp();
  }
  // In a child, which takes the first reply's words along.
  std::string AskAs(uid_t uid, gid_t gid, const std::vector<gid_t>& groups) {
    std::array<int, 2> ends;
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool changed = setgroups(groups.size(), groups.data()) == 0 && setgid(gid) == 0 && setuid(uid) == 0;
      const std::string answer = changed ? AskOnce("a") : "cannot change";
      _exit(write(ends[1], answer.data(), answer.size()) < 0);
    }
    close(ends[1]);
    const OwnedFd end(ends[0]);
    std::array<char, 4096> answer;
    const ssize_t got = read(end.get(), answer.data(), answer.size());
    waitpid(child, nullptr, 0);
    return {answer.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))};
  }
};

TEST_F(AsAnother, MembersOfTheGroupMayAsk) {
  Serve({.group = kGroup});
  EXPECT_EQ(AskAs(kStranger, kGroup, {}), "re: a");
  EXPECT_EQ(AskAs(kStranger, kStranger, {1, kGroup}), "re: a");
}

TEST_F(AsAnother, StrangersCannotConnect) {
  Serve({.group = kGroup});
  EXPECT_THAT(AskAs(kStranger, kStranger, {1, 2}), HasSubstr("Permission denied"));
}

TEST_F(AsAnother, StrangersWhoCanConnectAreRefused) {
  Serve({.group = kGroup});
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(AskAs(kStranger, kStranger, {1, 2}), HasSubstr("offcpud refused: user 54322 may not ask"));
  EXPECT_EQ(AskAs(kStranger, kGroup, {}), "re: a");
}

TEST_F(AsAnother, WithoutAGroupOnlyRootMayAsk) {
  Serve({});
  ASSERT_EQ(chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(AskAs(kStranger, kGroup, {}), HasSubstr("may not ask"));
  EXPECT_EQ(AskOnce("a"), "re: a");
}

}  // namespace
}  // namespace offcpu
