#include "bytes/read_file.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

class ReadFileTest : public ::testing::Test {
 protected:
  ReadFileTest() {
    std::string name = ::testing::TempDir() + "/read-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~ReadFileTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

// What is wrong with the file at `path`, which the message begins with.
void ExpectError(const std::string& path, size_t max_bytes, absl::StatusCode code, const std::string& what) {
  const absl::Status status = ReadRegularFile(path, max_bytes).status();
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(std::string(status.message()), path + " " + what);
}

TEST_F(ReadFileTest, AFileIsReadWhole) {
  for (const size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 1u << 20}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
    std::ofstream(Path("file"), std::ios::binary) << bytes;
    const absl::StatusOr<std::string> read = ReadRegularFile(Path("file"));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == bytes) << size;
  }
}

TEST_F(ReadFileTest, ALinkIsFollowed) {
  std::ofstream(Path("file")) << "text";
  std::filesystem::create_symlink("file", Path("link"));
  EXPECT_EQ(*ReadRegularFile(Path("link")), "text");
}

TEST_F(ReadFileTest, NoMoreIsReadThanThereMayBe) {
  std::ofstream(Path("file")) << "12345678";
  EXPECT_EQ(*ReadRegularFile(Path("file"), 8), "12345678");
  ExpectError(Path("file"), 7, absl::StatusCode::kResourceExhausted,
              "is larger than 7 bytes: this must be the wrong file");
  std::filesystem::resize_file(Path("file"), uint64_t{1} << 40);  // sparse: reading all of it would be the end
  ExpectError(Path("file"), kMaxSmallFileBytes, absl::StatusCode::kResourceExhausted,
              "is larger than 1 MiB: this must be the wrong file");
}

// The kernel's files say that they have no bytes.
TEST_F(ReadFileTest, WhatSaysNoSizeIsBoundedToo) {
  ASSERT_EQ(std::filesystem::file_size("/proc/self/status"), 0u);
  EXPECT_THAT(*ReadRegularFile("/proc/self/status"), testing::StartsWith("Name:"));
  ExpectError("/proc/self/status", 100, absl::StatusCode::kResourceExhausted,
              "is larger than 100 bytes: this must be the wrong file");
}

// None of these is opened: a FIFO without a writer would hang the test.
TEST_F(ReadFileTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", Path("zero"));
  const OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  Path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  constexpr auto kWrong = absl::StatusCode::kInvalidArgument;
  ExpectError(Path("fifo"), 10, kWrong, "is a FIFO: must be a regular file");
  ExpectError(Path("zero"), 10, kWrong, "is a device: must be a regular file");
  ExpectError(Path("socket"), 10, kWrong, "is a socket: must be a regular file");
  ExpectError(directory_, 10, kWrong, "is a directory: must be a regular file");
}

TEST_F(ReadFileTest, WhatIsNotThereIsNotFound) {
  ExpectError(Path("none"), 10, absl::StatusCode::kNotFound, "cannot be read: No such file or directory");
  std::filesystem::create_symlink("none", Path("link"));
  ExpectError(Path("link"), 10, absl::StatusCode::kNotFound, "cannot be read: No such file or directory");
}

TEST_F(ReadFileTest, WhoMayNotReadItIsNamed) {
  std::ofstream(Path("file")) << "text";
  chmod(Path("file").c_str(), 0);
  chmod(directory_.c_str(), 0755);
  if (geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
    const absl::Status status = ReadRegularFile(Path("file")).status();
    const bool is_right = status.code() == absl::StatusCode::kPermissionDenied &&
                          status.message() == Path("file") + " cannot be read by user 65534: Permission denied";
    _exit(changed && is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace offcpu
