#include "recorder/process_stacks.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/now.h"
#include "process/memory.h"
#include "process/owner.h"
#include "recorder/clocks.h"
#include "recorder/listing.h"
#include "recorder/stack_snapshot.h"
#include "recorder/walk_capture.h"
#include "runtimes/runtime.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

constexpr int kAttempts = 5;  // to find a thread waiting, and to find it so until its stack is copied
constexpr std::chrono::milliseconds kPause(2);
constexpr std::chrono::milliseconds kDeadline(5000);  // for reading some threads, without a service
constexpr size_t kMaxStackBytes = 32 << 20;
constexpr size_t kMaxBytesAtOnce = 32 << 20;

// The best that is known of a thread so far: all of it of one moment.
struct Found {
  WaitingThread thread;
  UserStack stack;
  std::shared_ptr<const AddressSpace> space;  // keeps the modules of `stack`
  std::vector<uint64_t> pcs;
  NoUserStack missing = NoUserStack::kOnCpu;
  int32_t lock_owner = 0;
  std::string_view missing_functions;
  bool may_have_functions = false;  // another reading may find those that are missing
};

bool HasFrameIn(const UserStack& stack, const CodeObject* code) {
  return std::any_of(stack.frames.begin(), stack.frames.end(),
                     [code](const Frame& frame) { return frame.code == code; });
}

// Why the functions are missing that the thread interprets, if they are.
std::string_view AddInterpreted(const StackSnapshot& snapshot, const InterpretedStack& interpreted,
                                const Walkers& walkers, UserStack* stack, FramePlaces* places) {
  const FoundRuntime& runtime = snapshot.runtime;
  if (runtime.module != nullptr && HasFrameIn(*stack, runtime.module.get())) return runtime.missing;
  if (!interpreted.missing.empty() || interpreted.runs.empty()) return interpreted.missing;
  const bool is_placed = PlaceInterpreted(interpreted, *snapshot.space, walkers.max_frames(), stack, places);
  return is_placed ? "" : kNotPlaced;
}

// Walks the stack of the thread at `index`.
Found WalkStack(const StackSnapshot& snapshot, size_t index, Walkers& walkers) {
  const LiveStack& live = snapshot.stacks[index];
  Found found = {.thread = snapshot.threads[index], .missing = live.missing};
  // What it ran through meanwhile is not known.
  if (live.missing == NoUserStack::kStale) found.thread.kernel.clear();
  if (live.missing != NoUserStack::kNone) return found;
  found.lock_owner = snapshot.lock_owners[index];
  found.missing = snapshot.failed;
  if (snapshot.failed != NoUserStack::kNone) return found;
  if (live.capture.code.hash != snapshot.code.hash) {
    found.missing = NoUserStack::kStale;
    return found;
  }
  found.space = snapshot.space;
  WalkTrace trace;
  if (!WalkCapture(live.capture, {.space = snapshot.space, .runtime = snapshot.runtime.runtime}, walkers, &found.stack,
                   &trace)) {
    found.missing = NoUserStack::kUnreadable;
  } else {
    found.missing_functions = AddInterpreted(snapshot, live.interpreted, walkers, &found.stack, &trace);
    // What an interpreter has in lists may have changed while these were read.
    found.may_have_functions = !found.missing_functions.empty() && snapshot.runtime.form == RuntimeForm::kServed;
  }
  found.pcs = std::move(trace.pcs);
  return found;
}

void AddToProfile(Found found, ProcessStacks* result) {
  Profile& profile = result->profile;
  const auto index = static_cast<uint32_t>(profile.rows.size());
  profile.comms.push_back(found.thread.comm);
  profile.kernel_stacks.push_back({.id = index + 1u, .addresses = std::move(found.thread.kernel)});
  for (const Frame& frame : found.stack.frames) {
    if (frame.code != nullptr) profile.code.push_back(frame.code->shared_from_this());
  }
  profile.user_stacks.push_back({.stack = std::move(found.stack), .missing = found.missing});
  result->pcs.push_back(std::move(found.pcs));
  result->lock_owners.push_back(found.lock_owner);
  result->missing_functions.push_back(found.missing_functions);
  profile.rows.push_back({{.tid = found.thread.tid,
                           .comm = index,
                           .kernel_stack = index,
                           .user_stack = index,
                           .kind = found.thread.state,
                           .syscall = found.thread.syscall},
                          {.count = 1, .blocked_ns = found.thread.off_cpu_ns}});
}

