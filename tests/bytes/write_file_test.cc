#include "bytes/write_file.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WriteFileTest : public ::testing::Test {
 protected:
  WriteFileTest() {
    std::string name = ::testing::TempDir() + "offcpu-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~WriteFileTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Fill(const std::string& path, const std::string& bytes) { std::ofstream(path) << bytes; }

  static absl::Status Write(const std::string& path, const std::string& bytes) {
    return WriteFile(path, [&](ByteSink sink) {
      for (size_t at = 0; at < bytes.size(); at += 1000) sink(std::string_view(bytes).substr(at, 1000));
    });
  }

  static std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string directory_;
};

TEST_F(WriteFileTest, WritesAllAndLeavesNothingElse) {
  std::string large(300'000, 'x');
  large += "end";
  for (const std::string& bytes : {std::string(), std::string("small"), large}) {
    EXPECT_TRUE(Write(Path("out"), bytes).ok());
    EXPECT_TRUE(Contents(Path("out")) == bytes);
    EXPECT_THAT(Names(directory_), ElementsAre("out"));
  }
}

TEST_F(WriteFileTest, TheOldFileIsThereUntilTheNewOneIsComplete) {
  Fill(Path("out"), "old");
  absl::Status status = WriteFile(Path("out"), [&](ByteSink sink) {
    sink(std::string(200'000, 'x'));
    EXPECT_EQ(Contents(Path("out")), "old");
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(Contents(Path("out")).size(), 200'000u);
}

TEST_F(WriteFileTest, KeepsTheModeOfTheFileThatItReplaces) {
  Fill(Path("out"), "old");
  ASSERT_EQ(chmod(Path("out").c_str(), 0640), 0);
  ASSERT_TRUE(Write(Path("out"), "new").ok());
  struct stat st;
  ASSERT_EQ(stat(Path("out").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0640u);
}

TEST_F(WriteFileTest, ASymbolicLinkStays) {
  Fill(Path("target"), "old");
  ASSERT_EQ(symlink("target", Path("link").c_str()), 0);
  ASSERT_TRUE(Write(Path("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
  EXPECT_EQ(Contents(Path("target")), "new");
}

TEST_F(WriteFileTest, ALeftoverOfTheSameNameIsNotTouched) {
  std::string leftover = "out." + std::to_string(getpid()) + ".0.tmp";
  Fill(Path(leftover), "not ours");
  ASSERT_TRUE(Write(Path("out"), "new").ok());
  EXPECT_EQ(Contents(Path("out")), "new");
  EXPECT_EQ(Contents(Path(leftover)), "not ours");
}

TEST_F(WriteFileTest, ErrorsNameThePath) {
  absl::Status status = Write(Path("absent/out"), "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("absent/out")));
  status = Write(directory_, "x");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_));
  EXPECT_THAT(Names(directory_), IsEmpty());
}

TEST_F(WriteFileTest, AFifoIsWrittenDirectly) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = Contents(Path("fifo")); });
  EXPECT_TRUE(Write(Path("fifo"), std::string(100'000, 'x')).ok());
  reader.join();
  EXPECT_EQ(got.size(), 100'000u);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("fifo")));
  EXPECT_THAT(Names(directory_), ElementsAre("fifo"));
}

TEST_F(WriteFileTest, TheStandardOutputIsADescriptorAndNotAFile) {
  OwnedFd saved(dup(STDOUT_FILENO));
  OwnedFd file(open(Path("stdout").c_str(), O_WRONLY | O_CREAT, 0600));
  fflush(stdout);
  ASSERT_EQ(dup2(file.get(), STDOUT_FILENO), STDOUT_FILENO);
  absl::Status dash = Write("-", "one ");
  absl::Status device = Write("/dev/stdout", "two");
  dup2(saved.get(), STDOUT_FILENO);
  EXPECT_TRUE(dash.ok()) << dash;
  EXPECT_TRUE(device.ok()) << device;
  EXPECT_EQ(Contents(Path("stdout")), "one two");
}

TEST_F(WriteFileTest, AFullDeviceIsAnError) {
  absl::Status status = Write("/dev/full", std::string(200'000, 'x'));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full"));
  EXPECT_FALSE(Write("/dev/full", "x").ok());
}

TEST(WriteAllTest, SaysWhatFailed) {
  const OwnedFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(WriteAll(full.get(), "x"), ENOSPC);
  EXPECT_EQ(WriteAll(full.get(), ""), 0) << "there is nothing to write";
  EXPECT_EQ(WriteAll(-1, "x"), EBADF);
}

// A pipe takes 64 KiB at a time.
TEST(WriteAllTest, GoesOnUntilAllIsTaken) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  std::string taken;
  std::thread reader([&] {
    char piece[1000];
    for (ssize_t n; (n = read(read_end.get(), piece, sizeof(piece))) > 0;) taken.append(piece, static_cast<size_t>(n));
  });
  const std::string bytes(300'000, 'x');
  EXPECT_EQ(WriteAll(write_end.get(), bytes), 0);
  write_end.reset();
  reader.join();
  EXPECT_EQ(taken, bytes);
}

// A file system of 64 KiB.
class FullDiskTest : public WriteFileTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(Path("disk"));
    if (mount("tmpfs", Path("disk").c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") != 0) {
      GTEST_SKIP() << "needs root";
    }
    mounted_ = true;
  }
  void TearDown() override {
    if (mounted_) umount(Path("disk").c_str());
  }
  bool mounted_ = false;
};

TEST_F(FullDiskTest, LeavesNothingBehind) {
  absl::Status status = Write(Path("disk/out"), std::string(200'000, 'x'));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(Path("disk/out")));
  EXPECT_THAT(Names(Path("disk")), IsEmpty());
}

TEST_F(FullDiskTest, LeavesTheOldFileAsItWas) {
  Fill(Path("disk/out"), "old");
  EXPECT_FALSE(Write(Path("disk/out"), std::string(200'000, 'x')).ok());
  EXPECT_EQ(Contents(Path("disk/out")), "old");
  EXPECT_THAT(Names(Path("disk")), ElementsAre("out"));
  EXPECT_TRUE(Write(Path("disk/out"), "new").ok());
  EXPECT_EQ(Contents(Path("disk/out")), "new");
}

}  // namespace
}  // namespace offcpu
