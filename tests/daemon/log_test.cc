#include "daemon/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(LogTest, TheJournalIsTheFileThatSystemdNames) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  struct stat file = {};
  ASSERT_EQ(fstat(ends[1], &file), 0);
  const std::string device = std::to_string(file.st_dev);
  const std::string inode = std::to_string(file.st_ino);
  EXPECT_TRUE(IsJournal(ends[1], (device + ":" + inode).c_str()));
  // A service's own child that has redirected its errors still has the variable.
  EXPECT_FALSE(IsJournal(ends[1], (device + ":" + inode + "0").c_str()));
  EXPECT_FALSE(IsJournal(ends[1], ("1" + device + ":" + inode).c_str()));
  for (const char* wrong : {"", ":", "x", "1:2:3"}) EXPECT_FALSE(IsJournal(ends[1], wrong)) << wrong;
  EXPECT_FALSE(IsJournal(ends[1], nullptr)) << "no journal";
  for (const int end : ends) close(end);
  EXPECT_FALSE(IsJournal(ends[1], (device + ":" + inode).c_str())) << "closed";
}

// sd-daemon(3) for the journal, words for people.
TEST(LogTest, PrioritiesAreForTheJournalAlone) {
  EXPECT_EQ(LogPrefix(LogLevel::kError, true), "<3>");
  EXPECT_EQ(LogPrefix(LogLevel::kWarning, true), "<4>");
  EXPECT_EQ(LogPrefix(LogLevel::kInfo, true), "<6>");
  EXPECT_EQ(LogPrefix(LogLevel::kDebug, true), "<7>");
  EXPECT_EQ(LogPrefix(LogLevel::kError, false), "offcpud: error: ");
  EXPECT_EQ(LogPrefix(LogLevel::kWarning, false), "offcpud: warning: ");
  EXPECT_EQ(LogPrefix(LogLevel::kInfo, false), "offcpud: ");
  EXPECT_EQ(LogPrefix(LogLevel::kDebug, false), "offcpud: ");
}

}  // namespace
}  // namespace offcpu
