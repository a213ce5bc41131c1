#include "symbolize/idle_match.h"

#include <asm/unistd_64.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

using Kernel = std::vector<std::string_view>;  // leaf first

// "MODULE!FUNCTION" or, without a name, "MODULE!"; leaf first.
std::vector<SymbolizedFrame> Frames(const std::vector<std::string_view>& texts) {
  std::vector<SymbolizedFrame> frames;
  for (const std::string_view text : texts) {
    const size_t mark = text.find('!');
    const std::string_view name = text.substr(mark + 1);
    frames.push_back(
        {.name = name.empty() ? "libx.so+0x10" : name, .module = text.substr(0, mark), .named = !name.empty()});
  }
  return frames;
}

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

const Kernel kFutex = {"__schedule", "schedule", "futex_wait_queue", "__futex_wait",
                       "futex_wait", "do_futex", "__x64_sys_futex",  "do_syscall_64"};

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
  const Kernel polling = {"do_epoll_wait", "__x64_sys_epoll_wait", "do_syscall_64"};
  EXPECT_TRUE(MatchesWait(epoll, open(__NR_epoll_wait, polling)));
  const Kernel lock_of_epoll = {"__mutex_lock.constprop.0", "do_epoll_wait", "do_syscall_64"};
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, lock_of_epoll)));
  const Kernel fault = {"folio_wait_bit_common", "filemap_fault", "asm_exc_page_fault", "do_epoll_wait"};
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, fault)));
  const Kernel memory_map = {"rwsem_down_read_slowpath", "down_read", "asm_exc_page_fault", "futex_wait"};
  EXPECT_FALSE(MatchesWait(futex, open(__NR_futex, memory_map)));
  const Kernel wants_to_run = {"exit_to_user_mode_loop", "do_syscall_64"};
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, wants_to_run)));
  const Kernel stopped = {"do_signal_stop", "do_epoll_wait", "do_syscall_64"};
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, stopped)));
  const Kernel no_names = {"[kernel] 0xffffffff81000000"};
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, no_names))) << "what it waits for is not known";
  EXPECT_FALSE(MatchesWait(epoll, open(__NR_epoll_wait, {})));
}

// What is shipped, by stacks as they were recorded of Debian 12's programs, which have no names of static functions.
struct Example {
  std::string_view idle;  // "" for those that look much like it, and are not
  std::string_view process;
  std::string_view thread;
  int32_t syscall;
  std::vector<std::string_view> frames;
};

