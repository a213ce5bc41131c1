#include "daemon/metrics.h"

#include <memory>
#include <string>

#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MetricsTest, CountersAreSumsOverAllThatWasRecorded) {
  FakeKernel kernel;
  DaemonConfig config;
  config.windows = {.length_ns = 3600'000'000'000, .keep = 1};
  const std::unique_ptr<Recording> recording = *Recording::Start(config, StartFake(kernel));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(recording->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());
  const std::string text = FormatMetrics(*recording, WindowExport(), HttpStats(), "1.2");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_waits_total counter\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_waits_total{kind=\"sleeping\"} 6\n"));  // two rows a window
  // 1 + 2 + 3 + 3 * 1000 ns
  EXPECT_THAT(text, HasSubstr("offcpud_off_cpu_seconds_total{kind=\"sleeping\",part=\"blocked\"} 3.006"));
  EXPECT_THAT(text, HasSubstr("offcpud_user_walks_total{end=\"complete\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_dropped_total{reason=\"no user stack: lost\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_build_info{version=\"1.2\"} 1\n"));
}

TEST(MetricsTest, SamplesOfWhatRanAreNoWaits) {
  FakeKernel kernel;
  kernel.sample = true;
  DaemonConfig config;
  config.windows = {.length_ns = 3600'000'000'000, .keep = 1};
  const std::unique_ptr<Recording> recording = *Recording::Start(config, StartFake(kernel));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(recording->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());
  const std::string text = FormatMetrics(*recording, WindowExport(), HttpStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_on_cpu_samples_total counter\noffcpud_on_cpu_samples_total 6\n"));
  // 2 windows of 3 samples of 1 ms
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_on_cpu_seconds_total counter\noffcpud_on_cpu_seconds_total 0.006"));
  EXPECT_THAT(text, HasSubstr("offcpud_waits_total{kind=\"open\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("running")));
}

TEST(MetricsTest, WhatIsExportedIsThereIfSomethingIs) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  WindowExport window_export;
  EXPECT_THAT(FormatMetrics(*recording, window_export, HttpStats(), "1"), Not(HasSubstr("offcpud_export")));
  ExportConfig config;
  config.target.url = "http://collector.invalid/";
  config.target.proxy = "http://127.0.0.1:1";  // where nobody listens
  window_export.Configure(config);
  window_export.Add({std::make_shared<const Profile>()});
  EXPECT_THAT(FormatMetrics(*recording, window_export, HttpStats(), "1"),
              HasSubstr("offcpud_export_windows_total 1\n"));
}

}  // namespace
}  // namespace offcpu
