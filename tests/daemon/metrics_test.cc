#include "daemon/metrics.h"

#include <memory>
#include <string>

#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/export/windows.h"

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
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1.2");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_waits_total counter\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_waits_total{kind=\"sleeping\"} 6\n"));  // two rows a window
  // 1 + 2 + 3 + 3 * 1000 ns
  EXPECT_THAT(text, HasSubstr("offcpud_off_cpu_seconds_total{kind=\"sleeping\",part=\"blocked\"} 3.006"));
  EXPECT_THAT(text, HasSubstr("offcpud_user_walks_total{end=\"complete\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_waits_walked_at_switch_total 21\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_walk_misses_total{reason=\"new stack\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_told_unwind_rows gauge\noffcpud_told_unwind_rows 30\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_told_user_stacks 4\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_dropped_total{reason=\"no user stack: lost\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_build_info{version=\"1.2\"} 1\n"));
}

TEST(MetricsTest, ConnectionsThatAreEndedHaveTheirReasons) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  const ControlStats control = {.late_requests = 1, .late_answers = 2, .no_room = 3};
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), control, "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_control_dropped_total counter\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_control_dropped_total{reason=\"request late\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_control_dropped_total{reason=\"answer not taken\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("offcpud_control_dropped_total{reason=\"no room\"} 3\n"));
}

TEST(MetricsTest, SamplesOfWhatRanAreNoWaits) {
  FakeKernel kernel;
  kernel.sample = true;
  DaemonConfig config;
  config.windows = {.length_ns = 3600'000'000'000, .keep = 1};
  const std::unique_ptr<Recording> recording = *Recording::Start(config, StartFake(kernel));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(recording->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_on_cpu_samples_total counter\noffcpud_on_cpu_samples_total 6\n"));
  // 2 windows of 3 samples of 1 ms
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_on_cpu_seconds_total counter\noffcpud_on_cpu_seconds_total 0.006"));
  EXPECT_THAT(text, HasSubstr("offcpud_waits_total{kind=\"open\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("running")));
}

TEST(MetricsTest, TellWhatRecordingCosts) {
  FakeKernel kernel;
  DaemonConfig config;
  config.windows = {.length_ns = 3600'000'000'000, .keep = 1};
  config.record.cpu_budget_ppm = 5'000;
  const std::unique_ptr<Recording> recording = *Recording::Start(config, StartFake(kernel));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(recording->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_own_cpu_seconds_total counter\n"
                              "offcpud_own_cpu_seconds_total{part=\"programs\"} 0.75\n"));  // 3 windows of 250 ms
  EXPECT_THAT(text, HasSubstr("\noffcpud_own_cpu_seconds_total{part=\"captures\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_own_cpu_seconds_total{part=\"daemon\"} 0.375\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_host_cpu_seconds_total 12\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_cpu_budget_seconds_total counter\n"
                              "offcpud_cpu_budget_seconds_total 0.12\n"));  // of each window 1 % of 4 s
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_cpu_budget_ratio gauge\noffcpud_cpu_budget_ratio 0.005"));
  EXPECT_THAT(text,
              HasSubstr("# TYPE offcpud_sample_threshold_seconds gauge\noffcpud_sample_threshold_seconds 3.7e-05\n"));
}

// Only the code that names the windows knows them.
TEST(MetricsTest, TellNamesThatWereLost) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  BlockedSums blocked;
  blocked.lost_names = {{.reason = "names of a module not read in time", .count = 3, .ns = 0}};
  const std::string text = FormatMetrics(*recording, WindowExport(), blocked, HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("\noffcpud_dropped_total{reason=\"names of a module not read in time\"} 3\n"));
}

TEST(MetricsTest, AFixedSampleHasNoBudget) {
  FakeKernel kernel;
  kernel.adapts_sample = false;
  kernel.threshold_ns = 0;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("\noffcpud_cpu_budget_ratio 0\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_cpu_budget_seconds_total 0\n")) << "no window has ended";
  EXPECT_THAT(text, HasSubstr("\noffcpud_sample_threshold_seconds 0\n"));
}

TEST(MetricsTest, WhatIsExportedIsThereIfSomethingIs) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  WindowExport window_export;
  EXPECT_THAT(FormatMetrics(*recording, window_export, BlockedSums(), HttpStats(), ControlStats(), "1"),
              Not(HasSubstr("offcpud_export")));
  ExportConfig config;
  config.target.url = "http://collector.invalid/";
  config.target.proxy = "http://127.0.0.1:1";  // where nobody listens
  window_export.Configure(config);
  window_export.Add(Ended({std::make_shared<const Profile>()}));
  EXPECT_THAT(FormatMetrics(*recording, window_export, BlockedSums(), HttpStats(), ControlStats(), "1"),
              AllOf(HasSubstr("offcpud_export_windows_total 1\n"),
                    HasSubstr("offcpud_export_lost_total{reason=\"too old\"} 0\n"),
                    HasSubstr("offcpud_export_lost_seconds_total{reason=\"encoder busy\"} 0\n"),
                    HasSubstr("# TYPE offcpud_export_refused_profiles_total counter\n")));
}

// Each wait is in its bucket and in all that are longer; those that were sampled count as what they stand for.
TEST(MetricsTest, WaitsForACpuAreAHistogram) {
  FakeKernel kernel;
  DaemonConfig config;
  config.windows = {.length_ns = 3600'000'000'000, .keep = 1};
  const std::unique_ptr<Recording> recording = *Recording::Start(config, StartFake(kernel));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(recording->CutNow(Recording::Clock::now() + std::chrono::seconds(20)).ok());
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_run_queue_latency_seconds histogram\n"
                              // 2 windows: 20 ms, and 5 us that stand for 2.5 waits
                              "offcpud_run_queue_latency_seconds_count 7\n"
                              "offcpud_run_queue_latency_seconds_sum 0.04"));
  for (const char* bucket : {"1e-05\"} 5", "5e-05\"} 5", "0.01\"} 5", "0.025\"} 7", "0.5\"} 7", "+Inf\"} 7"})
    EXPECT_THAT(text, HasSubstr(std::string("offcpud_run_queue_latency_seconds_bucket{le=\"") + bucket + "\n"));
}

