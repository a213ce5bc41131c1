// The patterns of packaging/causes.conf: each with a stack of a wait that it names, and beside it those that look much
// like it. docs/causes.md has a table of all causes, which is compared with them.
#include <asm/unistd_64.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "classify/idle_match.h"
#include "gtest/gtest.h"
#include "tests/classify/cause_examples.h"
#include "tests/classify/frames.h"

namespace offcpu {
namespace {

std::vector<NamedFrame> KernelOf(int32_t syscall) {
  switch (syscall) {
    case __NR_futex:
      return KernelFrames({"schedule", "futex_wait_queue", "__futex_wait", "futex_wait", "do_futex"});
    case __NR_nanosleep:
    case __NR_clock_nanosleep:
      return KernelFrames({"schedule", "do_nanosleep", "hrtimer_nanosleep"});
    case __NR_semop:
    case __NR_semtimedop:
      return KernelFrames({"schedule", "__do_semtimedop", "do_semtimedop"});
    default:
      return KernelFrames({"schedule", "do_poll"});
  }
}

std::vector<std::string_view> Split(std::string_view frames) {
  std::vector<std::string_view> texts;
  for (size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 3) {
    end = frames.find(" < ", begin);
    texts.push_back(frames.substr(begin, end == std::string_view::npos ? end : end - begin));
  }
  return texts;
}

NamedProfile ProfileOf(const CauseExample& example) {
  NamedProfile profile;
  profile.processes = {{.key = {.pid = 10}, .name = std::string(example.process), .container = ""}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.frames = KernelOf(example.syscall)}};
  profile.user_stacks = {{.frames = Frames(Split(example.frames))}};
  profile.rows = {{{{.kind = WaitKind::kSleeping, .syscall = example.syscall}, {.count = 1, .blocked_ns = 5}}}};
  return profile;
}

TEST(ShippedCauses, NameWaitsAndNotThoseThatLookLikeThem) {
  const IdlePatterns patterns = DefaultIdlePatterns();
  for (const CauseExample& example : CauseExamples()) {
    NamedProfile profile = ProfileOf(example);
    NameWaits(patterns, &profile);
    EXPECT_EQ(profile.rows[0].wait, example.wait) << example.frames;
  }
}

// Without the pattern that an example is of, the wait has another name, or has its name by another pattern.
TEST(ShippedCauses, EachHasAnExampleThatMatchesIt) {
  for (const IdlePattern& pattern : DefaultIdlePatterns()) {
    if (pattern.wait.empty()) continue;
    const auto is_of = [&](const CauseExample& example) { return example.pattern == pattern.name; };
    const auto example = std::find_if(CauseExamples().begin(), CauseExamples().end(), is_of);
    ASSERT_NE(example, CauseExamples().end()) << pattern.name;
    NamedProfile profile = ProfileOf(*example);
    NameWaits({pattern}, &profile);
    EXPECT_EQ(profile.rows[0].wait, pattern.wait) << pattern.name;
  }
}

TEST(ShippedCauses, AreForEachOfTheKernelsFunctionsOnly) {
  const IdlePatterns patterns = DefaultIdlePatterns();
  NamedProfile profile = ProfileOf(CauseExamples().front());
  profile.kernel_stacks = {{.frames = KernelFrames({"schedule", "rwsem_down_read_slowpath", "down_read", "do_futex"})}};
  NameWaits(patterns, &profile);
  EXPECT_EQ(profile.rows[0].wait, "kernel lock") << "on the way to the mutex";
  profile = ProfileOf(CauseExamples().front());
  profile.rows[0].kind = WaitKind::kPreempted;
  profile.kernel_stacks = {{.frames = KernelFrames({"schedule", "syscall_exit_to_user_mode", "do_syscall_64"})}};
  NameWaits(patterns, &profile);
  EXPECT_EQ(profile.rows[0].wait, "preempted") << "on the way back";
  profile = ProfileOf(CauseExamples().front());
  profile.rows[0].kind = WaitKind::kRunning;
  NameWaits(patterns, &profile);
  EXPECT_EQ(profile.rows[0].wait, "") << "an on-CPU sample";
}

TEST(ShippedCauses, PatternsOfAUserComeFirst) {
  IdlePatterns patterns = DefaultIdlePatterns();
  ASSERT_TRUE(AddIdlePatterns("[cache: its lock]\nwait = cache\ncause = lock\nstack = work*; pthread_mutex_lock; ...\n",
                              "f", &patterns)
                  .ok());
  NamedProfile profile = ProfileOf(CauseExamples().front());
  MarkIdle(patterns, &profile);
  EXPECT_EQ(profile.rows[0].wait, "cache");
  EXPECT_EQ(profile.rows[0].idle, "") << "it hides nothing";
}

// "| `mutex` | `lock` | what it is | known by |" of docs/causes.md, by the cause.
struct Documented {
  std::set<std::string> families;
  std::set<std::string> known_by;
  bool operator==(const Documented&) const = default;
};

std::set<std::string> Listed(const std::string& cell) {
  std::set<std::string> items;
  std::string item;
  for (const char c : cell + ",") {
    if (c == ',') {
      items.insert(item);
      item.clear();
    } else if (c != '`' && (c != ' ' || !item.empty())) {
      item += c;
    }
  }
  return items;
}

std::map<std::string, Documented> TableInDocs() {
  std::map<std::string, Documented> table;
  std::ifstream file(std::string(OFFCPU_SOURCE_DIR) + "/docs/causes.md");
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    for (size_t begin = 0, end = 0; (end = line.find(" | ", begin)) != std::string::npos; begin = end + 3)
      cells.push_back(line.substr(begin, end - begin));
    if (cells.size() != 3 || !cells[0].starts_with("| `")) continue;
    const std::string last = line.substr(line.rfind(" | ") + 3);
    const std::string cause = cells[0].substr(3, cells[0].size() - 4);
    table[cause] = {.families = Listed(cells[1]), .known_by = Listed(last.substr(0, last.rfind(" |")))};
  }
  return table;
}

TEST(ShippedCauses, AreAllInTheTableOfTheDocumentation) {
  std::map<std::string, Documented> expected;
  for (int i = 0; i < kWaitCauseCount; ++i) {
    const auto cause = static_cast<WaitCause>(i);
    Documented& row = expected[std::string(Name(cause))];
    row.families.emplace(Family(cause));
    row.known_by.emplace("kernel");
  }
  for (const IdlePattern& pattern : DefaultIdlePatterns()) {
    if (pattern.wait.empty()) continue;
    Documented& row = expected[pattern.wait];
    for (const WaitCause cause : pattern.causes) row.families.emplace(Family(cause));
    row.known_by.insert(pattern.name.substr(0, pattern.name.find(": ")));
  }
  const std::map<std::string, Documented> documented = TableInDocs();
  for (const auto& [cause, row] : expected) {
    std::string known_by;
    for (const std::string& one : row.known_by) known_by += (known_by.empty() ? "" : ", ") + one;
    ASSERT_TRUE(documented.contains(cause)) << cause << ", known by " << known_by;
    EXPECT_EQ(documented.at(cause).families, row.families) << cause;
    EXPECT_EQ(documented.at(cause).known_by, row.known_by) << cause << ": " << known_by;
  }
  EXPECT_EQ(documented.size(), expected.size());
}

}  // namespace
}  // namespace offcpu
