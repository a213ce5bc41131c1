#include "daemon/window_export.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

class WindowExportTest : public ::testing::Test {
 protected:
  WindowExportTest() {
    std::string name = testing::TempDir() + "/window_export.XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~WindowExportTest() override {
    window_export_.Configure({});  // the thread that writes there has ended
    std::filesystem::remove_all(directory_);
  }

  ExportConfig Into(const std::string& name) const {
    ExportConfig config;
    config.files.directory = directory_ + "/" + name;
    return config;
  }
  size_t FilesIn(const std::string& name) const {
    size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory_ + "/" + name))
      files += file.path().extension() == ".gz" ? 1 : 0;
    return files;
  }
  static std::shared_ptr<EndedWindow> AWindow() {
    Profile profile;
    profile.start_unix_ns = 1'790'000'000'000'000'000;
    profile.duration_ns = 1;
    return Ended({std::make_shared<const Profile>(std::move(profile))});
  }

  std::string directory_;
  WindowExport window_export_;
};

TEST_F(WindowExportTest, NothingIsExportedUnlessItIsAskedFor) {
  EXPECT_FALSE(window_export_.stats().has_value());
  window_export_.Configure({});
  window_export_.Add(AWindow());
  EXPECT_FALSE(window_export_.stats().has_value());
}

TEST_F(WindowExportTest, AnExporterThatGivesWayHasDoneWhatItWasGiven) {
  window_export_.Configure(Into("a"));
  window_export_.Add(AWindow());
  window_export_.Configure(Into("b"));
  EXPECT_EQ(FilesIn("a"), 1u);
  window_export_.Add(AWindow());
  EXPECT_EQ(window_export_.stats()->windows, 2u) << "counters go on";
  window_export_.Configure({});
  EXPECT_EQ(FilesIn("b"), 1u);
  EXPECT_FALSE(window_export_.stats().has_value());
}

TEST_F(WindowExportTest, AConfigurationThatIsTheSameChangesNothing) {
  window_export_.Configure(Into("a"));
  window_export_.Add(AWindow());
  window_export_.Configure(Into("a"));
  EXPECT_EQ(window_export_.stats()->windows, 1u);
}

TEST_F(WindowExportTest, WhatIsAskedForAnewIsTriedFirst) {
  window_export_.Configure(Into("a"));
  EXPECT_TRUE(window_export_.Check(Into("a")).ok()) << "it is in use, by us";
  EXPECT_TRUE(window_export_.Check(Into("b")).ok());
  EXPECT_THAT(std::string(window_export_.Check(Into("none/b")).message()), HasSubstr("/none/b: No such file"));
  ExportConfig sending = Into("a");
  sending.target.url = "http://127.0.0.1:1/";
  sending.spool = directory_ + "/spool";
  EXPECT_TRUE(window_export_.Check(sending).ok());
  ExportConfig wrong = sending;
  wrong.spool = directory_ + "/none/spool";
  EXPECT_THAT(std::string(window_export_.Check(wrong).message()), HasSubstr("/none/spool: No such file"));
  wrong = sending;
  wrong.target.bearer_token_file = directory_;
  EXPECT_THAT(std::string(window_export_.Check(wrong).message()), HasSubstr(" is a directory: must be a regular file"));
  window_export_.Add(AWindow());
  EXPECT_EQ(window_export_.stats()->windows, 1u) << "what there is goes on";
}

// A token may be away for a moment, and is read for every request.
TEST_F(WindowExportTest, WhatIsNotChangedIsNotTried) {
  ExportConfig sending;
  sending.target.url = "http://127.0.0.1:1/";
  sending.target.bearer_token_file = directory_ + "/token";
  sending.spool = directory_ + "/none/spool";  // windows wait in memory
  window_export_.Configure(sending);
  sending.target.timeout = std::chrono::seconds(7);
  EXPECT_FALSE(window_export_.Check(sending).ok());
  sending.target.timeout = HttpTarget().timeout;
  sending.gzip = false;
  EXPECT_TRUE(window_export_.Check(sending).ok()) << window_export_.Check(sending);
}

// A spool with more in it than the new configuration allows: it may yet be refused.
TEST_F(WindowExportTest, TryingRemovesNothing) {
  const std::string spool = directory_ + "/spool";
  {
    const auto there = Spool::Open(spool, {});
    ASSERT_TRUE(there.ok()) << there.status();
    ASSERT_TRUE((*there)->Append({.body = std::string(1000, 'x')}, {}).ok());
  }
  ExportConfig sending;
  sending.target.url = "http://127.0.0.1:1/";
  sending.spool = spool;
  sending.spool_bytes = 1;
  ASSERT_TRUE(window_export_.Check(sending).ok());
  EXPECT_EQ((*Spool::Open(spool, {}))->stats().records, 1u);
}

}  // namespace
}  // namespace offcpu
