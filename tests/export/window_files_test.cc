#include "export/window_files.h"

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WindowFilesTest : public ::testing::Test {
 protected:
  WindowFilesTest() {
    std::string name = testing::TempDir() + "/window_files.XXXXXX";
    base_ = mkdtemp(name.data());
    window_.profile.start_unix_ns = 1'790'000'000'000'000'000;
    window_.Row(window_.Process(10, "server"), window_.Comm("worker"), window_.User({"read", "main"}),
                window_.Kernel({"schedule"}), 77);
  }
  ~WindowFilesTest() override { std::filesystem::remove_all(base_); }

  WindowFiles FilesIn(const std::string& directory, const PprofFilesStats& before = {}) {
    return {directory, PprofFilesLimits(), before,
            [this](bool is_bad, const std::string& line) { said_.push_back((is_bad ? "bad: " : "good: ") + line); }};
  }
  void Write(WindowFiles& files) { files.Write(window_.profile); }

  std::string base_;
  FakeProfile window_;
  std::vector<std::string> said_;
};

TEST_F(WindowFilesTest, ADirectoryMayComeLater) {
  WindowFiles files = FilesIn(base_ + "/later/files");
  Write(files);
  Write(files);
  EXPECT_EQ(files.stats().failed, 2u);
  EXPECT_THAT(said_, ElementsAre(HasSubstr(base_ + "/later/files"))) << "once";
  std::filesystem::create_directory(base_ + "/later");
  Write(files);
  EXPECT_EQ(files.stats().written, 1u);
  EXPECT_EQ(files.stats().files, 1u);
  EXPECT_EQ(files.stats().failed, 2u);
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(WindowFilesTest, CountersGoOn) {
  WindowFiles files = FilesIn(base_ + "/files", {.files = 9, .bytes = 9, .written = 30, .removed = 20, .failed = 10});
  EXPECT_EQ(files.stats().written, 30u) << "before the first write";
  Write(files);
  EXPECT_EQ(files.stats().written, 31u);
  EXPECT_EQ(files.stats().removed, 20u);
  EXPECT_EQ(files.stats().failed, 10u);
  EXPECT_EQ(files.stats().files, 1u) << "those that are there";
}

TEST_F(WindowFilesTest, WithoutADirectoryNothingIsWritten) {
  WindowFiles files = FilesIn("");
  Write(files);
  EXPECT_EQ(files.stats().written + files.stats().failed, 0u);
  EXPECT_THAT(said_, IsEmpty());
}

}  // namespace
}  // namespace offcpu
