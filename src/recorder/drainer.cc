#include "recorder/drainer.h"

#include <time.h>

#include <chrono>
#include <span>
#include <utility>

#include "os/now.h"
#include "os/scoped_priority.h"
#include "os/start_thread.h"
#include "recorder/clocks.h"

namespace offcpu {
namespace {

constexpr uint64_t kFlushPeriodNs = 500'000'000;
constexpr int kFlushAttempts = 1000;
constexpr std::chrono::milliseconds kGathering{1};  // what comes together

}  // namespace

Drainer::Drainer(std::shared_ptr<Programs> programs, bool settles, size_t queue_bytes, WorkerTasks& worker)
    : programs_(std::move(programs)), queue_(queue_bytes), worker_(worker), pace_(settles, NowNs(CLOCK_MONOTONIC)) {}

absl::Status Drainer::Start() {
  absl::StatusOr<std::thread> thread = StartThread("drainer", [this] { Loop(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void Drainer::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  programs_->Hurry();
  thread_.join();
}

// By time, and less often where little comes: each wake-up from a BPF program is an interrupt. Only what may be gone
// soon is worth one, and a ring that fills; what comes with it takes a moment, and more may follow.
void Drainer::Loop() {
  own_.Check();
  const ScopedPriority priority;
  while (DrainOnce()) {
    if (!programs_->AwaitNews(pace_.period())) continue;
    std::this_thread::sleep_for(kGathering);
    pace_.Hurry();
  }
  // What was asked for before recording stopped may still be on its way.
  std::this_thread::sleep_for(DrainPace::kShortest);
  DrainOnce();
}

bool Drainer::DrainOnce() {
  const uint64_t now_ns = NowNs(CLOCK_MONOTONIC);
  if (now_ns >= next_flush_ns_) {
    next_flush_ns_ = now_ns + kFlushPeriodNs;
    programs_->FlushSums();
  }
  const std::lock_guard lock(mutex_);
  const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  const size_t bytes = programs_->Drain([this](std::span<const std::byte> record) { queue_.Push(record); });
  queue_.Flush();
  if (bytes != 0) worker_.Poke();
  const uint64_t ended_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  times_.Add(ended_ns - began_ns);
  times_.SetAll(ended_ns);
  pace_.NoteRead(now_ns, bytes);
  ++drains_;
  drained_.notify_all();
  return !stop_;
}

void Drainer::AwaitDrain() {
  std::unique_lock lock(mutex_);
  programs_->Hurry();
  drained_.wait(lock, [this, next = drains_ + 1] { return drains_ >= next; });
}

void Drainer::FlushSums() {
  for (int i = 0; i < kFlushAttempts && programs_->FlushSums() != 0; ++i) AwaitDrain();
  AwaitDrain();
}

EventQueueStats Drainer::QueueStats() {
  const std::lock_guard lock(mutex_);
  return queue_.stats();
}

}  // namespace offcpu
