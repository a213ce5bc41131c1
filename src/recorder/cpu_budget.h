// How many waits are drawn a second on each CPU so that recording costs no more than its part of the host. Draws fall
// fast and rise slowly. A part of the cost does not depend on them (what each switch takes), so a small budget may be
// exceeded with the least draws, too. Knows no clock; one thread.
#ifndef OFFCPU_RECORDER_CPU_BUDGET_H_
#define OFFCPU_RECORDER_CPU_BUDGET_H_

#include <cstdint>

namespace offcpu {

class CpuBudget {
 public:
  static constexpr double kLeastDraws = 10;
  // With which it begins, or with the most if that is less: as many as cost about one percent of a host that has enough
  // waits, so that a budget is not overdrawn before the first looks.
  static constexpr double kFirstDraws = 250;

  // `share` above 0; `most_draws` a second and CPU.
  CpuBudget(double share, double most_draws);

  // What recording took since the last look, and the CPU time of which it may take its share. The first look is not
  // judged: when a recording begins, all processes are looked at, and their unwind tables are read.
  void Look(double cost_seconds, double of_seconds);

  uint32_t draws() const;  // a second and CPU, from now on

 private:
  const double share_;
  const double most_;
  const double least_;
  double draws_;
  bool has_looked_ = false;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_CPU_BUDGET_H_
