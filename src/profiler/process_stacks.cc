#include "profiler/process_stacks.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "capture/kernel.h"
#include "capture/process_context.h"
#include "capture/programs.h"
#include "process/reader_threads.h"
#include "profiler/listing.h"
#include "profiler/live.h"
#include "profiler/look.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

constexpr int kAttempts = 5;  // to find a thread waiting, and to find it so until its stack is copied
constexpr std::chrono::milliseconds kPause(2);
constexpr std::chrono::milliseconds kDeadline(5000);
constexpr size_t kMaxStackBytes = 8 << 20;

// What one attempt brings.
struct Snapshot {
  ProcessLook look;
  std::vector<WaitingThread> threads;
  std::vector<LiveStack> stacks;  // parallel to `threads`
};

Snapshot TakeSnapshot(const std::vector<WaitingThread>& threads, size_t stack_bytes, const Listing& listing,
                      ModuleCache& modules) {
  Snapshot snapshot;
  snapshot.threads = threads;
  snapshot.stacks = ReadLiveStacks(threads, stack_bytes, listing.list, listing.describe);
  snapshot.look = LookAtProcess(threads.front().process, threads.front().tid, nullptr, listing.describe, modules);
  return snapshot;
}

// Reading a target may block for ever: then nothing comes.
std::optional<Snapshot> TakeInTime(const std::vector<WaitingThread>& threads, size_t stack_bytes,
                                   const Listing& listing, const std::shared_ptr<ModuleCache>& modules) {
  ReaderThreads readers({.threads = 1, .deadline = kDeadline});
  std::optional<Snapshot> result;
  const bool taken = readers.Submit(
      [&result, threads, stack_bytes, listing, modules]() -> ReaderThreads::Completion {
        auto snapshot = std::make_shared<Snapshot>(TakeSnapshot(threads, stack_bytes, listing, *modules));
        return [&result, snapshot] { result = std::move(*snapshot); };
      },
      [] {});
  while (taken && readers.pending() != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    readers.Poll();
  }
  return result;
}

// The best that is known of a thread so far.
struct Found {
  WaitingThread thread;
  UserStack stack;
  std::vector<uint64_t> pcs;
  NoUserStack missing = NoUserStack::kOnCpu;
  bool again = true;  // another attempt may bring more
  size_t stack_bytes = 64 << 10;
};

bool SameCode(const CodeVersion& a, const CodeVersion& b) {
  if (a.hash != 0 || b.hash != 0) return a.hash == b.hash;
  return a.sequence == b.sequence;
}

void WalkStack(const ProcessLook& look, const LiveStack& live, Walker& walker, Found* found) {
  found->missing = live.missing;
  found->again = live.missing == NoUserStack::kOnCpu || live.missing == NoUserStack::kStale;
  if (live.missing != NoUserStack::kNone) return;
  if (look.outcome != LookOutcome::kSeen || !SameCode(look.code, live.capture.code)) {
    found->missing = look.outcome == LookOutcome::kGone ? NoUserStack::kGone : NoUserStack::kUnreadableProcess;
    found->again = look.outcome != LookOutcome::kGone;
    return;
  }
  const uint64_t begin = live.capture.registers.sp();
  const uint64_t end = begin + live.capture.stack.size();
  const SpanMemory memory(begin, live.capture.stack);
  walker.Walk(*look.space, live.capture.registers, live.capture.in_syscall,
              {.memory = memory, .begin = begin, .end = end, .more = live.capture.more}, &found->stack, &found->pcs);
  if (found->stack.end != EndReason::kWindow || found->stack_bytes >= kMaxStackBytes) return;
  found->stack_bytes *= 8;
  found->again = true;
}

