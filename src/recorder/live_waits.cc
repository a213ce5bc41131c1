#include "recorder/live_waits.h"

namespace offcpu {
namespace {

// Cookies of BPF programs begin with a CPU's number, above two bits of context and a count; none is as high as this.
constexpr uint64_t kNoCpu = uint64_t{0xffff} << 48;

// Reading again what could not be read in time would only lose another reader.
bool MayBeTriedAgain(const LiveWait& wait) {
  if (wait.stack != nullptr) return false;
  return wait.failed == NoUserStack::kStale || wait.failed == NoUserStack::kOnCpu ||
         wait.failed == NoUserStack::kOverload || wait.failed == NoUserStack::kUnreadableProcess;
}

}  // namespace

LiveWait* LiveWaits::Begin(const WaitingThread& thread) {
  const LiveWait* known = Find(thread.process, thread.tid, thread.switches);
  if (known != nullptr && !MayBeTriedAgain(*known)) return nullptr;
  if (by_tid_.size() >= max_threads_ && !by_tid_.contains(thread.tid)) {
    by_tid_.clear();
    tid_of_cookie_.clear();
  }
  LiveWait& wait = by_tid_[thread.tid];
  ForgetCookies(wait);
  wait = LiveWait();
  wait.process = thread.process;
  wait.switches = thread.switches;
  // While a capture is pending all waits of the kernel entry have its cookie, and this stack is theirs too.
  wait.cookie = thread.cookie != 0 ? thread.cookie : kNoCpu | ++cookies_;
  wait.window = windows_;
  tid_of_cookie_.insert_or_assign(wait.cookie, thread.tid);
  return &wait;
}

LiveWait* LiveWaits::Find(const ProcessKey& process, int32_t tid, uint64_t switches) {
  const auto found = by_tid_.find(tid);
  const bool same = found != by_tid_.end() && found->second.process == process && found->second.switches == switches;
  return same ? &found->second : nullptr;
}

LiveWait* LiveWaits::FindByCookie(uint64_t cookie) {
  const auto tid = tid_of_cookie_.find(cookie);
  return tid != tid_of_cookie_.end() ? &by_tid_[tid->second] : nullptr;
}

void LiveWaits::ForgetCookies(const LiveWait& wait) {
  tid_of_cookie_.erase(wait.cookie);
  tid_of_cookie_.erase(wait.capture_cookie);
}

void LiveWaits::Link(LiveWait& wait, int32_t tid, uint64_t capture_cookie) {
  wait.capture_cookie = capture_cookie;
  tid_of_cookie_.insert_or_assign(capture_cookie, tid);
}

const LiveWait* LiveWaits::Resolve(uint64_t cookie, const UserStack& stack) {
  LiveWait* wait = FindByCookie(cookie);
  if (wait == nullptr || wait->stack != nullptr) return nullptr;
  wait->stack = pool_.Share(stack);
  return wait;
}

void LiveWaits::Fail(uint64_t cookie, NoUserStack reason) {
  if (LiveWait* wait = FindByCookie(cookie)) wait->failed = reason;
}

void LiveWaits::BeginWindow(const std::vector<WaitingThread>& threads) {
  ++windows_;
  for (const WaitingThread& thread : threads) {
    if (LiveWait* wait = Find(thread.process, thread.tid, thread.switches)) wait->window = windows_;
  }
}

void LiveWaits::ForgetOtherWindows() {
  absl::erase_if(by_tid_, [this](const auto& entry) {
    if (entry.second.window == windows_) return false;
    ForgetCookies(entry.second);
    return true;
  });
}

}  // namespace offcpu
