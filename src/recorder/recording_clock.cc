#include "recorder/recording_clock.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "os/now.h"

namespace offcpu {
namespace {

// How far ahead a window's end is chosen.
constexpr uint64_t kCutAheadNs = 5'000'000;
constexpr std::chrono::milliseconds kUntilCut{1};
constexpr uint64_t kClockPeriodNs = 1'000'000'000;
constexpr uint64_t kReadTogetherNs = 20'000;  // two clocks: else the one is of an earlier moment
constexpr int kReadTogetherTries = 8;

}  // namespace

RecordingClock::RecordingClock(std::shared_ptr<Programs> programs, bool own)
    : programs_(std::move(programs)), clock_(own) {}

void RecordingClock::Arm() {
  programs_->Arm();
  armed_ns_ = clock_.ReadNs();
}

uint64_t RecordingClock::ReadNs() const {
  const uint64_t now_ns = clock_.ReadNs();
  return now_ns < armed_ns_ ? 0 : start_ns() + (now_ns - armed_ns_);
}

uint64_t RecordingClock::CutAhead() const {
  if (!programs_->SumsUp()) return ReadNs();
  uint64_t cut_ns = 0;
  for (uint64_t ahead_ns = kCutAheadNs;; ahead_ns *= 2) {
    const uint64_t now_ns = ReadNs();
    if (now_ns == 0) return 0;
    cut_ns = now_ns + ahead_ns;
    programs_->CutSums(cut_ns);
    if (ReadNs() < cut_ns - ahead_ns / 2) break;  // the clock may be a little behind that of the programs
  }
  for (uint64_t now_ns = ReadNs(); now_ns != 0 && now_ns <= cut_ns; now_ns = ReadNs()) {
    std::this_thread::sleep_for(kUntilCut);
  }
  return cut_ns;
}

Clocks RecordingClock::ClocksAt(uint64_t scheduler_ns) const {
  Clocks best;
  uint64_t best_ns = UINT64_MAX;
  for (int i = 0; i < kReadTogetherTries && best_ns > kReadTogetherNs; ++i) {
    const uint64_t before_ns = NowNs(CLOCK_MONOTONIC);
    const uint64_t now_ns = ReadNs();
    const Clocks now = ReadClocks();
    const uint64_t took_ns = now.monotonic_ns - before_ns;
    if (took_ns >= best_ns) continue;
    best_ns = took_ns;
    best = Before(now, now_ns - std::min(now_ns, scheduler_ns));
  }
  return best;
}

std::optional<uint64_t> RecordingClock::Offset() const {
  const uint64_t before_ns = NowNs(CLOCK_MONOTONIC);
  const uint64_t scheduler_ns = ReadNs();
  const uint64_t after_ns = NowNs(CLOCK_MONOTONIC);
  if (scheduler_ns == 0 || after_ns - before_ns > kReadTogetherNs) return std::nullopt;
  return scheduler_ns - after_ns;
}

ClockFollower::ClockFollower(std::shared_ptr<Programs> programs, const RecordingClock& clock)
    : programs_(std::move(programs)), clock_(clock) {}

void ClockFollower::Tick(uint64_t now_ns) {
  if (now_ns < next_ns_) return;
  const std::optional<uint64_t> offset = clock_.Offset();
  if (!offset.has_value()) return;  // the next turn tries again
  // What the programs have learned from many switches is exact; here, what changes is.
  if (!learned_ahead_ns_.has_value()) learned_ahead_ns_ = programs_->clock_offset() - *offset;
  programs_->SetClockOffset(*offset + *learned_ahead_ns_);
  next_ns_ = now_ns + kClockPeriodNs;
}

}  // namespace offcpu
