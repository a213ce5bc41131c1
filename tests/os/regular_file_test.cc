#include "os/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

OwnedFd Path(const std::string& path) { return OwnedFd(open(path.c_str(), O_PATH | O_CLOEXEC)); }

TEST(RegularFileTest, ARegularFileIsOpenedForReading) {
  OwnedFd file = OpenRegularFile(Path("/proc/self/exe"));
  ASSERT_TRUE(file);
  char magic[4];
  ASSERT_EQ(pread(file.get(), magic, sizeof(magic), 0), 4);
  EXPECT_EQ(std::string(magic, 4),
            "\x7f"
            "ELF");
}

TEST(RegularFileTest, NothingElseIsOpened) {
  // Opened as a file is, this would wait for a writer.
  std::string fifo = ::testing::TempDir() + "offcpu-fifo-" + std::to_string(getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(OpenRegularFile(Path(fifo)));
  unlink(fifo.c_str());
  EXPECT_FALSE(OpenRegularFile(Path("/dev/null")));
  EXPECT_FALSE(OpenRegularFile(Path("/")));
  EXPECT_FALSE(OpenRegularFile(Path("/nonexistent")));
}

}  // namespace
}  // namespace offcpu
