// What survives a power cut is what was synced, in which order: the calls of this program are watched, because no test
// pulls the plug. The disk can be made to fail, too.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "spool_fixture.h"

namespace {

struct Watched {
  std::vector<std::string> calls;
  size_t failing_sync = 0;  // which one from now on, from 1; 0: none
};
Watched* watched = nullptr;  // set while one test runs, which has one thread

std::string NameOf(int fd) { return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd)).filename(); }

}  // namespace

// Instead of the C library's, for the whole test program.
extern "C" int fsync(int fd) {
  if (watched != nullptr) {
    watched->calls.push_back("sync " + NameOf(fd));
    if (watched->failing_sync != 0 && --watched->failing_sync == 0) {
      errno = EIO;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}

extern "C" int renameat(int from_fd, const char* from, int to_fd, const char* to) noexcept {
  if (watched != nullptr) watched->calls.push_back("name " + std::string(to));
  return static_cast<int>(syscall(SYS_renameat2, from_fd, from, to_fd, to, 0));
}

namespace offcpu {
namespace {

using ::testing::ElementsAre;

class SpoolSyncTest : public SpoolTest {
 protected:
  SpoolSyncTest() {
    OpenSpool({.records = 1});
    watched = &watched_;
  }
  ~SpoolSyncTest() override { watched = nullptr; }

  const std::vector<std::string>& calls() const { return watched_.calls; }
  Watched watched_;
};

TEST_F(SpoolSyncTest, ARecordIsSyncedBeforeItHasItsNameAndItsNameAfterwards) {
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  EXPECT_THAT(calls(), ElementsAre("sync " + Record(1) + ".tmp", "name " + Record(1), "sync spool"));
}

TEST_F(SpoolSyncTest, ALossIsSyncedBeforeAnythingIsRemoved) {
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  watched_.calls.clear();
  ASSERT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  EXPECT_THAT(calls(), ElementsAre("sync losses.tmp", "name losses", "sync spool",  //
                                   "sync " + Record(2) + ".tmp", "name " + Record(2), "sync spool"));
}

TEST_F(SpoolSyncTest, ADiskThatFailsAcknowledgesNothing) {
  // The sync of the file, and that of the directory.
  for (const size_t failing : {1, 2}) {
    watched_.failing_sync = failing;
    EXPECT_FALSE(spool_->Append(Window(0, "a"), At(0)).ok());
    EXPECT_EQ(spool_->stats().records, 0u);
    spool_->LostUnwritten(Window(0, "a"));
    EXPECT_EQ(Lost(SpoolLoss::kNotWritten), (SpoolLost{failing, failing * 10 * kSecond}));
    EXPECT_THAT(Names(), ElementsAre("losses"));
  }
  ASSERT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  EXPECT_THAT(Drain(), ElementsAre("b"));
}

TEST_F(SpoolSyncTest, ALossThatCouldNotBeWrittenIsWrittenLater) {
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  watched_.failing_sync = 1;
  ASSERT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 1u);
  EXPECT_EQ(ParseSpoolLedger(Contents("losses")).value().losses, spool_->stats().lost);
}

}  // namespace
}  // namespace offcpu