TEST(MetricsTest, BlockedTimeIsByCauseAndWhetherItIsForWork) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  BlockedSums blocked;
  blocked.times[{"lock", "mutex"}].work_ns = 2'000'000'000;
  blocked.times[{"poll", "poll"}].idle_ns = 3'000'000'000;
  blocked.not_told_ns = 4'000'000'000;
  const std::string text = FormatMetrics(*recording, WindowExport(), blocked, HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_blocked_seconds_total counter\n"
                              "offcpud_blocked_seconds_total{cause=\"lock\",wait=\"mutex\",idle=\"false\"} 2\n"
                              "offcpud_blocked_seconds_total{cause=\"lock\",wait=\"mutex\",idle=\"true\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_blocked_seconds_total{cause=\"poll\",wait=\"poll\",idle=\"false\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_blocked_seconds_total{cause=\"poll\",wait=\"poll\",idle=\"true\"} 3\n"));
  EXPECT_THAT(text,
              HasSubstr("\noffcpud_blocked_seconds_total{cause=\"unknown\",wait=\"unknown\",idle=\"false\"} 4\n"));
  EXPECT_THAT(text, Not(HasSubstr("cause=\"preempted\"")));
}

TEST(MetricsTest, ServicesAndContainersHaveTheirTimes) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  BlockedSums blocked;
  blocked.groups.Add({{{.unit = "shop.service", .pod = "", .container = ""},
                       {.blocked_ns = {{"lock", 2'000'000'000}}, .runnable_ns = 500'000'000}},
                      {{.unit = "", .pod = "p1", .container = "c1"}, {.blocked_ns = {{"network", 1'000'000'000}}}}});
  const std::string text = FormatMetrics(*recording, WindowExport(), blocked, HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_group_blocked_seconds_total counter\n"
                              "offcpud_group_blocked_seconds_total{unit=\"\",pod=\"p1\",container=\"c1\","
                              "cause=\"network\"} 1\n"
                              "offcpud_group_blocked_seconds_total{unit=\"shop.service\",pod=\"\",container=\"\","
                              "cause=\"lock\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_group_runnable_seconds_total{unit=\"shop.service\",pod=\"\",container=\"\"} "
                              "0.5\n"));
  EXPECT_THAT(text, HasSubstr("\noffcpud_group_runnable_seconds_total{unit=\"[other]\",pod=\"\",container=\"\"} 0\n"));
}

TEST(MetricsTest, LossesAreThereOnceTheyHappen) {
  FakeKernel kernel;
  const std::unique_ptr<Recording> recording = *Recording::Start({}, StartFake(kernel));
  const std::string text = FormatMetrics(*recording, WindowExport(), BlockedSums(), HttpStats(), ControlStats(), "1");
  EXPECT_THAT(text, HasSubstr("# TYPE offcpud_dropped_total counter\n# HELP offcpud_dropped_seconds_total"));
}

}  // namespace
}  // namespace offcpu
