#include "classify/idle_match.h"

#include <asm/unistd_64.h>

#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/classify/frames.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

using Kernel = std::vector<NamedFrame>;  // leaf first

IdlePattern PatternOf(const std::string& lines) {
  IdlePatterns patterns;
  const absl::Status status = AddIdlePatterns("[p]\n" + lines, "f", &patterns);
  EXPECT_TRUE(status.ok()) << status;
  return patterns.empty() ? IdlePattern() : patterns[0];
}

bool Matches(const std::string& stack, const std::vector<std::string_view>& frames) {
  const IdlePattern pattern = PatternOf("syscall = read\nstack = " + stack);
  return !pattern.stacks.empty() && MatchesStack(pattern.stacks[0], Frames(frames));
}

TEST(MatchesStack, EachFunctionFromTheOutermostToTheLeaf) {
  EXPECT_TRUE(Matches("loop; wait", {"a!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait", {"a!wait", "a!loop", "a!main"})) << "callers do not matter";
  EXPECT_FALSE(Matches("loop; wait", {"a!wait", "a!work", "a!loop"})) << "another function in between";
  EXPECT_FALSE(Matches("loop; wait", {"a!read", "a!wait", "a!loop"})) << "another one further in";
  EXPECT_FALSE(Matches("loop; wait", {"a!loop", "a!wait"})) << "the other way round";
  EXPECT_FALSE(Matches("loop; wait", {"a!wait"})) << "the caller was not found";
  EXPECT_FALSE(Matches("loop; wait", {"a!wait", "a!"})) << "the caller has no name";
  EXPECT_FALSE(Matches("loop; wait", {"a!", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait", {}));
}

TEST(MatchesStack, NamesAreGlobs) {
  EXPECT_TRUE(Matches("Pool<*>::Wait; wait", {"a!wait", "a!Pool<int>::Wait"}));
  EXPECT_TRUE(Matches("a | loop; wai?", {"a!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loo; wait", {"a!wait", "a!loop"}));
  EXPECT_FALSE(Matches("oop; wait", {"a!wait", "a!loop"}));
}

TEST(MatchesStack, WhatCompilersAppendDoesNotMatter) {
  EXPECT_TRUE(Matches("loop; wait", {"a!wait.constprop.0", "a!loop.part.12.cold"}));
  EXPECT_TRUE(Matches("loop; wait.constprop.0", {"a!wait.constprop.0", "a!loop"})) << "as tables show it";
  EXPECT_FALSE(Matches("loop; wait.constprop.0", {"a!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait", {"a!wait.isra.0", "a!loop.lto_priv.0.constprop.1"}));
  EXPECT_FALSE(Matches("loop; wait", {"a!wait", "a!loop.func1"})) << "a closure of Go";
  EXPECT_FALSE(Matches("loop; wait", {"a!wait.colder", "a!loop"}));
}

TEST(MatchesStack, AFunctionInBracketsMayBeMissingOrWithoutAName) {
  const std::string pattern = "loop; [step]; [poll]; wait";
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!poll", "a!step", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!step", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "a!", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "a!step", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "a!", "a!", "a!loop"})) << "more than are named";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!other", "a!loop"})) << "it has a name, and another one";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!step", "a!poll", "a!loop"})) << "the other way round";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "b!", "a!loop"})) << "code of neither its caller nor its callee";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "!", "a!loop"})) << "generated code";
  EXPECT_TRUE(Matches("loop; wait; [futex]", {"c!futex", "c!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait; [futex]", {"c!", "c!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait; [futex]", {"c!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait; [futex]", {"c!", "c!", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait; [futex]", {"ld-musl-x86_64.so.1!", "ld-musl-x86_64.so.1!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait; [futex]", {"ld-musl-x86_64.so.1!futex", "ld-musl-x86_64.so.1!wait", "a!loop"}));
}

TEST(MatchesStack, AFunctionThatMayBeWithoutANameIsNeverMissing) {
  const std::string pattern = "loop; wait; futex | <no name>; cancel | <no name>";
  EXPECT_TRUE(Matches(pattern, {"c!", "c!", "c!wait", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!cancel", "c!futex", "c!wait", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!", "c!futex", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!", "c!", "c!", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!other", "c!", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"d!", "c!", "c!wait", "a!loop"}));
}

// Such as one of an extension module: code of the program calls it, and it calls code of the program.
TEST(MatchesStack, AFunctionWithoutANameMayBeKnownByItsModule) {
  const std::string pattern = "loop; get | <no name in queue.*>; wait";
  EXPECT_TRUE(Matches(pattern, {"c!wait", "queue.so!", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "queue.so!get", "a!loop"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!get", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "queues.so!", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "queue.so!put", "a!loop"})) << "it has a name, and another one";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "queue.so!", "queue.so!", "a!loop"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "!", "a!loop"})) << "generated code";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; [get | <no name in queue.*>]; wait", {"c!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; get | <no name> | <no name in queue.*>; wait", {"c!wait", "a!", "a!loop"}));
}

// A stripped program has no name for it, and calls the C library from there.
TEST(MatchesStack, MainIsKnownByItsCaller) {
  const std::string pattern = "main; wait";
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!main"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "c!__libc_start_call_main", "c!__libc_start_main", "a!"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "c!", "c!__libc_start_main", "a!"}));
  EXPECT_TRUE(Matches(pattern, {"c!wait", "a!", "c!__libc_start_main", "a!"})) << "before glibc 2.34";
  EXPECT_TRUE(Matches("main; [step]; wait", {"c!wait", "a!", "a!", "c!", "c!__libc_start_main"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!other", "c!", "c!__libc_start_main"})) << "it has a name";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "a!", "c!", "c!__libc_start_main"})) << "main has called another";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "a!", "c!__libc_start_main"})) << "main has called another";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "b!", "c!", "c!__libc_start_main"})) << "a library has called it";
  EXPECT_FALSE(Matches(pattern, {"a!wait", "a!", "a!__libc_start_main"})) << "a static program, without other names";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "c!", "c!"})) << "a thread";
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!", "c!"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "a!"}));
  EXPECT_FALSE(Matches(pattern, {"c!wait", "!", "c!", "c!__libc_start_main"})) << "generated code";
  EXPECT_FALSE(Matches("loop; wait", {"c!wait", "a!", "c!__libc_start_main"}));
}

TEST(MatchesStack, DotsAreTheCalleesWithinALibrary) {
  EXPECT_TRUE(Matches("loop; wait; ...", {"c!wait", "a!loop"}));
  EXPECT_TRUE(Matches("loop; wait; ...", {"c!", "c!syscall_cancel", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait; ...", {"a!handler", "c!__restore_rt", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait; ...", {"a!handler", "a!__restore_rt", "a!wait", "a!loop"})) << "a static program";
  EXPECT_FALSE(Matches("loop; wait; ...", {"c!read", "a!handler", "c!", "c!wait", "a!loop"}));
  EXPECT_FALSE(Matches("loop; wait; ...", {"!", "!wait", "a!loop"})) << "generated code";
}

TEST(MatchesStack, AStackMadeToTakeLongDoesNot) {
  std::string pattern = "loop";
  for (size_t i = 2; i < kMaxIdleFrames; ++i) pattern += "; [f]";
  std::vector<std::string_view> frames(500, "a!");
  frames[0] = "a!wait";
  EXPECT_FALSE(Matches(pattern + "; wait", frames));
  frames[15] = "a!loop";
  EXPECT_TRUE(Matches(pattern + "; wait", frames));
}

const Kernel kFutex = KernelFrames({"__schedule", "schedule", "futex_wait_queue", "__futex_wait", "futex_wait",
                                    "do_futex", "__x64_sys_futex", "do_syscall_64"});

IdleWait FutexWait(WaitKind kind = WaitKind::kSleeping) {
  return {.process = "server", .thread = "pool-1", .kind = kind, .syscall = __NR_futex, .kernel = kFutex};
}

TEST(MatchesWait, AllThatIsGivenMustHold) {
  const IdleWait wait = FutexWait();
  EXPECT_TRUE(MatchesWait(PatternOf("syscall = futex\nstack = f"), wait));
  EXPECT_TRUE(MatchesWait(PatternOf("syscall = read | futex\nstack = f\nprocess = x | serv*\nthread = pool-?"), wait));
  EXPECT_FALSE(MatchesWait(PatternOf("syscall = read\nstack = f"), wait));
  EXPECT_FALSE(MatchesWait(PatternOf("syscall = futex\nstack = f\nprocess = serve"), wait));
  EXPECT_FALSE(MatchesWait(PatternOf("syscall = futex\nstack = f\nthread = server"), wait));
  EXPECT_TRUE(MatchesWait(PatternOf("syscall = futex\nstack = f\ncause = poll | lock"), wait));
  EXPECT_FALSE(MatchesWait(PatternOf("syscall = futex\nstack = f\ncause = poll"), wait));
}

TEST(MatchesWait, OnlyWaitsThatASignalCanEnd) {
  const IdlePattern pattern = PatternOf("syscall = futex\nstack = f");
  EXPECT_TRUE(MatchesWait(pattern, FutexWait(WaitKind::kOpen)));
  for (const WaitKind kind :
       {WaitKind::kDisk, WaitKind::kStopped, WaitKind::kPreempted, WaitKind::kYielded, WaitKind::kOther}) {
    EXPECT_FALSE(MatchesWait(pattern, FutexWait(kind))) << Name(kind);
  }
}

TEST(MatchesWait, AWaitOfTheKernelsWithinTheCallIsAnother) {
  const IdlePattern futex = PatternOf("syscall = futex\nstack = f");
  const IdlePattern epoll = PatternOf("syscall = epoll_wait\nstack = f");
  const auto open = [](int32_t syscall, const Kernel& kernel) {
    return IdleWait{.process = "", .thread = "", .kind = WaitKind::kOpen, .syscall = syscall, .kernel = kernel};
  };
  const Kernel polling = KernelFrames({"do_epoll_wait", "__x64_sys_epoll_wait", "do_syscall_64"});
  EXPECT_TRUE(MatchesWait(epoll, open(__NR_epoll_wait, polling)));
  const Kernel lock_of_epoll = KernelFrames({"__mutex_lock.constprop.0", "do_epoll_wait", "do_syscall_64"});
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, lock_of_epoll)));
  const Kernel fault = KernelFrames({"folio_wait_bit_common", "filemap_fault", "asm_exc_page_fault", "do_epoll_wait"});
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, fault)));
  const Kernel memory_map = KernelFrames({"rwsem_down_read_slowpath", "down_read", "asm_exc_page_fault", "futex_wait"});
  EXPECT_FALSE(MatchesWait(futex, open(__NR_futex, memory_map)));
  const Kernel handed_on =
      KernelFrames({"rt_mutex_slowlock_block.constprop.0", "rt_mutex_wait_proxy_lock", "futex_lock_pi", "do_futex"});
  EXPECT_FALSE(MatchesWait(futex, open(__NR_futex, handed_on)));
  const Kernel wants_to_run = KernelFrames({"exit_to_user_mode_loop", "do_syscall_64"});
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, wants_to_run)));
  const Kernel stopped = KernelFrames({"do_signal_stop", "do_epoll_wait", "do_syscall_64"});
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, stopped)));
  const Kernel no_names = KernelFrames({"[kernel] 0xffffffff81000000"});
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, no_names))) << "what it waits for is not known";
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, {})));
}

