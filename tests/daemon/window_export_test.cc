#include "daemon/window_export.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

class WindowExportTest : public ::testing::Test {
 protected:
  WindowExportTest() {
    std::string name = testing::TempDir() + "/window_export.XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  ~WindowExportTest() override {
    window_export_.Configure({});  // whoever writes there has ended
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
  static WindowPieces AWindow() {
    Profile profile;
    profile.start_unix_ns = 1'790'000'000'000'000'000;
    profile.duration_ns = 1;
    return {std::make_shared<const Profile>(std::move(profile))};
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

}  // namespace
}  // namespace offcpu
