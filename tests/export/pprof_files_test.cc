#include "export/pprof_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "pprof/pprof_reader.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kStart = 1'795'298'100 * kSecond;  // date -u -d @1795298100: 2026-11-21 21:55:00

class PprofFilesTest : public ::testing::Test {
 protected:
  PprofFilesTest() {
    std::string name = ::testing::TempDir() + "offcpu-pprof-XXXXXX";
    base_ = mkdtemp(name.data());
    directory_ = base_ + "/pprof";
  }
  ~PprofFilesTest() override { std::filesystem::remove_all(base_); }

  PprofFiles& OpenFiles(const PprofFilesLimits& limits = {}) {
    files_.reset();
    auto files = PprofFiles::Open(directory_, limits);
    if (!files.ok()) {
      fprintf(stderr, "%s\n", files.status().ToString().c_str());
      abort();
    }
    files_ = *std::move(files);
    return *files_;
  }

  static FakeProfile Window(uint64_t start_unix_ns) {
    FakeProfile window;
    window.profile.start_unix_ns = start_unix_ns;
    window.profile.duration_ns = 10 * kSecond;
    window.Row(window.Process(10, "server"), window.Comm("worker"), window.User({"read", "main"}),
               window.Kernel({"schedule"}), 77);
    return window;
  }
  absl::Status Write(uint64_t start_unix_ns) {
    const FakeProfile window = Window(start_unix_ns);
    return files_->Write(window.profile);
  }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string Contents(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Fill(const std::string& name, const std::string& bytes) const { std::ofstream(Path(name)) << bytes; }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().filename() != kLockFile) names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string base_;
  std::string directory_;
  std::unique_ptr<PprofFiles> files_;
};

TEST(PprofFileNameTest, IsTheTimeInUtc) {
  EXPECT_EQ(PprofFileName(kStart, 1), "offcpu-20261121T215500Z.pb.gz");
  EXPECT_EQ(PprofFileName(kStart + kSecond - 1, 1), "offcpu-20261121T215500Z.pb.gz");
  EXPECT_EQ(PprofFileName(kStart + kSecond, 1), "offcpu-20261121T215501Z.pb.gz");
  EXPECT_EQ(PprofFileName(0, 1), "offcpu-19700101T000000Z.pb.gz");
  EXPECT_EQ(PprofFileName(kStart, 2), "offcpu-20261121T215500Z_002.pb.gz");
}

TEST(PprofFileNameTest, NamesSortAsWindowsCome) {
  std::vector<std::string> names;
  for (const uint64_t second : {0, 1, 9, 10}) {
    for (const uint32_t nth : {1, 2, 9, 10, 99, 100, 999})
      names.push_back(PprofFileName(kStart + second * kSecond, nth));
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST(PprofFileNameTest, OnlyItsOwnAreKnown) {
  EXPECT_EQ(NthOfPprofFileName("offcpu-20261121T215500Z.pb.gz"), 1u);
  EXPECT_EQ(NthOfPprofFileName("offcpu-20261121T215500Z_002.pb.gz"), 2u);
  EXPECT_EQ(NthOfPprofFileName("offcpu-20261121T215500Z_999.pb.gz"), 999u);
  for (const char* name :
       {"", "offcpu-.pb.gz", "offcpu-20261121T215500Z.pb", "offcpu-20261121T215500Z.pb.gz.tmp",
        "offcpu-20261121T21550xZ.pb.gz", "Offcpu-20261121T215500Z.pb.gz", "offcpu-20261121T215500Z_000.pb.gz",
        "offcpu-20261121T215500Z_001.pb.gz", "offcpu-20261121T215500Z_02.pb.gz", "offcpu-20261121T215500Z-002.pb.gz",
        "offcpu-20261121T215500Z.pb.gz2", "my-offcpu-20261121T215500Z.pb.gz"}) {
    EXPECT_EQ(NthOfPprofFileName(name), 0u) << name;
  }
}

TEST_F(PprofFilesTest, AWindowIsAFileThatIsReadAsPprof) {
  PprofFiles& files = OpenFiles();
  ASSERT_TRUE(Write(kStart).ok());
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215500Z.pb.gz"));
  const std::string bytes = Contents("offcpu-20261121T215500Z.pb.gz");
  const auto stored = ParsePprof(bytes);
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->start_unix_ns, kStart);
  ASSERT_THAT(stored->rows, SizeIs(1));
  EXPECT_EQ(stored->rows[0].blocked_ns, 77u);
  EXPECT_EQ(files.stats().written, 1u);
  EXPECT_EQ(files.stats().files, 1u);
  EXPECT_EQ(files.stats().bytes, bytes.size());
}

TEST_F(PprofFilesTest, WindowsOfOneSecondHaveNamesInOrder) {
  OpenFiles();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Write(kStart + i).ok());
  OpenFiles();
  ASSERT_TRUE(Write(kStart + 3).ok());
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215500Z.pb.gz", "offcpu-20261121T215500Z_002.pb.gz",
                                   "offcpu-20261121T215500Z_003.pb.gz", "offcpu-20261121T215500Z_004.pb.gz"));
  OpenFiles({.files = 1});
  ASSERT_TRUE(Write(kStart + 4).ok());
  EXPECT_THAT(Names(), SizeIs(1));
}