class MarkIdleTest : public testing::Test {
 protected:
  MarkIdleTest() {
    profile_.processes.push_back({.key = {.pid = 1}, .name = "nginx", .container = ""});
    profile_.comms.emplace_back("nginx");
    profile_.kernel_stacks.push_back({.frames = KernelFrames({"schedule", "do_epoll_wait", "do_syscall_64"})});
    AddStack({"libc.so.6!epoll_wait", "nginx!", "nginx!ngx_process_events_and_timers"});
    AddStack({"libc.so.6!epoll_wait", "nginx!ngx_something"});
  }
  void AddStack(const std::vector<std::string_view>& texts) {
    profile_.user_stacks.push_back({.frames = Frames(texts)});
  }
  void AddRow(uint32_t user, WaitKind kind = WaitKind::kSleeping, int32_t syscall = __NR_epoll_wait) {
    profile_.rows.push_back({{{.user_stack = user, .kind = kind, .syscall = syscall}, {.count = 1, .blocked_ns = 1}}});
  }
  std::vector<std::string_view> Marks() { return MarksBy(DefaultIdlePatterns()); }
  std::vector<std::string_view> MarksBy(const IdlePatterns& patterns) {
    MarkIdle(patterns, &profile_);
    EXPECT_TRUE(profile_.idle_is_told);
    std::vector<std::string_view> marks;
    for (const NamedRow& row : profile_.rows) marks.push_back(row.idle);
    return marks;
  }