const Example kExamples[] = {
    {"nginx: event loop",
     "nginx",
     "nginx",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "nginx!", "nginx!ngx_process_events_and_timers", "nginx!", "nginx!ngx_spawn_process"}},
    {"nginx: event loop",  // with names
     "nginx",
     "nginx",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "nginx!ngx_epoll_process_events", "nginx!ngx_process_events_and_timers"}},
    {"nginx: event loop",  // glibc 2.41
     "nginx",
     "nginx",
     __NR_epoll_wait,
     {"libc.so.6!__syscall_cancel_arch", "libc.so.6!__internal_syscall_cancel", "libc.so.6!__syscall_cancel",
      "libc.so.6!epoll_wait", "nginx!", "nginx!ngx_process_events_and_timers"}},
    {"", "nginx", "nginx", __NR_epoll_wait, {"libc.so.6!epoll_wait", "nginx!"}},
    {"",  // reads a file
     "nginx",
     "nginx",
     __NR_pread64,
     {"libc.so.6!pread", "nginx!ngx_read_file", "nginx!", "nginx!ngx_process_events_and_timers"}},
    {"",  // a module that asks something of another program
     "nginx",
     "nginx",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "libfoo.so!", "nginx!ngx_process_events_and_timers"}},
    {"", "nginx", "nginx", __NR_futex, {"libc.so.6!sem_wait", "nginx!ngx_shmtx_lock", "nginx!", "nginx!"}},
    {"nginx: master, waiting for signals",
     "nginx",
     "nginx",
     __NR_rt_sigsuspend,
     {"libc.so.6!sigsuspend", "nginx!ngx_master_process_cycle", "nginx!main"}},
    {"nginx: thread pool",
     "nginx",
     "nginx",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "nginx!ngx_thread_cond_wait", "nginx!",
      "libc.so.6!start_thread"}},
    {"nginx: thread pool",  // a libc without its debug file
     "nginx",
     "nginx",
     __NR_futex,
     {"libc.so.6!", "libc.so.6!pthread_cond_wait", "nginx!ngx_thread_cond_wait", "nginx!", "libc.so.6!"}},
    {"",  // woken, and waits for the mutex of the pool
     "nginx",
     "nginx",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!__pthread_mutex_cond_lock", "libc.so.6!pthread_cond_wait",
      "nginx!ngx_thread_cond_wait", "nginx!", "libc.so.6!start_thread"}},
    {"",  // likewise
     "nginx",
     "nginx",
     __NR_futex,
     {"libc.so.6!", "libc.so.6!", "libc.so.6!pthread_cond_wait", "nginx!ngx_thread_cond_wait", "nginx!", "libc.so.6!"}},
    {"",
     "nginx",
     "nginx",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!pthread_mutex_lock", "nginx!ngx_thread_mutex_lock", "nginx!"}},
    {"redis: event loop",
     "redis-server",
     "redis-server",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "redis-check-rdb!", "redis-check-rdb!aeMain", "redis-check-rdb!main"}},
    {"",  // waits for answers
     "redis-benchmark",
     "redis-benchmark",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "redis-benchmark!", "redis-benchmark!aeMain", "redis-benchmark!main"}},
    {"",  // fsync of the append-only file
     "redis-server",
     "redis-server",
     __NR_fdatasync,
     {"libc.so.6!fdatasync", "redis-check-rdb!flushAppendOnlyFile", "redis-check-rdb!", "redis-check-rdb!aeMain"}},
    {"",  // waits for its child
     "redis-server",
     "redis-server",
     __NR_wait4,
     {"libc.so.6!wait4", "redis-check-rdb!checkChildrenDone", "redis-check-rdb!serverCron", "redis-check-rdb!",
      "redis-check-rdb!aeMain"}},
    {"redis: background thread",
     "redis-server",
     "bio_aof_fsync",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait",
      "redis-check-rdb!bioProcessBackgroundJobs", "libc.so.6!start_thread"}},
    {"",
     "redis-server",
     "bio_aof_fsync",
     __NR_fdatasync,
     {"libc.so.6!fdatasync", "redis-check-rdb!bioProcessBackgroundJobs", "libc.so.6!start_thread"}},
    {"redis: I/O thread",
     "redis-server",
     "io_thd_1",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!pthread_mutex_lock", "redis-check-rdb!IOThreadMain"}},
    {"",
     "redis-server",
     "io_thd_1",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!pthread_mutex_lock", "redis-check-rdb!writeToClient",
      "redis-check-rdb!IOThreadMain"}},
    {"memcached: event loop",
     "memcached",
     "mc-worker",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "libevent-2.1.so.7!", "libevent-2.1.so.7!event_base_loop", "memcached!"}},
    {"",  // waits for its server
     "tmux: client",
     "tmux: client",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "libevent-2.1.so.7!", "libevent-2.1.so.7!event_base_loop", "tmux!"}},
    {"memcached: housekeeping",
     "memcached",
     "mc-slabmaint",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "memcached!"}},
    {"",  // what it waits for is not known
     "memcached",
     "mc-worker",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "memcached!"}},
    {"",
     "memcached",
     "mc-slabmaint",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!__pthread_mutex_cond_lock", "libc.so.6!pthread_cond_wait", "memcached!"}},
    {"go: no goroutine to run",
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notesleep", "g!runtime.mPark", "g!runtime.stopm",
      "g!runtime.findRunnable", "g!runtime.schedule"}},
    {"go: no goroutine to run",
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notesleep", "g!runtime.stoplockedm",
      "g!runtime.schedule"}},
    {"",  // a lock of the scheduler
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.lock2", "g!runtime.stopm", "g!runtime.findRunnable"}},
    {"",  // the world is stopped
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notesleep", "g!runtime.mPark", "g!runtime.stopm",
      "g!runtime.gcstopm", "g!runtime.findRunnable"}},
    {"go: no goroutine to run, polling",
     "g",
     "g",
     __NR_epoll_pwait,
     {"g!runtime.epollwait.abi0", "g!runtime.netpoll", "g!runtime.findRunnable"}},
    {"go: no goroutine to run, polling",  // from 1.24 on
     "g",
     "g",
     __NR_epoll_pwait,
     {"g!internal/runtime/syscall.Syscall6", "g!internal/runtime/syscall.EpollWait", "g!runtime.netpoll",
      "g!runtime.findRunnable"}},
    {"",  // a call of the program's own
     "g",
     "g",
     __NR_epoll_pwait,
     {"g!runtime/internal/syscall.Syscall6", "g!syscall.RawSyscall6", "g!syscall.EpollWait", "g!main.main"}},
    {"go: system monitor",
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notetsleep_internal", "g!runtime.notetsleep",
      "g!runtime.sysmon"}},
    {"go: system monitor", "g", "g", __NR_nanosleep, {"g!runtime.usleep.abi0", "g!runtime.sysmon"}},
    {"",
     "g",
     "g",
     __NR_nanosleep,
     {"g!runtime.usleep.abi0", "g!runtime.runqgrab", "g!runtime.stealWork", "g!runtime.findRunnable"}},
    {"", "g", "g", __NR_futex, {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.lock2", "g!runtime.sysmon"}},
    {"go: waiting for signals",
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notetsleep_internal", "g!runtime.notetsleepg",
      "g!os/signal.signal_recv"}},
    {"go: template thread",
     "g",
     "g",
     __NR_futex,
     {"g!runtime.futex.abi0", "g!runtime.futexsleep", "g!runtime.notesleep", "g!runtime.templateThread"}},
    {"node: event loop",
     "node",
     "node",
     __NR_epoll_pwait,
     {"libc.so.6!epoll_pwait", "libuv.so.1!uv__io_poll", "libuv.so.1!uv_run",
      "libnode.so.108!node::SpinEventLoopInternal"}},
    {"",  // execSync
     "node",
     "node",
     __NR_epoll_pwait,
     {"libc.so.6!epoll_pwait", "libuv.so.1!uv__io_poll", "libuv.so.1!uv_run",
      "libnode.so.108!node::SyncProcessRunner::TryInitializeAndRunLoop", "libnode.so.108!node::SpinEventLoopInternal"}},
    {"node: thread pool",
     "node",
     "node",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "libuv.so.1!uv_cond_wait",
      "libnode.so.108!node::(anonymous namespace)::PlatformWorkerThread"}},
    {"node: thread pool",
     "node",
     "node",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "libuv.so.1!uv_cond_wait",
      "libuv.so.1!worker"}},
    {"",
     "node",
     "node",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!__pthread_mutex_cond_lock", "libc.so.6!pthread_cond_wait",
      "libuv.so.1!uv_cond_wait", "libuv.so.1!worker"}},
    {"",  // the garbage collector, for its helpers
     "node",
     "node",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait",
      "libnode.so.108!v8::platform::DefaultJobState::Join"}},
    {"node: delayed tasks",
     "node",
     "node",
     __NR_epoll_pwait,
     {"libc.so.6!epoll_pwait", "libuv.so.1!uv__io_poll", "libuv.so.1!uv_run",
      "libnode.so.108!node::WorkerThreadsTaskRunner::DelayedTaskScheduler::Start()::{lambda(void*)#1}::_FUN"}},
    {"node: inspector",
     "node",
     "node",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!__new_sem_wait_slow64.constprop.0", "libuv.so.1!uv_sem_wait",
      "libnode.so.108!node::inspector::(anonymous namespace)::StartIoThreadMain"}},
    {"java: garbage collector",
     "java",
     "GC Thread#0",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!__new_sem_wait_slow64.constprop.0",
      "libjvm.so!PosixSemaphore::wait", "libjvm.so!GangWorker::loop"}},
    {"java: garbage collector",
     "java",
     "G1 Service",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait",
      "libjvm.so!os::PlatformMonitor::wait", "libjvm.so!Monitor::wait_without_safepoint_check",
      "libjvm.so!G1ServiceThread::sleep_before_next_cycle"}},
    {"java: compiler",
     "java",
     "C2 CompilerThre",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait",
      "libjvm.so!os::PlatformMonitor::wait", "libjvm.so!Monitor::wait", "libjvm.so!CompileQueue::get"}},
    {"",  // for a compiler
     "java",
     "java",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait",
      "libjvm.so!os::PlatformMonitor::wait", "libjvm.so!Monitor::wait",
      "libjvm.so!CompileBroker::wait_for_completion"}},
    {"java: VM thread",
     "java",
     "VM Thread",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait",
      "libjvm.so!os::PlatformMonitor::wait", "libjvm.so!Monitor::wait_without_safepoint_check",
      "libjvm.so!VMThread::wait_for_operation"}},
    {"",  // for the VM thread
     "java",
     "java",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_wait", "libjvm.so!os::PlatformMonitor::wait",
      "libjvm.so!Monitor::wait", "libjvm.so!VMThread::wait_until_executed"}},
    {"java: housekeeping",
     "java",
     "VM Periodic Tas",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait",
      "libjvm.so!os::PlatformMonitor::wait", "libjvm.so!Monitor::wait_without_safepoint_check",
      "libjvm.so!WatcherThread::sleep"}},
    {"java: housekeeping",
     "java",
     "Signal Dispatch",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!__new_sem_wait_slow64.constprop.0",
      "libjvm.so!PosixSemaphore::wait", "libjvm.so!os::signal_wait"}},
    {"",  // a lock of the program
     "java",
     "locker",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait", "libjvm.so!os::PlatformEvent::park",
      "libjvm.so!ObjectMonitor::EnterI", "libjvm.so!ObjectMonitor::enter"}},
    {"systemd: event loop",
     "systemd-resolve",
     "systemd-resolve",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "libsystemd-shared-252.so!", "libsystemd-shared-252.so!sd_event_wait",
      "libsystemd-shared-252.so!sd_event_run"}},
    {"",  // an answer
     "busctl",
     "busctl",
     __NR_ppoll,
     {"libc.so.6!ppoll", "libsystemd-shared-252.so!sd_bus_wait", "busctl!main"}},
    {"jemalloc: background thread",
     "redis-server",
     "jemalloc_bg_thd",
     __NR_futex,
     {"libc.so.6!__futex_abstimed_wait_common", "libc.so.6!pthread_cond_timedwait", "libjemalloc.so.2!",
      "libjemalloc.so.2!", "libc.so.6!start_thread"}},
    {"",
     "redis-server",
     "jemalloc_bg_thd",
     __NR_futex,
     {"libc.so.6!__lll_lock_wait", "libc.so.6!pthread_mutex_lock", "libjemalloc.so.2!", "libjemalloc.so.2!"}},
    {"postgres: backend, waiting for a command",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!secure_read", "postgres!", "postgres!pq_getbyte",
      "postgres!PostgresMain", "postgres!", "postgres!PostmasterMain"}},
    {"",  // the rest of a command
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!secure_read", "postgres!", "postgres!pq_getbytes",
      "postgres!pq_getmessage", "postgres!PostgresMain"}},
    {"",  // COPY from its client
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!secure_read", "postgres!", "postgres!pq_getbyte",
      "postgres!", "postgres!", "postgres!", "postgres!NextCopyFromRawFields", "postgres!NextCopyFrom",
      "postgres!CopyFrom", "postgres!DoCopy", "postgres!PostgresMain"}},
    {"",  // sends results
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!secure_write", "postgres!", "postgres!",
      "postgres!PostgresMain"}},
    {"",  // a lock
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!ProcSleep", "postgres!",
      "postgres!LockAcquireExtended", "postgres!PostgresMain"}},
    {"postgres: postmaster, waiting for connections",
     "postgres",
     "postgres",
     __NR_pselect6,
     {"libc.so.6!select", "postgres!", "postgres!PostmasterMain", "postgres!main"}},
    {"postgres: postmaster, waiting for connections",  // from 16 on
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!", "postgres!PostmasterMain"}},
    {"",  // a worker of it, made by its handler of a signal
     "postgres",
     "postgres",
     __NR_pselect6,
     {"libc.so.6!select", "postgres!pg_usleep", "postgres!vacuum_delay_point", "postgres!", "libc.so.6!__restore_rt",
      "libc.so.6!select", "postgres!", "postgres!PostmasterMain"}},
    {"postgres: autovacuum launcher",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!",
      "postgres!StartAutoVacLauncher", "postgres!", "libc.so.6!__restore_rt", "libc.so.6!select"}},
    {"postgres: checkpointer",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!CheckpointerMain"}},
    {"",  // between two writes of a checkpoint
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!CheckpointWriteDelay",
      "postgres!", "postgres!CheckPointBuffers", "postgres!CreateCheckPoint", "postgres!CheckpointerMain"}},
    {"postgres: background writer",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!BackgroundWriterMain"}},
    {"postgres: WAL writer",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!WalWriterMain"}},
    {"",
     "postgres",
     "postgres",
     __NR_fdatasync,
     {"libc.so.6!fdatasync", "postgres!", "postgres!XLogBackgroundFlush", "postgres!WalWriterMain"}},
    {"postgres: archiver",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!",
      "postgres!PgArchiverMain"}},
    {"",  // the command that archives
     "postgres",
     "postgres",
     __NR_wait4,
     {"libc.so.6!wait4", "libc.so.6!system", "postgres!", "postgres!", "postgres!PgArchiverMain"}},
    {"postgres: logical replication launcher",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!WaitLatch", "postgres!ApplyLauncherMain"}},
    {"postgres: log collector",
     "postgres",
     "postgres",
     __NR_epoll_wait,
     {"libc.so.6!epoll_wait", "postgres!WaitEventSetWait", "postgres!", "postgres!SysLogger_Start"}},
};

const Kernel& KernelOf(int32_t syscall) {
  static const Kernel poll = {"schedule", "do_epoll_wait", "do_syscall_64"};
  static const Kernel sleep = {"schedule", "do_nanosleep", "hrtimer_nanosleep", "do_syscall_64"};
  static const Kernel select = {"schedule", "do_select", "core_sys_select", "do_syscall_64"};
  static const Kernel suspend = {"schedule", "sigsuspend.isra.0", "__x64_sys_rt_sigsuspend", "do_syscall_64"};
  static const Kernel other = {"schedule", "do_syscall_64"};
  switch (syscall) {
    case __NR_futex:
      return kFutex;
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
      return poll;
    case __NR_nanosleep:
      return sleep;
    case __NR_pselect6:
      return select;
    case __NR_rt_sigsuspend:
      return suspend;
    default:
      return other;
  }
}

std::string_view IdleOf(const Example& example) {
  static const IdlePatterns patterns = DefaultIdlePatterns();
  const IdleWait wait = {.process = example.process,
                         .thread = example.thread,
                         .syscall = example.syscall,
                         .kernel = KernelOf(example.syscall)};
  const std::vector<SymbolizedFrame> frames = Frames(example.frames);
  for (const IdlePattern& pattern : patterns) {
    const auto matches = [&](const IdleStack& stack) { return MatchesStack(stack, frames); };
    if (MatchesWait(pattern, wait) && std::any_of(pattern.stacks.begin(), pattern.stacks.end(), matches)) {
      return pattern.name;
    }
  }
  return "";
}

TEST(ShippedIdlePatterns, MatchWaitsForWorkAndNotThoseThatLookLikeThem) {
  for (const Example& example : kExamples) {
    EXPECT_EQ(IdleOf(example), example.idle)
        << example.frames[0] << " of " << example.thread << ", number " << &example - kExamples;
  }
}

TEST(ShippedIdlePatterns, EachHasAnExample) {
  for (const IdlePattern& pattern : DefaultIdlePatterns()) {
    EXPECT_TRUE(std::any_of(std::begin(kExamples), std::end(kExamples), [&](const Example& example) {
      return example.idle == pattern.name;
    })) << pattern.name;
  }
}

class MarkIdleTest : public testing::Test {
 protected:
  MarkIdleTest() {
    profile_.processes.push_back({.key = {.pid = 1}, .name = "nginx", .container = ""});
    profile_.comms.emplace_back("nginx");
    profile_.kernel_stacks.push_back({.id = 1, .addresses = {1, 2, 3}});
    symbols_.kernel_stacks.push_back({"schedule", "do_epoll_wait", "do_syscall_64"});
    AddStack({"libc.so.6!epoll_wait", "nginx!", "nginx!ngx_process_events_and_timers"});
    AddStack({"libc.so.6!epoll_wait", "nginx!ngx_something"});
  }
  void AddStack(const std::vector<std::string_view>& texts) {
    profile_.user_stacks.emplace_back();
    symbols_.user_stacks.push_back(Frames(texts));
  }
  void AddRow(uint32_t user, WaitKind kind = WaitKind::kSleeping, int32_t syscall = __NR_epoll_wait) {
    profile_.rows.push_back({.user_stack = user, .kind = kind, .syscall = syscall, .count = 1, .blocked_ns = 1});
  }
  std::vector<std::string_view> Marks() {
    MarkIdle(profile_, DefaultIdlePatterns(), &symbols_);
    return symbols_.idle;
  }

  Profile profile_;
  SymbolizedProfile symbols_;
};

TEST_F(MarkIdleTest, EachRowByItself) {
  AddRow(0);
  AddRow(1);
  AddRow(0, WaitKind::kPreempted);
  AddRow(0, WaitKind::kOpen);
  AddRow(0, WaitKind::kSleeping, kNoSystemCall);
  EXPECT_THAT(Marks(), ElementsAre("nginx: event loop", "", "", "nginx: event loop", ""));
  EXPECT_THAT(Marks(), ElementsAre("nginx: event loop", "", "", "nginx: event loop", "")) << "and again";
  MarkIdle(profile_, {}, &symbols_);
  EXPECT_THAT(symbols_.idle, ElementsAre("", "", "", "", ""));
}

TEST_F(MarkIdleTest, StacksThatPprofHasChangedAreNotJudged) {
  AddRow(0);
  profile_.user_stacks[0].filtered = true;
  EXPECT_THAT(Marks(), ElementsAre(""));
}

TEST_F(MarkIdleTest, TheFirstPatternCounts) {
  AddRow(0);
  IdlePatterns patterns = DefaultIdlePatterns();
  ASSERT_TRUE(AddIdlePatterns("[mine]\nsyscall = epoll_wait\nstack = epoll_wait\n"
                              "[mine too]\nsyscall = epoll_wait\nstack = ngx_*; epoll_wait\n"
                              "[nginx: event loop]\nsyscall = epoll_wait\nstack = ngx_process*; [x]; epoll_wait\n",
                              "f", &patterns)
                  .ok());
  MarkIdle(profile_, patterns, &symbols_);
  EXPECT_THAT(symbols_.idle, ElementsAre("mine"));
}

}  // namespace
}  // namespace offcpu
