// The scheduler's clock while the BPF programs record: they time waits by it, and windows are cut by it; and what keeps
// their offset to CLOCK_MONOTONIC right. Any thread, but for Arm.
#ifndef OFFCPU_RECORDER_RECORDING_CLOCK_H_
#define OFFCPU_RECORDER_RECORDING_CLOCK_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "bpf_programs/programs.h"
#include "recorder/clocks.h"
#include "recorder/scheduler_clock.h"

namespace offcpu {

class RecordingClock {
 public:
  // `own`: see SchedulerClock.
  RecordingClock(std::shared_ptr<Programs> programs, bool own);

  // The recording begins. Once, before any other call.
  void Arm();
  uint64_t start_ns() const { return programs_->span().start_ns; }

  // The scheduler's clock, not later than now; 0 if it cannot be read.
  uint64_t ReadNs() const;
  // An instant that the programs have known before it came, so that no sum reaches over it. Returns behind it; 0 if the
  // clock cannot be read.
  uint64_t CutAhead() const;
  // The clocks at an instant of the scheduler's clock, a moment ago.
  Clocks ClocksAt(uint64_t scheduler_ns) const;
  // The scheduler's clock minus CLOCK_MONOTONIC, of one moment; nothing if the two could not be read together.
  std::optional<uint64_t> Offset() const;

 private:
  const std::shared_ptr<Programs> programs_;
  const SchedulerClock clock_;
  uint64_t armed_ns_ = 0;  // of clock_; not earlier than the programs were armed
};

// Gives the BPF programs the difference of the two clocks, once a second: those that list threads can only read
// CLOCK_MONOTONIC, and must know how late it is by the clock that waits are stamped by. One thread.
class ClockFollower {
 public:
  // `clock` must outlive it.
  ClockFollower(std::shared_ptr<Programs> programs, const RecordingClock& clock);

  void Tick(uint64_t now_ns);

 private:
  const std::shared_ptr<Programs> programs_;
  const RecordingClock& clock_;
  uint64_t next_ns_ = 0;
  std::optional<uint64_t> learned_ahead_ns_;  // the programs' offset to the one that is read here
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RECORDING_CLOCK_H_
