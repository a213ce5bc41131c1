// Stacks that do not lie in one place, on the real kernel: what is behind a large frame, what a signal handler with a
// stack of its own has interrupted, and a context, whose stack leads to nobody else's. The first captures of a thread
// end early; then the walker knows which pieces of the stack it needs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

struct FarStack {
  std::string name;
  std::vector<std::string> words;    // of the target
  std::vector<std::string> between;  // outer_1 and inner_3
};

void PrintTo(const FarStack& stack, std::ostream* out) { *out << stack.name; }

std::vector<std::string> Chain(const FarStack& stack) {
  std::vector<std::string> chain = {"start_thread", "outer_3", "outer_2", "outer_1"};
  chain.insert(chain.end(), stack.between.begin(), stack.between.end());
  for (const char* name : {"inner_3", "inner_2", "inner_1"}) chain.emplace_back(name);
  return chain;
}

class FarStacks : public testing::TestWithParam<FarStack> {};

TEST_P(FarStacks, AreWhole) {
  std::vector<std::string> words = {"far_stacks", "--seconds", "3"};
  words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const std::vector<std::string> chain = Chain(GetParam());
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.complete() && r.Has("inner_1"); })) {
    EXPECT_TRUE(row.Calls(chain)) << row.Text();
  }
  const Measure measured = target->Measured("far", "inner_1");
  const Measure whole = recording.Sum([&](const StackRow& row) { return row.complete() && row.Calls(chain); });
  std::printf("%s: %.1f %% of %llu waits whole\n", GetParam().name.c_str(),
              100.0 * static_cast<double>(whole.count) / static_cast<double>(measured.count),
              static_cast<unsigned long long>(measured.count));
  // By then the walker has told which pieces it needs, on a busy machine too.
  constexpr uint64_t kSoonNs = 1'000'000'000;
  EXPECT_GT(whole.ns + kSoonNs, measured.ns * 99 / 100) << recording.LossesText();
}

INSTANTIATE_TEST_SUITE_P(
    Places, FarStacks,
    testing::Values(FarStack{"frame_of_100_kib", {"large", "102400"}, {"large_frame"}},
                    FarStack{"frame_of_1_mib", {"large", "1048576"}, {"large_frame"}},
                    FarStack{"handler", {"handler"}, {"first_handler"}},
                    FarStack{"handler_in_handler", {"handler_in_handler"}, {"first_handler", "second_handler"}}),
    [](const testing::TestParamInfo<FarStack>& stack) { return stack.param.name; });

// The frames beyond inner_3, innermost first.
std::vector<std::string> BeyondInner(const StackRow& row) {
  std::vector<std::string> names;
  bool beyond = false;
  for (const NamedFrame& frame : row.user->frames) {
    if (beyond) names.emplace_back(frame.name());
    beyond = beyond || frame.name() == "inner_3";
  }
  return names;
}

// All that the thread sleeps has the stack that is `wanted`.
void ExpectStacks(const Recording& recording, const Target& target, const RowPredicate& wanted) {
  const Measure found = recording.Sum([&](const StackRow& row) { return row.Has("inner_1") && wanted(row); });
  EXPECT_TRUE(Within(found.ns, target.Measured("far", "inner_1").ns, 0.02, target.stolen_ns()))
      << recording.LossesText();
}

// Stacks of the C library and of boost.context.
class Contexts : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (is_fiber() && access("/usr/lib/x86_64-linux-gnu/libboost_context.so", R_OK) != 0) {
      GTEST_SKIP() << "libboost-context-dev is not installed";
    }
  }
  static bool is_fiber() { return GetParam(); }
  static std::unique_ptr<Target> Start(const std::string& place) {
    return Target::Start({"far_stacks", "--seconds", "2", place});
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Contexts, testing::Bool(),
                         [](const auto& fiber) { return fiber.param ? "boost" : "libc"; });

TEST_P(Contexts, WhoseBaseSaysThatNobodyCallsItAreWhole) {
  const std::unique_ptr<Target> target = Start(is_fiber() ? "marked_fiber" : "marked");
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const std::string base = is_fiber() ? "marked_fiber_base" : "marked_base";
  ExpectStacks(recording, *target, [&base](const StackRow& row) {
    return row.complete() && BeyondInner(row) == std::vector<std::string>{base};
  });
}

// A base need not say so: then nothing is proven, and the function that entered the context is not shown as caller.
TEST_P(Contexts, EndAtTheirBase) {
  const std::unique_ptr<Target> target = Start(is_fiber() ? "fiber" : "context");
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const std::string base = is_fiber() ? "fiber_base" : "context_base";
  const std::string library = is_fiber() ? "libboost_context.so" : "libc.so.6";
  ExpectStacks(recording, *target, [&](const StackRow& row) {
    const std::vector<std::string> beyond = BeyondInner(row);  // the last one is where the base returns to
    return beyond.size() == 2 && beyond[0] == base && !(is_fiber() && row.complete()) &&
           row.user->frames.back().module_name.starts_with(library);
  });
  EXPECT_TRUE(recording.Rows([](const StackRow& row) { return row.Has("inner_1") && row.Has("outer_1"); }).empty());
}

}  // namespace
}  // namespace offcpu::integration
