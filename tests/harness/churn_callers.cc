#include "tests/harness/churn_callers.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

const std::set<std::string_view> kNamed = {
    "image_a_wait",     "image_a_caller",   "image_a_execer",  "image_b_wait",     "image_b_caller",
    "image_b_execer",   "image_b_in_front", "fork_child_wait", "fork_parent_wait", "exit_blocked_wait",
    "exit_thread_wait", "exit_main_wait",   "call_a",          "call_b",           "lib_a_sleep",
    "lib_a_wait",       "lib_b_sleep",      "lib_b_wait",      "lib_b_in_front"};

bool IsTarget(std::string_view module) {
  return module == "churn" || module == "churn_b" || module == "libchurn_a.so" || module == "libchurn_b.so";
}

bool IsSystem(std::string_view module) {
  return module.rfind("libc.so", 0) == 0 || module.rfind("ld-linux", 0) == 0 || module.rfind("libstdc++", 0) == 0 ||
         module.rfind("libgcc_s", 0) == 0 || module.rfind("libm.so", 0) == 0 || module == "[vdso]";
}

}  // namespace

void ExpectRealCallers(const StackRow& row, const Callers& callers) {
  const std::vector<NamedFrame>& frames = row.user->frames;
  std::set<std::string_view> images;
  for (size_t i = 0; i < frames.size(); ++i) {
    const NamedFrame& frame = frames[i];
    EXPECT_TRUE(IsTarget(frame.module_name) || IsSystem(frame.module_name))
        << frame.module_name << " in " << row.Text();
    if (frame.module_name == "churn" || frame.module_name == "churn_b") images.insert(frame.module_name);
    if (kNamed.count(frame.name()) == 0) continue;
    const auto caller = callers.find(frame.name());
    ASSERT_NE(caller, callers.end()) << frame.name() << " in " << row.Text();
    if (i + 1 == frames.size()) {
      EXPECT_FALSE(row.complete()) << row.Text();
      continue;
    }
    const NamedFrame& next = frames[i + 1];
    if (caller->second.empty()) {
      EXPECT_TRUE(IsTarget(next.module_name) && kNamed.count(next.name()) == 0) << frame.name() << " in " << row.Text();
    } else {
      EXPECT_EQ(next.name(), caller->second) << row.Text();
    }
  }
  EXPECT_LE(images.size(), 1u) << "two images in one stack: " << row.Text();
  EXPECT_TRUE(!row.complete() || frames.back().name() == "_start" || IsSystem(frames.back().module_name)) << row.Text();
}

Callers ImageCallers() {
  return {{"image_a_wait", "image_a_caller"}, {"image_a_caller", ""}, {"image_a_execer", ""},
          {"image_b_wait", "image_b_caller"}, {"image_b_caller", ""}, {"image_b_execer", ""}};
}

Callers LibraryCallers() {
  return {{"call_a", ""},
          {"call_b", ""},
          {"lib_a_wait", "call_a"},
          {"lib_b_wait", "call_b"},
          {"lib_a_sleep", "lib_a_wait"},
          {"lib_b_sleep", "lib_b_wait"}};
}

}  // namespace offcpu::integration
