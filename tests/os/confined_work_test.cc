#include "os/confined_work.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

std::string TextOf(const ConfinedResult& result) { return {result.bytes.begin(), result.bytes.end()}; }

TEST(ConfinedWorkTest, GivesWhatTheWorkWrites) {
  const std::string large(1u << 20, 'x');
  const ConfinedResult result = RunConfined({}, {}, [&](ConfinedWriter write) {
    write("a");
    write(large);
  });
  EXPECT_EQ(result.end, ConfinedEnd::kDone);
  EXPECT_EQ(TextOf(result), "a" + large);
}

TEST(ConfinedWorkTest, ACrashLeavesWhatWasWrittenBefore) {
  const ConfinedResult result = RunConfined({}, {}, [](ConfinedWriter write) {
    write("before");
    void (*volatile nowhere)() = nullptr;
    nowhere();
  });
  EXPECT_EQ(result.end, ConfinedEnd::kDone);
  EXPECT_EQ(TextOf(result), "before");
}

TEST(ConfinedWorkTest, WorkThatDoesNotEndIsEnded) {
  const auto endless = [](ConfinedWriter write) {
    write("before");
    for (volatile bool forever = true; forever;) {
    }
  };
  const ConfinedResult result = RunConfined({.time = std::chrono::milliseconds(50)}, {}, endless);
  EXPECT_EQ(result.end, ConfinedEnd::kLate);
  EXPECT_EQ(TextOf(result), "before");
}

TEST(ConfinedWorkTest, AResultIsNoLongerThanItMayBe) {
  for (const size_t size : {size_t{1000}, size_t{1001}}) {
    const ConfinedResult result =
        RunConfined({.result_bytes = 1000}, {}, [&](ConfinedWriter write) { write(std::string(size, 'x')); });
    EXPECT_EQ(result.end, size == 1000 ? ConfinedEnd::kDone : ConfinedEnd::kTooLong);
  }
}

TEST(ConfinedWorkTest, MemoryIsLimited) {
  const auto take = [](size_t bytes) {
    return TextOf(RunConfined({.memory_bytes = 64u << 20}, {}, [bytes](ConfinedWriter write) {
      void* memory = std::malloc(bytes);
      write(memory == nullptr ? "refused" : "given");
    }));
  };
  EXPECT_EQ(take(32u << 20), "given");
#ifndef OFFCPU_SANITIZED
  EXPECT_EQ(take(65u << 20), "refused");
#endif
}

TEST(ConfinedWorkTest, FilesAreReadButNeitherWrittenNorMade) {
  const std::string made = ::testing::TempDir() + "/confined-made";
  const OwnedFd given(open("/proc/version", O_RDONLY | O_CLOEXEC));
  const OwnedFd other(open("/proc/version", O_RDONLY | O_CLOEXEC));
  const int files[] = {given.get()};
  const auto what = [&](ConfinedWriter write) {
    char byte = 0;
    write(pread(given.get(), &byte, 1, 0) == 1 ? "given " : "");
    write(fcntl(other.get(), F_GETFD) >= 0 ? "other " : "");
    write(open("/proc/version", O_RDONLY) >= 0 ? "read " : "");
    write(open("/dev/null", O_WRONLY) >= 0 ? "written " : "");
    write(open(made.c_str(), O_RDONLY | O_CREAT, 0600) >= 0 ? "made " : "");
    write(socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? "socket " : "");
    write(kill(getppid(), 0) == 0 ? "kill " : "");
    write(unlink(made.c_str()) == 0 || errno != EPERM ? "unlink " : "");
  };
  EXPECT_EQ(TextOf(RunConfined({}, files, what)), "given read ");
  EXPECT_NE(access(made.c_str(), F_OK), 0);
}

TEST(ConfinedWorkTest, RootsWorkIsNobodys) {
  if (geteuid() != 0) GTEST_SKIP() << "for root";
  const std::string mine = ::testing::TempDir() + "/confined-mine";
  const OwnedFd file(open(mine.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const auto read = [&](ConfinedWriter write) { write(open(mine.c_str(), O_RDONLY) >= 0 ? "read" : "refused"); };
  EXPECT_EQ(TextOf(RunConfined({}, {}, read)), "refused");
  unlink(mine.c_str());
}

}  // namespace
}  // namespace offcpu