TEST_F(PprofFilesTest, TheFirstNameIsNotGivenAgainWhileALaterOneIsThere) {
  OpenFiles({.files = 2});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Write(kStart).ok());
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215500Z_002.pb.gz", "offcpu-20261121T215500Z_003.pb.gz"));
}

TEST_F(PprofFilesTest, ASecondHoldsSoManyAndNoMore) {
  OpenFiles();
  Fill("offcpu-20261121T215500Z_998.pb.gz", "x");
  OpenFiles();
  EXPECT_TRUE(Write(kStart).ok());
  EXPECT_EQ(Write(kStart).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(files_->stats().failed, 1u);
  EXPECT_THAT(Names(), SizeIs(2));
}

TEST_F(PprofFilesTest, TheOldestGoesWhenThereAreTooMany) {
  OpenFiles({.files = 2});
  for (uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(Write(kStart + i * kSecond).ok());
  EXPECT_EQ(files_->stats().removed, 0u);
  ASSERT_TRUE(Write(kStart + 2 * kSecond).ok());
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215501Z.pb.gz", "offcpu-20261121T215502Z.pb.gz"));
  EXPECT_EQ(files_->stats().removed, 1u);
  EXPECT_EQ(files_->stats().files, 2u);
}

TEST_F(PprofFilesTest, ExactlyTheBytesAreKeptAndOneMoreIsNot) {
  OpenFiles();
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(Write(kStart + i * kSecond).ok());
  const uint64_t bytes = files_->stats().bytes;
  OpenFiles({.bytes = bytes});
  EXPECT_EQ(files_->stats().files, 3u);
  OpenFiles({.bytes = bytes - 1});
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215501Z.pb.gz", "offcpu-20261121T215502Z.pb.gz"));
  EXPECT_EQ(files_->stats().removed, 1u);
}

TEST_F(PprofFilesTest, WhatIsLargerThanAllMayBeCostsNoOtherItsPlace) {
  OpenFiles();
  ASSERT_TRUE(Write(kStart).ok());
  FakeProfile large = Window(kStart + kSecond);
  large.Process(11, "a name that makes it longer, of letters that do not pack well: qwzxjkvy");
  large.Row(1, 0, 0, 0, 123456789);
  OpenFiles({.bytes = files_->stats().bytes});
  EXPECT_EQ(files_->Write(large.profile).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215500Z.pb.gz"));
  EXPECT_EQ(files_->stats().failed, 1u);
  EXPECT_EQ(files_->stats().removed, 0u);
}

TEST_F(PprofFilesTest, LimitsHoldForThoseOfTheLastTime) {
  OpenFiles();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(Write(kStart + i * kSecond).ok());
  OpenFiles({.files = 2});
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215502Z.pb.gz", "offcpu-20261121T215503Z.pb.gz"));
  EXPECT_EQ(files_->stats().removed, 2u);
}

// Else a clock that was ahead once would cost every window after it.
TEST_F(PprofFilesTest, AWindowOfAnEarlierTimeIsStillTheNewest) {
  OpenFiles({.files = 2});
  for (const uint64_t second : {1000, 1001, 5}) ASSERT_TRUE(Write(kStart + second * kSecond).ok());
  EXPECT_THAT(Names(), Contains(PprofFileName(kStart + 5 * kSecond, 1)));
  OpenFiles({.files = 2});
  for (const uint64_t second : {6, 7}) ASSERT_TRUE(Write(kStart + second * kSecond).ok());
  EXPECT_THAT(Names(), ElementsAre(PprofFileName(kStart + 6 * kSecond, 1), PprofFileName(kStart + 7 * kSecond, 1)));
}

TEST_F(PprofFilesTest, OtherFilesAreLeftAlone) {
  OpenFiles();
  const std::vector<std::string> strangers = {"notes", "offcpu.pb.gz", "offcpu-20251121T215500Z_000.pb.gz",
                                              "offcpu-20251121T215500Z.pb.gz.bak", "other.tmp"};
  for (const std::string& name : strangers) Fill(name, "x");
  std::filesystem::create_directory(Path("offcpu-20251121T215500Z.pb.gz"));
  ASSERT_EQ(symlink("notes", Path("offcpu-20251121T215501Z.pb.gz").c_str()), 0);
  OpenFiles({.files = 1});
  for (uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(Write(kStart + i * kSecond).ok());
  for (const std::string& name : strangers) EXPECT_EQ(Contents(name), "x") << name;
  EXPECT_TRUE(std::filesystem::is_directory(Path("offcpu-20251121T215500Z.pb.gz")));
  EXPECT_TRUE(std::filesystem::is_symlink(Path("offcpu-20251121T215501Z.pb.gz")));
}

TEST_F(PprofFilesTest, NothingIsReplaced) {
  OpenFiles();
  Fill("notes", "x");
  ASSERT_EQ(symlink("notes", Path("offcpu-20261121T215500Z.pb.gz").c_str()), 0);
  ASSERT_TRUE(Write(kStart).ok());
  EXPECT_EQ(Contents("notes"), "x");
  EXPECT_TRUE(std::filesystem::is_symlink(Path("offcpu-20261121T215500Z.pb.gz")));
  EXPECT_TRUE(ParsePprof(Contents("offcpu-20261121T215500Z_002.pb.gz")).ok());
}

TEST_F(PprofFilesTest, WhatAKillLeftIsRemoved) {
  OpenFiles();
  Fill("offcpu-20261121T215500Z.pb.gz.tmp", "half");
  Fill("offcpu-20261121T215500Z_002.pb.gz.tmp", "half");
  OpenFiles();
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(PprofFilesTest, WhoRemovesAFileMakesRoom) {
  OpenFiles({.files = 2});
  for (uint64_t i = 0; i < 2; ++i) ASSERT_TRUE(Write(kStart + i * kSecond).ok());
  std::filesystem::remove(Path("offcpu-20261121T215500Z.pb.gz"));
  ASSERT_TRUE(Write(kStart + 2 * kSecond).ok());
  EXPECT_THAT(Names(), SizeIs(2));
  EXPECT_EQ(files_->stats().removed, 0u);
}

TEST_F(PprofFilesTest, ErrorsNameTheDirectory) {
  const auto absent = PprofFiles::Open(base_ + "/absent/pprof", {});
  EXPECT_EQ(absent.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(absent.status().message()), HasSubstr(base_ + "/absent/pprof"));
  OpenFiles();
  EXPECT_EQ(PprofFiles::Open(directory_, {}).status().code(), absl::StatusCode::kFailedPrecondition);
}

// As everybody may who can read it.
TEST_F(PprofFilesTest, WhoLocksTheDirectoryItselfStopsNothing) {
  std::filesystem::create_directory(directory_);
  const OwnedFd theirs(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(flock(theirs.get(), LOCK_EX | LOCK_NB), 0);
  OpenFiles();
  EXPECT_TRUE(Write(kStart).ok());
  struct stat lock = {};
  ASSERT_EQ(stat(Path(kLockFile).c_str(), &lock), 0);
  EXPECT_EQ(lock.st_mode & 07777, 0600u) << "nobody else may open it";
}

TEST_F(PprofFilesTest, ALockThatOthersMayOpenIsNone) {
  std::filesystem::create_directory(directory_);
  Fill(kLockFile, "");
  ASSERT_EQ(chmod(Path(kLockFile).c_str(), 0644), 0);
  EXPECT_EQ(PprofFiles::Open(directory_, {}).status().code(), absl::StatusCode::kPermissionDenied);
  std::filesystem::remove(Path(kLockFile));
  std::filesystem::create_symlink(base_, Path(kLockFile));
  EXPECT_FALSE(PprofFiles::Open(directory_, {}).ok());
}

TEST_F(PprofFilesTest, AFullDiskIsCountedAndLeavesNothing) {
  if (mount("tmpfs", base_.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") != 0) GTEST_SKIP() << "needs root";
  OpenFiles();
  ASSERT_TRUE(Write(kStart).ok());
  std::ofstream(base_ + "/filler", std::ios::binary) << std::string(1 << 20, 'x') << std::flush;
  const absl::Status status = Write(kStart + kSecond);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("offcpu-20261121T215501Z.pb.gz"));
  EXPECT_THAT(Names(), ElementsAre("offcpu-20261121T215500Z.pb.gz"));
  EXPECT_EQ(files_->stats().failed, 1u);
  EXPECT_EQ(files_->stats().files, 1u);
  files_.reset();
  EXPECT_EQ(mount("none", base_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_THAT(std::string(PprofFiles::Open(directory_, {}).status().message()), HasSubstr("Read-only"));
  umount(base_.c_str());
}

TEST_F(PprofFilesTest, AnyThreadMayWrite) {
  OpenFiles({.files = 5});
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (uint64_t i = 0; i < 20; ++i) EXPECT_TRUE(Write(kStart).ok());
      EXPECT_LE(files_->stats().files, 5u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files_->stats().written, 80u);
  EXPECT_EQ(files_->stats().removed, 75u);
  EXPECT_THAT(Names(), SizeIs(5));
}

}  // namespace
}  // namespace offcpu