void AddToProfile(Found found, ProcessStacks* result) {
  Profile& profile = result->profile;
  const auto index = static_cast<uint32_t>(profile.rows.size());
  profile.comms.push_back(found.thread.comm);
  profile.kernel_stacks.push_back({.id = index + 1u, .addresses = std::move(found.thread.kernel)});
  for (const Frame& frame : found.stack.frames) {
    if (frame.module != nullptr) profile.modules.push_back(frame.module->shared_from_this());
  }
  profile.user_stacks.push_back({.stack = std::move(found.stack), .missing = found.missing});
  result->pcs.push_back(std::move(found.pcs));
  profile.rows.push_back({.tid = found.thread.tid,
                          .comm = index,
                          .kernel_stack = index,
                          .user_stack = index,
                          .kind = found.thread.state,
                          .count = 1});
}

class Reading {
 public:
  Reading(pid_t pid, const UnwindOrder& unwind, Listing listing)
      : pid_(pid), listing_(std::move(listing)), walker_(unwind) {}

  absl::StatusOr<ProcessStacks> Run() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (attempt != 0) std::this_thread::sleep_for(kPause);
      const std::vector<WaitingThread> threads = listing_.list(pid_);
      if (attempt == 0 && threads.empty()) return absl::NotFoundError(absl::StrCat("there is no process ", pid_));
      if (!Attempt(threads)) break;
    }
    return Result();
  }

 private:
  // False if there is nothing left to try.
  bool Attempt(const std::vector<WaitingThread>& threads) {
    std::map<size_t, std::vector<WaitingThread>> wanted;  // by the size of the stack
    for (const WaitingThread& thread : threads) {
      Found& found = found_.try_emplace(thread.tid).first->second;
      if (!found.again) continue;
      found.thread = thread;
      wanted[found.stack_bytes].push_back(thread);
    }
    bool again = false;
    for (const auto& [stack_bytes, all] : wanted) {
      for (size_t begin = 0; begin < all.size(); begin += kLiveThreadsAtOnce) {
        const size_t count = std::min(kLiveThreadsAtOnce, all.size() - begin);
        again |= ReadSome({all.begin() + begin, all.begin() + begin + count}, stack_bytes);
      }
    }
    return again;
  }

  bool ReadSome(const std::vector<WaitingThread>& threads, size_t stack_bytes) {
    const std::optional<Snapshot> snapshot = TakeInTime(threads, stack_bytes, listing_, modules_);
    bool again = false;
    for (size_t i = 0; i < threads.size(); ++i) {
      Found& found = found_[threads[i].tid];
      if (!snapshot.has_value()) {
        found.missing = NoUserStack::kTargetStuck;
        found.again = false;
        continue;
      }
      if (!snapshot->look.name.empty()) name_ = snapshot->look.name;
      WalkStack(snapshot->look, snapshot->stacks[i], walker_, &found);
      again |= found.again;
    }
    return again;
  }

  ProcessStacks Result() {
    ProcessStacks result;
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    result.profile.start_unix_ns =
        static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
    const ProcessKey key = found_.empty() ? ProcessKey{.pid = pid_} : found_.begin()->second.thread.process;
    result.profile.processes.push_back({.key = key, .name = name_});
    for (auto& [tid, found] : found_) AddToProfile(std::move(found), &result);
    return result;
  }

  const pid_t pid_;
  const Listing listing_;
  Walker walker_;
  std::shared_ptr<ModuleCache> modules_ = std::make_shared<ModuleCache>();
  std::map<pid_t, Found> found_;  // by tid
  std::string name_;
};

}  // namespace

absl::StatusOr<ProcessStacks> ReadProcessStacks(pid_t pid, const UnwindOrder& unwind) {
  if (absl::Status status = CheckProcessContext(); !status.ok()) return status;
  absl::StatusOr<KernelFeatures> features = ProbeKernel();
  if (!features.ok()) return features.status();
  absl::StatusOr<std::unique_ptr<Programs>> programs = Programs::LoadListing(*features);
  if (!programs.ok()) return programs.status();
  return Reading(pid, unwind, ListingOf(*std::move(programs))).Run();
}

}  // namespace offcpu