  NamedProfile profile_;
};

TEST_F(MarkIdleTest, EachRowByItself) {
  AddRow(0);
  AddRow(1);
  AddRow(0, WaitKind::kPreempted);
  AddRow(0, WaitKind::kOpen);
  AddRow(0, WaitKind::kSleeping, kNoSystemCall);
  EXPECT_THAT(Marks(), ElementsAre("nginx: event loop", "", "", "nginx: event loop", ""));
  EXPECT_THAT(Marks(), ElementsAre("nginx: event loop", "", "", "nginx: event loop", "")) << "and again";
  EXPECT_THAT(MarksBy({}), ElementsAre("", "", "", "", ""));
}

TEST_F(MarkIdleTest, TheFirstPatternCounts) {
  AddRow(0);
  IdlePatterns patterns = DefaultIdlePatterns();
  ASSERT_TRUE(AddIdlePatterns("[mine]\nsyscall = epoll_wait\nstack = epoll_wait\n"
                              "[mine too]\nsyscall = epoll_wait\nstack = ngx_*; epoll_wait\n"
                              "[nginx: event loop]\nsyscall = epoll_wait\nstack = ngx_process*; [x]; epoll_wait\n",
                              "f", &patterns)
                  .ok());
  EXPECT_THAT(MarksBy(patterns), ElementsAre("mine"));
}

}  // namespace
}  // namespace offcpu
