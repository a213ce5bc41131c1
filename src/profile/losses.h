// The catalogue of losses: each way in which something of a recording may be missing, with what that means for a reader
// of the profile and what to do about it. Texts for people, series of /metrics and the man page offcpu-losses(7) come
// from here; a loss without an entry does not compile. Plain data.
#ifndef OFFCPU_PROFILE_LOSSES_H_
#define OFFCPU_PROFILE_LOSSES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/trusted_file.h"
#include "profile/ledger.h"
#include "profile/profile.h"

namespace offcpu {

enum class LossId : uint8_t {
  // Counted by the BPF programs.
  kIntervalRingFull,
  kIntervalRingBusy,
  kNoStorage,
  kUnseen,
  kArrivalUntold,
  kJoinedAway,
  kBelowMinWait,
  kAboveMaxWait,
  kOtherKind,
  kClockBackwards,
  kQueueTimeUnknown,
  kKernelStackFailed,
  kNoScratch,
  kKernelNotWalked,
  kKernelWalkDiffers,
  kKernelStackLate,
  kCaptureRingFull,
  kCaptureRingBusy,
  kCaptureAnswerLost,
  kStackUnknown,
  kCodeUnknown,
  kMappingsBudget,
  kSwitchedOff,
  kLifecycleLost,
  kGoneAtEnd,
  kAccountLost,
  kNotListed,
  kWakerUnknown,
  kWakerCut,
  kNotFollowed,
  kSampleRingFull,
  kSampleRingBusy,
  kSampleNoStorage,
  kSampleMissed,
  // Between the rings and the profile.
  kQueueIntervals,
  kQueueCaptures,
  kQueueSamples,
  kUndecodable,
  kUserWalkDiffers,
  kNameConflict,
  kIntervalLate,
  kSampleLate,
  kOpenWaitMissed,
  kOpenWaitFiltered,
  kTooManyProcesses,
  kTooManyWaitingStacks,
  kKernelStackUndefined,
  kRowTableFull,
  kUserStackTableFull,
  kKernelStackTableFull,
  kProcessTableFull,
  kCommTableFull,
  kWakerTableFull,
  kControlGroupTableFull,
  kLedgerFull,
  // Where processes and their files are read.
  kTargetStuck,
  kTargetNotRead,
  kReaderNotStarted,
  kModuleUnreadable,
  kMemoryShare,
  kMappingLeftOut,
  kModuleTables,
  kModuleFile,
  kTableTooLarge,
  kCorruptTable,
  kBadTableEntry,
  kOldSFrame,
  kRuntimeUnknown,
  kControlGroupNotTold,
  kNamesNotRead,
  kSymbolsUnreadable,
  kNameMemoryShare,
  kLinesCut,
  kSplitUnitsNotRead,
  kDebugFileNotFetched,
};
inline constexpr size_t kLossIdCount = static_cast<size_t>(LossId::kDebugFileNotFetched) + 1;

struct LossInfo {
  LossId id = {};
  std::string_view name;                          // how it is shown, and the label of its series
  std::string_view meaning;                       // for a reader of the profile
  std::string_view advice = "";                   // empty: nothing has to be done, or can be
  bool takes_time = false;                        // time is missing in the profile with it
  std::optional<LostTime> ledger = std::nullopt;  // where that time is in the ledger
};

// By their ids.
extern const std::array<LossInfo, kLossIdCount> kLosses;

const LossInfo& InfoOf(LossId id);
const LossInfo& InfoOf(LostTime loss);

Loss LossOf(LossId id, uint64_t count, uint64_t ns = 0);

// Why there is no user stack, likewise; of kNone nothing.
struct NoUserStackInfo {
  NoUserStack reason = {};
  std::string_view meaning;
  std::string_view advice = "";
};
extern const std::array<NoUserStackInfo, kNoUserStackCount> kNoUserStacks;

const NoUserStackInfo& InfoOf(NoUserStack reason);

// Is it a loss? A kernel thread has no user stack, so nothing is lost.
bool IsLoss(NoUserStack reason);

// What losses of these kinds are called: "no user stack: budget", "perf map refused: symbolic link".
std::string LossName(NoUserStack reason, bool of_waker);
std::string LossName(FileRefusal refusal);

// All that a loss of a recording can be called.
std::vector<std::string> AllLossNames();

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_LOSSES_H_
