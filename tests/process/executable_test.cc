#include "process/executable.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace offcpu {
namespace {

// A process that runs a copy of `sleep` at a path of a test's own.
class ExecutableTest : public testing::Test {
 protected:
  ExecutableTest() {
    std::string name = testing::TempDir() + "/executable.XXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = std::filesystem::canonical(directory_) / "a program";
    std::filesystem::copy_file(std::filesystem::canonical("/bin/sleep"), path_);
  }
  ~ExecutableTest() override {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(directory_);
  }

  // The pipe closes with the exec: from then on the child is the program.
  void Start() {
    std::array<int, 2> ends = {};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      execl(path_.c_str(), "renamed", "60", nullptr);
      _exit(1);
    }
    close(ends[1]);
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
  }

  std::string directory_;
  std::string path_;
  pid_t pid_ = 0;
};

TEST_F(ExecutableTest, IsThePathWhateverTheProcessCallsItself) {
  Start();
  EXPECT_EQ(ExecutableOf(pid_), path_);
}

TEST_F(ExecutableTest, IsThePathThatARemovedFileHad) {
  Start();
  std::filesystem::remove(path_);
  EXPECT_EQ(ExecutableOf(pid_), path_);
}

TEST_F(ExecutableTest, ALongPathIsNotToldInPart) {
  std::string directory = directory_;
  while (directory.size() <= kMostExecutableBytes) {
    directory += "/" + std::string(200, 'd');
    std::filesystem::create_directory(directory);
  }
  std::filesystem::copy_file(path_, directory + "/p");
  path_ = directory + "/p";
  Start();
  EXPECT_EQ(ExecutableOf(pid_), "");
}

TEST(NoExecutableTest, OfAProcessThatIsGone) { EXPECT_EQ(ExecutableOf(0x3fffff), ""); }

}  // namespace
}  // namespace offcpu
