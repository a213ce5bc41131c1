// How the short waits of each user are sampled so that recording keeps its budget: T of each user, 0 as long as all
// waits can be recorded. If recording costs more than the budget, the users who cost most give: each may cost as much
// as any other, and who costs less keeps all of his waits, or comes back to them, whatever the others do: also where
// these cost more than the budget at any T. A burst that the time before has saved for lowers nothing. Knows no clock
// and no users but by their places; one thread.
#ifndef OFFCPU_RECORDER_SAMPLING_CONTROL_H_
#define OFFCPU_RECORDER_SAMPLING_CONTROL_H_

#include <cstdint>
#include <span>
#include <vector>

namespace offcpu {

class SamplingControl {
 public:
  static constexpr uint64_t kMostNs = 100'000'000;  // T is never longer
  static constexpr uint64_t kFirstNs = 10'000;      // T of a user whose waits have all been recorded until now
  static constexpr uint64_t kLeastNs = 5'000;       // below it T is 0: hardly any wait is as short
  static constexpr double kSavedBudgets = 2;        // that may be saved for a burst, in seconds of the budget

  explicit SamplingControl(size_t users) : thresholds_ns_(users, 0) {}

  // What recording the waits of each user has cost in the last `seconds`, in seconds of CPU time, and what all of them
  // together may cost in one second.
  void Update(std::span<const double> costs, double seconds, double budget);

  const std::vector<uint64_t>& thresholds_ns() const { return thresholds_ns_; }
  uint64_t longest_ns() const;

 private:
  std::vector<double> Wants(std::span<const double> costs) const;
  // Where a user may cost so much.
  void Raise(std::span<const double> costs, double level);
  void Lower(std::span<const double> costs, double level);

  std::vector<uint64_t> thresholds_ns_;
  double saved_ = 0;
};

// The most that each may have if nobody has more than it, and all together have no more than `sum`: the level of
// max-min fairness. At least one of `wants` is above it if they exceed the sum.
double FairLevel(std::span<const double> wants, double sum);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_SAMPLING_CONTROL_H_