// A kernel may keep a process from being looked at.
absl::Status NothingListed(pid_t pid) {
  if (access(absl::StrCat("/proc/", pid).c_str(), F_OK) != 0)
    return absl::NotFoundError(absl::StrCat("there is no process ", pid));
  return absl::AbortedError(
      absl::StrCat("the kernel lists no thread of process ", pid, ": it is hidden, or has ended"));
}

class Reading {
 public:
  Reading(pid_t pid, const UnwindOrder& unwind, Listing listing, std::shared_ptr<ModuleCache> modules, TimedRead read,
          IsCancelled is_cancelled)
      : pid_(pid),
        listing_(std::move(listing)),
        read_(std::move(read)),
        is_cancelled_(std::move(is_cancelled)),
        walkers_(unwind),
        modules_(std::move(modules)) {}

  absl::StatusOr<ProcessStacks> Run() {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (attempt != 0) std::this_thread::sleep_for(kPause);
      const absl::StatusOr<std::vector<WaitingThread>> threads = listing_.list(pid_);
      if (!threads.ok()) return threads.status();
      if (attempt == 0 && threads->empty()) return NothingListed(pid_);
      const bool again = Attempt(*threads);
      if (is_cancelled_()) return absl::CancelledError("the client that asked for the stacks is gone");
      if (!again) break;
    }
    return Result();
  }

 private:
  // What is known of a thread, and how to go on with it.
  struct State {
    Found found;
    bool again = true;  // another attempt may bring more
    size_t stack_bytes = 64 << 10;
  };

  // False if there is nothing left to try.
  bool Attempt(const std::vector<WaitingThread>& threads) {
    std::map<size_t, std::vector<WaitingThread>> wanted;  // by the size of the stack
    for (const WaitingThread& thread : threads) {
      const auto [state, is_new] = states_.try_emplace(thread.tid);
      if (is_new) state->second.found.thread = thread;
      if (state->second.again) wanted[state->second.stack_bytes].push_back(thread);
    }
    bool again = false;
    for (const auto& [stack_bytes, all] : wanted) {
      const size_t at_once = std::min(kLiveThreadsAtOnce, kMaxBytesAtOnce / stack_bytes);
      for (size_t begin = 0; begin < all.size(); begin += at_once) {
        const size_t count = std::min(at_once, all.size() - begin);
        const auto batch = std::span(all).subspan(begin, count);
        again |= ReadSome({batch.begin(), batch.end()}, stack_bytes);
      }
    }
    return again;
  }

  // Null if it was not to be had in time; another try would only lose another thread.
  std::shared_ptr<const StackSnapshot> TakeInTime(const std::vector<WaitingThread>& threads, size_t stack_bytes) {
    if (is_stuck_) return nullptr;
    const auto snapshot = std::make_shared<StackSnapshot>();
    const auto take = [snapshot, threads, stack_bytes, listing = listing_, modules = modules_, runtime = runtime_] {
      *snapshot = TakeStackSnapshot(threads, stack_bytes, listing, *modules, runtime);
    };
    is_stuck_ = !read_({.owner = OwnerOf(pid_), .id = static_cast<uint64_t>(pid_)}, take);
    return is_stuck_ ? nullptr : snapshot;
  }

  bool ReadSome(const std::vector<WaitingThread>& threads, size_t stack_bytes) {
    const std::shared_ptr<const StackSnapshot> snapshot = TakeInTime(threads, stack_bytes);
    if (snapshot != nullptr && !snapshot->name.empty()) name_ = snapshot->name;
    if (snapshot != nullptr && snapshot->runtime.form != RuntimeForm::kNone) runtime_ = snapshot->runtime;
    bool again = false;
    for (size_t i = 0; i < threads.size(); ++i) {
      State& state = states_[threads[i].tid];
      if (snapshot != nullptr) {
        Keep(WalkStack(*snapshot, i, walkers_), &state);
      } else {
        Keep({.thread = threads[i], .missing = NoUserStack::kTargetStuck}, &state);
      }
      again |= state.again;
    }
    ReadNames(threads.front().tid);
    return again;
  }

  // Has the runtime read the names of functions that the walks have met.
  void ReadNames(pid_t tid) {
    if (runtime_.runtime == nullptr || !runtime_.runtime->HasUnread() || is_stuck_) return;
    is_stuck_ = !read_({.owner = OwnerOf(pid_), .id = static_cast<uint64_t>(pid_)},
                       [tid, runtime = runtime_.runtime] { runtime->Read(ProcessMemory(tid), {}); });
  }

  static void Keep(Found found, State* state) {
    const bool has_stack = found.missing == NoUserStack::kNone;
    state->again = found.missing != NoUserStack::kGone && found.missing != NoUserStack::kTargetStuck &&
                   found.missing != NoUserStack::kUnreadable && found.missing != NoUserStack::kKernelThread;
    const bool is_longer = has_stack && found.stack.end == EndReason::kStackCopy && state->stack_bytes < kMaxStackBytes;
    if (has_stack) state->again = is_longer || found.may_have_functions;
    if (is_longer) state->stack_bytes *= 8;
    if (has_stack || state->found.missing != NoUserStack::kNone) state->found = std::move(found);
  }

  // For a mutex whose owner is known. Owners are read one after the other: those of threads that have not run since
  // hold at one moment, now.
  bool StillWaits(const Found& found) const {
    if (found.lock_owner == 0) return true;
    const std::optional<WaitingThread> now = listing_.find(found.thread.tid);
    return now.has_value() && now->process == found.thread.process && now->switches == found.thread.switches &&
           !now->on_cpu && now->state == WaitKind::kSleeping;
  }

  ProcessStacks Result() {
    ProcessStacks result;
    result.profile.start_unix_ns = NowNs(CLOCK_REALTIME);
    const ProcessKey key = states_.empty() ? ProcessKey{.pid = pid_} : states_.begin()->second.found.thread.process;
    if (name_.empty() && !states_.empty()) name_ = states_.begin()->second.found.thread.comm;
    result.profile.processes.push_back({.key = key, .name = name_});
    for (auto& [tid, state] : states_) {
      if (!StillWaits(state.found)) state.found.lock_owner = 0;
      AddToProfile(std::move(state.found), &result);
    }
    return result;
  }

  const pid_t pid_;
  const Listing listing_;
  const TimedRead read_;
  const IsCancelled is_cancelled_;
  bool is_stuck_ = false;
  Walkers walkers_;
  const std::shared_ptr<ModuleCache> modules_;
  std::map<pid_t, State> states_;  // by tid
  std::string name_;
  FoundRuntime runtime_;  // of the process, once a snapshot has found it
};

}  // namespace

absl::StatusOr<ProcessStacks> ReadProcessStacks(pid_t pid, const UnwindOrder& unwind) {
  if (absl::Status status = CheckTimeNamespace(); !status.ok()) return status;
  const absl::StatusOr<Listing> listing = LoadListing();
  if (!listing.ok()) return listing.status();
  const auto readers = std::make_shared<ReaderPool>();
  if (readers->stats().threads == 0) return absl::ResourceExhaustedError("cannot start a thread to read the process");
  const auto never = [] { return false; };
  return ReadProcessStacks(pid, unwind, *listing, std::make_shared<ModuleCache>(),
                           TimedReadOn(readers, kDeadline, never), never);
}

absl::StatusOr<ProcessStacks> ReadProcessStacks(pid_t pid, const UnwindOrder& unwind, const Listing& listing,
                                                std::shared_ptr<ModuleCache> modules, const TimedRead& read,
                                                const IsCancelled& is_cancelled) {
  return Reading(pid, unwind, listing, std::move(modules), read, is_cancelled).Run();
}

}  // namespace offcpu
