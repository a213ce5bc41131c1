// A stack of a hundred thousand frames: what is kept of it, and that nobody takes that for all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"
#include "unwind/walk.h"

namespace offcpu::integration {
namespace {

constexpr size_t kFrames = 100'000;

std::unique_ptr<Target> StartVeryDeep(const std::string& wait_ms) {
  return Target::Start({"very_deep", "--frames", std::to_string(kFrames), "--wait-ms", wait_ms, "--seconds", "2"});
}

// Who reads the stack of a thread that waits reads all of it.
TEST(DeepStacks, HaveTheirOutermostFramesInAReading) {
  const std::unique_ptr<Target> target = StartVeryDeep("20000");
  ASSERT_NE(target, nullptr);
  target->Go();
  // Until the thread has gone down there.
  NamedProfile named;
  std::vector<NamedUserStack> cut;  // with names that are in `named`
  for (int attempt = 0; attempt < 100 && cut.empty(); ++attempt) {
    absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
    ASSERT_TRUE(stacks.ok()) << stacks.status();
    named = Symbolize(std::move(stacks->profile));
    for (NamedUserStack& stack : named.user_stacks) {
      EXPECT_TRUE(stack.end != EndReason::kComplete || stack.frames.size() < kMaxFrames);
      if (stack.end == EndReason::kFrameLimit) cut.push_back(std::move(stack));
    }
  }
  ASSERT_EQ(cut.size(), 1u) << "of the two threads";
  const std::vector<NamedFrame>& frames = cut.front().frames;
  ASSERT_EQ(frames.size(), kMaxFrames + 1);
  const auto place_of = [&frames](std::string_view name) {
    const auto found =
        std::find_if(frames.begin(), frames.end(), [&](const auto& frame) { return frame.name() == name; });
    return static_cast<size_t>(found - frames.begin());
  };
  const size_t innermost = place_of("innermost");
  const size_t outermost = place_of("outermost");
  ASSERT_LT(innermost, kMaxFrames / 2);
  ASSERT_LT(outermost, frames.size());
  EXPECT_GT(place_of("start_thread"), outermost);
  EXPECT_LT(place_of("start_thread"), frames.size());
  // Between both there is nothing but the recursion, of which so many are left out as the mark says.
  const NamedFrame& mark = frames[kMaxFrames / 2];
  EXPECT_TRUE(mark.is_marker());
  const uint64_t kept = outermost - innermost - 2;
  EXPECT_EQ(mark.name(), "[" + std::to_string(kFrames - kept) + " frames left out]");
  for (size_t i = innermost + 1; i < outermost; ++i)
    EXPECT_TRUE(frames[i].is_marker() || frames[i].name() == "recurse");
}

}  // namespace
}  // namespace offcpu::integration
