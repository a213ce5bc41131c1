#include "profiler/live_waits.h"

namespace offcpu {
namespace {

// Cookies of BPF programs begin with a CPU's number; none is as high as this.
constexpr uint64_t kNoCpu = uint64_t{0xffff} << 48;

}  // namespace

LiveWait* LiveWaits::Begin(const WaitingThread& thread) {
  if (Find(thread.process, thread.tid, thread.switches) != nullptr) return nullptr;
  if (by_tid_.size() >= max_threads_) {
    by_tid_.clear();
    tid_of_cookie_.clear();
  }
  LiveWait& wait = by_tid_[thread.tid];
  tid_of_cookie_.erase(wait.cookie);
  // While a capture is pending all waits of the stay have its cookie, and this stack is theirs too.
  wait = {.process = thread.process,
          .switches = thread.switches,
          .cookie = thread.cookie != 0 ? thread.cookie : kNoCpu | ++cookies_};
  tid_of_cookie_.insert_or_assign(wait.cookie, thread.tid);
  return &wait;
}

LiveWait* LiveWaits::Find(const ProcessKey& process, int32_t tid, uint64_t switches) {
  const auto found = by_tid_.find(tid);
  const bool same = found != by_tid_.end() && found->second.process == process && found->second.switches == switches;
  return same ? &found->second : nullptr;
}

void LiveWaits::Resolve(uint64_t cookie, uint32_t user_stack) {
  const auto tid = tid_of_cookie_.find(cookie);
  if (tid == tid_of_cookie_.end()) return;
  LiveWait& wait = by_tid_[tid->second];
  if (!wait.user_stack.has_value()) wait.user_stack = user_stack;
}

}  // namespace offcpu
