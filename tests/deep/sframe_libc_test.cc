// A C library that is described by SFrame: its start code, its thread start and its sleep.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/harness/harness.h"
#include "unwind/unwind_order.h"

namespace offcpu::integration {
namespace {

TEST(SFrameLibc, IsWalkedToItsStart) {
  if (!std::filesystem::exists(BinDirectory() + "/targets/deep_sframe"))
    GTEST_SKIP() << "no such libc; see WITH_LIBC in scripts/sframe-toolchain";
  const std::unique_ptr<Target> target = Target::Start({"deep_sframe", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.unwind = *ParseUnwindOrder("sframe");
  const Recording recording = Record(config, *target);
  // One whose time is over while its thread is still on its way to sleep is none. The host may pause there twice.
  const uint64_t no_sleeps = 2 + target->stolen_ns() / 1'000'000;
  for (const char* thread : {"main", "deep_thread"}) {
    const bool is_main = std::string(thread) == "main";
    uint64_t whole = 0;
    for (const StackRow& row : recording.Rows(
             [&](const StackRow& r) { return r.Has("deep_sleep") && (r.comm == "deep_thread") != is_main; })) {
      EXPECT_TRUE(row.complete()) << row.Text();
      EXPECT_TRUE(row.Calls(is_main ? std::vector<std::string>{"_start", "main", "deep_01", "deep_60", "deep_sleep"}
                                    : std::vector<std::string>{"start_thread", "deep_01", "deep_60", "deep_sleep"}))
          << row.Text();
      EXPECT_GT(row.user->frames.size(), 62u);
      whole += row.row->count;
    }
    EXPECT_GE(whole + no_sleeps, target->Measured(thread, "deep_sleep").count) << recording.LossesText();
  }
  for (const StackRow& row : recording.Rows([](const StackRow&) { return true; }))
    for (size_t i = 1; i < row.user->frames.size(); ++i) EXPECT_EQ(Name(row.user->frames[i].source), "sframe");
}

}  // namespace
}  // namespace offcpu::integration
