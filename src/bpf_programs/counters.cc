#include "bpf_programs/counters.h"

#include "profile/losses.h"

namespace offcpu {
namespace {

struct CounterOfLoss {
  wire_counter_id counter;
  LossId loss;
  bool is_event;  // an event is lost (not: filtered, delayed, or served in another way)
};

// In the order in which they are shown.
constexpr CounterOfLoss kLossCounters[] = {
    {WIRE_COUNT_INTERVAL_RING_FULL, LossId::kIntervalRingFull, true},
    {WIRE_COUNT_INTERVAL_RING_BUSY, LossId::kIntervalRingBusy, true},
    {WIRE_COUNT_NO_STORAGE, LossId::kNoStorage, true},
    {WIRE_COUNT_UNSEEN, LossId::kUnseen, false},
    {WIRE_COUNT_ARRIVAL_UNTOLD, LossId::kArrivalUntold, true},
    {WIRE_COUNT_JOINED_AWAY, LossId::kJoinedAway, false},
    {WIRE_COUNT_BELOW_MIN_WAIT, LossId::kBelowMinWait, false},
    {WIRE_COUNT_ABOVE_MAX_WAIT, LossId::kAboveMaxWait, false},
    {WIRE_COUNT_OTHER_KIND, LossId::kOtherKind, false},
    {WIRE_COUNT_CLOCK_BACKWARDS, LossId::kClockBackwards, false},
    {WIRE_COUNT_QUEUE_TIME_UNKNOWN, LossId::kQueueTimeUnknown, false},
    {WIRE_COUNT_KERNEL_STACK_FAILED, LossId::kKernelStackFailed, false},
    {WIRE_COUNT_NO_SCRATCH, LossId::kNoScratch, false},
    {WIRE_COUNT_KERNEL_NOT_WALKED, LossId::kKernelNotWalked, false},
    {WIRE_COUNT_KERNEL_WALK_DIFFERS, LossId::kKernelWalkDiffers, false},
    {WIRE_COUNT_DEFINITION_DELAYED, LossId::kKernelStackLate, false},
    {WIRE_COUNT_CAPTURE_RING_FULL, LossId::kCaptureRingFull, true},
    {WIRE_COUNT_CAPTURE_RING_BUSY, LossId::kCaptureRingBusy, true},
    {WIRE_COUNT_CAPTURE_ANSWER_LOST, LossId::kCaptureAnswerLost, true},
    {WIRE_COUNT_STACK_UNKNOWN, LossId::kStackUnknown, false},
    {WIRE_COUNT_CODE_UNKNOWN, LossId::kCodeUnknown, false},
    {WIRE_COUNT_MAPPINGS_BUDGET, LossId::kMappingsBudget, false},
    {WIRE_COUNT_SWITCHED_OFF, LossId::kSwitchedOff, true},
    {WIRE_COUNT_LIFECYCLE_LOST, LossId::kLifecycleLost, false},
    {WIRE_COUNT_GONE_AT_END, LossId::kGoneAtEnd, true},
    {WIRE_COUNT_ACCOUNT_LOST, LossId::kAccountLost, true},
    {WIRE_COUNT_NOT_LISTED, LossId::kNotListed, true},
    {WIRE_COUNT_WAKER_UNKNOWN, LossId::kWakerUnknown, false},
    {WIRE_COUNT_WAKER_CUT, LossId::kWakerCut, false},
    {WIRE_COUNT_NOT_FOLLOWED, LossId::kNotFollowed, true},
    {WIRE_COUNT_SAMPLE_RING_FULL, LossId::kSampleRingFull, true},
    {WIRE_COUNT_SAMPLE_RING_BUSY, LossId::kSampleRingBusy, true},
    {WIRE_COUNT_SAMPLE_NO_STORAGE, LossId::kSampleNoStorage, true},
    {WIRE_COUNT_SAMPLE_MISSED, LossId::kSampleMissed, true},
};

// These tell how things were done, not what was lost.
constexpr wire_counter_id kOtherCounters[] = {
    WIRE_COUNT_NOT_SAMPLED,       WIRE_COUNT_ACCOUNT_MADE,
    WIRE_COUNT_ACCOUNT_SETTLED,   WIRE_COUNT_TASK_WORK,
    WIRE_COUNT_TASK_WORK_REFUSED, WIRE_COUNT_COPIED_AT_ONCE,
    WIRE_COUNT_CAPTURE_TIME,      WIRE_COUNT_CAPTURE_LONGEST,
    WIRE_COUNT_PAGE_FAULTED_IN,   WIRE_COUNT_SAMPLE,
    WIRE_COUNT_KERNEL_WALKED,     WIRE_COUNT_USER_WALKED,
    WIRE_COUNT_USER_WALK_UNKNOWN, WIRE_COUNT_USER_WALK_NO_CODE,
    WIRE_COUNT_USER_WALK_NO_ROW,  WIRE_COUNT_USER_WALK_NO_MEMORY,
};

// A counter that is in neither list would be a loss that no report shows.
constexpr bool IsEachInOneList() {
  for (uint32_t id = 0; id < WIRE_COUNTERS; ++id) {
    int lists = 0;
    for (const CounterOfLoss& counter : kLossCounters) lists += counter.counter == id ? 1 : 0;
    for (const wire_counter_id counter : kOtherCounters) lists += counter == id ? 1 : 0;
    if (lists != 1) return false;
  }
  return true;
}
static_assert(IsEachInOneList());

}  // namespace

std::vector<Loss> NameCounters(const Counters& counters) {
  std::vector<Loss> losses;
  for (const auto& [counter, loss, is_event] : kLossCounters) {
    if (counters[counter].count != 0) losses.push_back(LossOf(loss, counters[counter].count, counters[counter].ns));
  }
  return losses;
}

uint64_t CountLost(const Counters& counters) {
  uint64_t lost = 0;
  for (const auto& [counter, loss, is_event] : kLossCounters) {
    if (is_event) lost += counters[counter].count;
  }
  return lost;
}

}  // namespace offcpu
