// A program that forks all the time while its other threads wait in every usual way: no stack is cut. While a process
// forks, the kernel hides its mappings from readers, one after the other. OFFCPU_FORK_STACKS says how many stacks to
// look at; without it as many as come in a few seconds.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

struct Stacks {
  uint64_t whole = 0;
  uint64_t missing = 0;
};

// Was the thread interrupted where clone3 has returned to parent and child? The C library has no row for these few
// instructions, because none would be right for both.
bool IsBetweenParentAndChild(const StackRow& row) {
  return row.user->end == EndReason::kNoRow && row.user->frames.size() == 1 && row.Has("clone3");
}

// Records a few seconds. Fails if a stack is cut.
void RecordForks(Stacks* stacks) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "3", "--fork-ms", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  ASSERT_GT(target->Value("forks"), 100u) << "it hardly forks: no test";
  for (const StackRow& row : recording.Rows([](const StackRow&) { return true; })) {
    if (row.user->missing != NoUserStack::kNone || IsBetweenParentAndChild(row)) {
      stacks->missing += row.row->count;
      continue;
    }
    EXPECT_TRUE(row.complete()) << row.Text();
    if (row.complete()) stacks->whole += row.row->count;
  }
  std::printf("%llu forks, %llu stacks, %llu intervals without; %s",
              static_cast<unsigned long long>(target->Value("forks")), static_cast<unsigned long long>(stacks->whole),
              static_cast<unsigned long long>(stacks->missing), recording.LossesText().c_str());
}

TEST(Forks, CutNoStack) {
  const char* wanted_text = getenv("OFFCPU_FORK_STACKS");
  const uint64_t wanted = wanted_text != nullptr ? std::strtoull(wanted_text, nullptr, 10) : 1;
  Stacks stacks;
  while (stacks.whole < wanted && !testing::Test::HasFailure()) RecordForks(&stacks);
  EXPECT_LT(stacks.missing, stacks.whole / 100) << "of which nothing can be told";
}

}  // namespace
}  // namespace offcpu::integration
