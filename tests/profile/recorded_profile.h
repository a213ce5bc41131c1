// A profile with everything that a recording can hold, and its names.
#ifndef OFFCPU_TESTS_PROFILE_RECORDED_PROFILE_H_
#define OFFCPU_TESTS_PROFILE_RECORDED_PROFILE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profile/named_profile.h"
#include "tests/profile/frame_lines.h"

namespace offcpu {

struct RecordedProfile {
  NamedProfile profile;

  const Module* libc = AddModule("/usr/lib/libc.so.6", "aa01");
  const Module* app = AddModule("/opt/app", "bb02");

  const Module* AddModule(const std::string& path, const std::string& build_id) {
    auto module = std::make_shared<Module>();
    module->path = path;
    module->build_id = build_id;
    profile.code.push_back(module);
    return module.get();
  }
  uint32_t AddProcess(const ProcessKey& key, const std::string& name, const std::string& container = "") {
    profile.processes.push_back({.key = key, .name = name, .container = container});
    return static_cast<uint32_t>(profile.processes.size() - 1);
  }
  uint32_t AddComm(const std::string& name) {
    profile.comms.push_back(name);
    return static_cast<uint32_t>(profile.comms.size() - 1);
  }
  static NamedFrame Native(const Frame& frame, std::string_view name, std::string_view module_name, bool named = true) {
    return {frame, named, Line(name), module_name};
  }
  // Leaf first.
  uint32_t AddUser(const std::vector<NamedFrame>& frames, EndReason end = EndReason::kComplete) {
    profile.user_stacks.push_back({.frames = frames, .end = end});
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  uint32_t AddNoUser(NoUserStack missing, bool overflow = false) {
    profile.user_stacks.push_back({.frames = {}, .missing = missing, .overflow = overflow});
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  uint32_t AddKernel(const std::vector<std::pair<uint64_t, std::string_view>>& frames, bool overflow = false) {
    NamedKernelStack& stack = profile.kernel_stacks.emplace_back();
    stack.overflow = overflow;
    for (const auto& [address, name] : frames) {
      stack.frames.push_back({{.address = address, .exact = false, .kind = FrameKind::kKernel}, true, Line(name)});
    }
    return static_cast<uint32_t>(profile.kernel_stacks.size() - 1);
  }

  // The stack of a thread that reads: the leaf is where its registers point, its callers are to be returned to.
  uint32_t AddReader() {
    return AddUser({Native({libc, 0x1000, FrameSource::kRegisters, true}, "read", "libc.so.6"),
                    Native({app, 0x2005, FrameSource::kEhFrame, false}, "loop", "app"),
                    Native({app, 0x3007, FrameSource::kEhFrame, false}, "app+0x3006", "app", false)});
  }
  // One that was interrupted by a signal, whose handler waits; the code that was interrupted is generated.
  uint32_t AddHandler() {
    return AddUser({Native({libc, 0x1000, FrameSource::kRegisters, true}, "read", "libc.so.6"),
                    Native({app, 0x2105, FrameSource::kSFrame, false}, "on_signal", "app"),
                    Native({app, 0x2205, FrameSource::kSFrame, false}, "log", "app"),
                    Native({libc, 0x1100, FrameSource::kEhFrame, true}, "__restore_rt", "libc.so.6"),
                    Native({nullptr, 0x7f0001, FrameSource::kSignalTrampoline, true}, "[unknown] 0x7f0001", "", false),
                    Native({app, 0x3007, FrameSource::kFramePointer, false}, "app+0x3006", "app", false)},
                   EndReason::kStackCopy);
  }
  uint32_t AddPipe() { return AddKernel({{0xffffffff81000010, "schedule"}, {0xffffffff81000020, "pipe_read"}}); }

  void AddStats() {
    profile.start_unix_ns = 1'790'000'000'123'456'789;
    profile.duration_ns = 5'000'000'001;
    profile.host = "web1";
    ProfileStats& stats = profile.stats;
    stats.intervals = 101;
    stats.cookies = 102;
    stats.captures = 103;
    stats.kernel_stacks = 104;
    stats.live_stacks = 108;
    stats.walked_at_switch = 127;
    stats.summed_at_switch = 129;
    stats.proven_walks = 128;
    for (size_t i = 0; i < stats.walk_misses.size(); ++i) stats.walk_misses[i] = 500 + i;
    stats.told_rows = 510;
    stats.told_stacks = 511;
    stats.walks = 105;
    stats.processes = 106;
    for (size_t i = 0; i < stats.walk_ends.size(); ++i) stats.walk_ends[i] = 200 + i;
    for (size_t i = 0; i < stats.frames_by_source.size(); ++i) stats.frames_by_source[i] = 300 + i;
    for (size_t i = 1; i < stats.complete_walks_by_source.size(); ++i) stats.complete_walks_by_source[i] = 400 + i;
    stats.sample_ns = 50'000;
    stats.sample_most_ns = 64'000'000;
    stats.not_sampled = 109;
    stats.slept_throughout = 107;
    stats.capture_ns = 22'000'000;
    stats.own_programs_ns = 12'000'000;
    stats.own_process_ns = 50'000'000;
    stats.own_memory_bytes = 47'000'000;
    stats.host_cpu_ns = 10'000'000'002;
    stats.cpu_budget_ppm = 10'000;
    stats.losses = {{"no user stack: budget", 3, 1500},
                    {"still off the CPU at the end", kMostSum - 3, 0}};  // all that fits
  }

  // One row of one process, and nothing of the recording.
  static RecordedProfile OneReader() {
    RecordedProfile one;
    const uint32_t process = one.AddProcess({10, 1000, 1}, "server", "3f5c0b1e2a77");
    const uint32_t comm = one.AddComm("worker");
    const uint32_t kernel = one.AddPipe();
    const uint32_t user = one.AddReader();
    one.profile.rows = {{{{process, 0, comm, kernel, user, WaitKind::kDisk, 0}, {2, 5000, 1, 4000}}}};
    return one;
  }

  // Beside the waits, what ran: in user mode, in a system call, and without a stack.
  static RecordedProfile WithSamples() {
    RecordedProfile all = All();
    const uint32_t user_mode = all.AddKernel({});
    all.profile.kernel_stacks[user_mode].user_mode = true;
    NamedRow in_user = all.profile.rows[0];
    in_user.kernel_stack = user_mode;
    in_user.kind = WaitKind::kRunning;
    in_user.syscall = kNoSystemCall;
    in_user.count = in_user.blocked_ns = in_user.runnable_ns = in_user.max_ns = 0;
    in_user.samples = 3;
    in_user.cpu_ns = 30'300'000;
    NamedRow in_call = in_user;
    in_call.kernel_stack = all.profile.rows[0].kernel_stack;
    in_call.syscall = 1;
    in_call.samples = 1;
    in_call.cpu_ns = 10'100'000;
    NamedRow without_stack = in_user;
    without_stack.user_stack = all.profile.rows[3].user_stack;
    all.profile.rows.insert(all.profile.rows.begin() + 1, {in_user, in_call, without_stack});
    all.profile.stats.oncpu_period_ns = 10'100'000;
    all.profile.stats.oncpu_samples = 7;
    return all;
  }

  // Rows as the off-CPU table sorts them: by process, thread, thread name, stacks.
  static RecordedProfile All() {
    RecordedProfile all;
    all.AddStats();
    const uint32_t server = all.AddProcess({10, 1000, 1}, "server", "3f5c0b1e2a77");
    const uint32_t again = all.AddProcess({10, 1000, 2}, "server", "3f5c0b1e2a77");  // after an exec
    const uint32_t other = all.AddProcess({0, 0, 0}, "[other]");
    const uint32_t worker = all.AddComm("worker");
    const uint32_t nameless = all.AddComm("");
    const uint32_t pipe = all.AddPipe();
    const uint32_t lost = all.AddKernel({});
    const uint32_t full = all.AddKernel({}, true);
    const uint32_t reader = all.AddReader();
    const uint32_t handler = all.AddHandler();
    const uint32_t budget = all.AddNoUser(NoUserStack::kBudget);
    const uint32_t unmapped = all.AddUser({}, EndReason::kNotMapped);
    const uint32_t overflow = all.AddNoUser(NoUserStack::kNone, true);
    all.AddNoUser(NoUserStack::kLost);  // of no row
    all.profile.rows = {
        {{{server, 11, worker, pipe, reader, WaitKind::kSleeping, 0}, {2, 5'000'000, 1'499, 4'000'000}}},
        {{{server, 12, worker, pipe, reader, WaitKind::kSleeping, 0},
          {40, 1'000'000, 2'000, 49'999, 0, 25, 2.6e9, 2.5e9, 1e6, 12}}},  // sampled
        {{{server, 12, worker, pipe, handler, WaitKind::kDisk, 0}, {1, 7, 0, 7}}},
        {{{server, 12, nameless, lost, budget, WaitKind::kOpen, 232}, {3, 0, 9, 4}}},
        {{{again, 11, worker, pipe, reader, WaitKind::kPreempted, kNoSystemCall}, {4, 0, 499, 100}}},
        {{{again, 11, worker, pipe, unmapped, WaitKind::kYielded, 24}, {1, 0, 77, 77}}},
        {{{other, 0, nameless, full, overflow, WaitKind::kOther, kNoSystemCall}, {9, 1'000'000'000'000, 3, 999}}},
    };
    all.profile.control_groups = {"/system.slice/server.service", "/kubepods"};
    all.profile.rows[0].control_group = 1;
    all.profile.rows[4].control_group = 2;
    const uint32_t hog = all.AddProcess({13, 1, 1}, "a hog: 7 ns");  // never waited
    all.profile.ledger = {
        {server, 11, "worker", 10, 1, 2, 3, 4, {5, 6, 7, 8, 9, 10, 11}},
        {server, 12, "", 3'000'000, 1'000'000, 0, 1'000'000, 1'000'000},
        {again, 11, "a name ", kMostSum - 3'000'087},  // all that fits
        {hog, 2147483647, "hog", 77, 77},
    };
    return all;
  }
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_RECORDED_PROFILE_H_
