#include "profile/losses.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr std::string_view kRecordLess =
    "Record fewer processes (-p, --cgroup), or leave out short waits (--min-wait).";
constexpr std::string_view kRecordFewer = "Record fewer processes (-p, --cgroup).";
constexpr std::string_view kSampleLess = "Sample less often (--oncpu).";
constexpr std::string_view kNoShortWaits = "Leave out short waits (--min-wait).";
constexpr std::string_view kFreeMemory = "Free memory on the host.";
constexpr std::string_view kShorterWindows = "Record less, or in shorter windows.";
constexpr std::string_view kSilentFiles = "See whether a file system does not answer.";
constexpr std::string_view kMoreMemory =
    "Raise limits.memory of the service, and MemoryHigh= and MemoryMax= of its unit.";

constexpr std::array<LossInfo, kLossIdCount> kLossTable = {{
    {.id = LossId::kIntervalRingFull,
     .name = "interval ring full",
     .meaning = "Waits ended faster than offcpu read them, and the ring between the kernel and offcpu had no room.",
     .advice = kRecordLess,
     .takes_time = true,
     .ledger = LostTime::kRingFull},
    {.id = LossId::kIntervalRingBusy,
     .name = "interval ring busy",
     .meaning = "A wait ended while code that its CPU had interrupted held the lock of the ring.",
     .takes_time = true,
     .ledger = LostTime::kRingBusy},
    {.id = LossId::kNoStorage,
     .name = "no task storage",
     .meaning = "The kernel had no memory to note when a thread left the CPU. The length of that wait is not known.",
     .advice = kFreeMemory,
     .takes_time = true},
    {.id = LossId::kUnseen,
     .name = "outside of the pid namespace",
     .meaning = "Threads outside of the container that offcpu runs in, which have no number there, were selected by "
                "their names, users or control groups. They are not recorded. The count is how often they left a CPU.",
     .advice = "Run offcpu on the host, or in a container that shares the host's pids (--pid=host).",
     .takes_time = true},
    {.id = LossId::kArrivalUntold,
     .name = "end of a wait not told",
     .meaning = "The kernel did not report that a thread was back on a CPU, and that wait is not recorded. Kernels of "
                "some sandboxes do not report switches away from tasks that they hide.",
     .takes_time = true},
    {.id = LossId::kJoinedAway,
     .name = "selected while off the CPU",
     .meaning = "A filter let a thread in while it was off the CPU, because its name, user or control group changed. "
                "That wait is not recorded.",
     .takes_time = true,
     .ledger = LostTime::kNotSelected},
    {.id = LossId::kBelowMinWait,
     .name = "shorter than --min-wait",
     .meaning = "Waits that --min-wait leaves out.",
     .takes_time = true,
     .ledger = LostTime::kBelowMinWait},
    {.id = LossId::kAboveMaxWait,
     .name = "longer than --max-wait",
     .meaning = "Waits that --max-wait leaves out.",
     .takes_time = true,
     .ledger = LostTime::kAboveMaxWait},
    {.id = LossId::kOtherKind,
     .name = "not of --state",
     .meaning = "Waits that --state leaves out.",
     .takes_time = true,
     .ledger = LostTime::kOtherKind},
    {.id = LossId::kClockBackwards,
     .name = "clock went backwards",
     .meaning = "The clocks of two CPUs differed by more than the length of a wait. The wait counts as 0 ns."},
    {.id = LossId::kKernelStackFailed,
     .name = "kernel stack could not be taken",
     .meaning = "The kernel did not walk its own stack. The wait has only its time and its user stack."},
    {.id = LossId::kNoScratch,
     .name = "no scratch memory for a kernel stack",
     .meaning = "The buffers of the CPU were in use. The wait has only its time and its user stack."},
    {.id = LossId::kKernelNotWalked,
     .name = "kernel stack without functions that schedule",
     .meaning =
         "The kernel's unwind tables have no row for a function on the stack, for example one that was compiled while "
         "the kernel ran. The kernel walked the stack itself, which leaves out functions that lock or schedule."},
    {.id = LossId::kKernelWalkDiffers,
     .name = "kernel stack walked wrongly",
     .meaning = "offcpu walked a kernel stack by the kernel's unwind tables, and the result differed from the kernel's "
                "own walk. The wait has the stack of the kernel's walk, and so have all later ones. These may lack "
                "functions that lock or schedule.",
     .advice = "Report it, with the version of the kernel."},
    {.id = LossId::kKernelStackLate,
     .name = "kernel stack sent late",
     .meaning = "The ring had no room for the frames of a kernel stack or for a list of code. They were sent again."},
    {.id = LossId::kCaptureRingFull,
     .name = "capture ring full",
     .meaning = "Stacks came faster than offcpu read them. Their waits have no user stack.",
     .advice = kRecordLess},
    {.id = LossId::kCaptureRingBusy,
     .name = "capture ring busy",
     .meaning = "A stack was copied while code that its CPU had interrupted held the lock of the ring. Its waits have "
                "no user stack."},
    {.id = LossId::kCaptureAnswerLost,
     .name = "capture failed and could not say so",
     .meaning = "A stack could not be copied, and the ring had no room to say why. Its waits have no user stack.",
     .advice = kRecordLess},
    {.id = LossId::kStackUnknown,
     .name = "mapping of a stack not found: one page copied",
     .meaning = "The mapping around a stack pointer was not found, so only the page of the stack pointer was copied. "
                "Deep stacks are truncated."},
    {.id = LossId::kCodeUnknown,
     .name = "capture whose code could not be told",
     .meaning = "Finding out which code a process had mapped would have taken too much of its time. Its stack is "
                "walked only if its mappings have not changed since offcpu looked at them."},
    {.id = LossId::kMappingsBudget,
     .name = "mappings not looked at: budget",
     .meaning = "The time for looking at mappings was used up in that second. A stack is walked only if its mappings "
                "have not changed since offcpu looked at them."},
    {.id = LossId::kSwitchedOff,
     .name = "captures of a process switched off for a while",
     .meaning = "Within a second, copying stacks took more time from the threads of a process than 25 % of the host's "
                "CPUs have. For ten seconds its waits have no user stack.",
     .advice = kNoShortWaits},
    {.id = LossId::kLifecycleLost,
     .name = "exec or exit not reported",
     .meaning = "The ring had no room for the news that a process has ended or runs another program. offcpu notices it "
                "later."},
    {.id = LossId::kGoneAtEnd,
     .name = "ended before its open wait was listed",
     .meaning = "A thread waited when the recording ended, and was dead before offcpu listed it. In a ledger, also a "
                "thread that slept throughout and has run more than once since.",
     .takes_time = true,
     .ledger = LostTime::kGoneAtEnd},
    {.id = LossId::kAccountLost,
     .name = "account of a thread lost",
     .meaning = "The ledger lacks the account of a thread, or its beginning. The ring had no room for it, the kernel "
                "could not make it at that moment, or the thread ended with the recording and waited for its last "
                "moment on a CPU for half a second.",
     .advice = kRecordFewer},
    {.id = LossId::kNotListed,
     .name = "waiting thread not listed: no buffer",
     .meaning = "A thread that still waited found no buffer when it was listed. This window lacks its open wait.",
     .takes_time = true},
    {.id = LossId::kWakerUnknown,
     .name = "waker not known",
     .meaning = "offcpu did not see who ended a wait. The wait has no waker."},
    {.id = LossId::kWakerCut,
     .name = "chain of wakers cut: no task storage",
     .meaning = "The kernel had no memory for a waker of a chain. The chain is shorter than it was.",
     .advice = kFreeMemory},
    {.id = LossId::kNotFollowed,
     .name = "child not followed: too many",
     .meaning = "The recorded processes have more children than offcpu can follow. The rest is not recorded.",
     .advice = "Record their control group instead (--cgroup).",
     .takes_time = true},
    {.id = LossId::kSampleRingFull,
     .name = "on-CPU sample: ring full",
     .meaning = "Samples came faster than offcpu read them.",
     .advice = kSampleLess,
     .takes_time = true},
    {.id = LossId::kSampleRingBusy,
     .name = "on-CPU sample: ring busy",
     .meaning = "A sample was taken while code that its CPU had interrupted held the lock of the ring.",
     .takes_time = true},
    {.id = LossId::kSampleNoStorage,
     .name = "on-CPU sample: no task storage",
     .meaning = "The kernel had no memory to note the thread that a sample met.",
     .advice = kFreeMemory,
     .takes_time = true},
    {.id = LossId::kSampleMissed,
     .name = "on-CPU sample: missed",
     .meaning = "A sampling event did not fire in time, or its BPF program was not called: the hypervisor had the CPU, "
                "or the kernel did not let BPF programs run.",
     .takes_time = true},
    {.id = LossId::kQueueIntervals,
     .name = "queue full: intervals",
     .meaning = "offcpu did not keep up with the waits that it had read from the ring.",
     .advice = kRecordLess,
     .takes_time = true,
     .ledger = LostTime::kQueueFull},
    {.id = LossId::kQueueCaptures,
     .name = "queue full: captures",
     .meaning =
         "offcpu did not keep up with the stacks that it had read from the ring. Their waits have no user stack.",
     .advice = kRecordLess},
    {.id = LossId::kQueueSamples,
     .name = "queue full: on-CPU samples",
     .meaning = "offcpu did not keep up with the samples that it had read from the ring.",
     .advice = kSampleLess,
     .takes_time = true},
    {.id = LossId::kUndecodable,
     .name = "undecodable record",
     .meaning = "offcpu did not understand a record of the ring. This is an error in offcpu: please report it."},
    {.id = LossId::kUserWalkDiffers,
     .name = "user stack walked wrongly",
     .meaning = "A user stack that a BPF program has walked differed from its capture. From then on offcpu captures "
                "all stacks of that code.",
     .advice = "Report it, with the program."},
    {.id = LossId::kNameConflict,
     .name = "two contents under one name",
     .meaning = "Two stacks or two lists of code had the same name, which is a hash of 64 bits under a secret key. "
                "offcpu shows neither of them. Waits with such a kernel stack have [unknown kernel stack] instead. "
                "Such user stacks are captured, or missing.",
     .advice = "Report it: it should not happen in millions of years."},
    {.id = LossId::kIntervalLate,
     .name = "interval came after its window",
     .meaning = "offcpu read a wait after it had closed the window of the wait.",
     .takes_time = true},
    {.id = LossId::kSampleLate,
     .name = "on-CPU sample came after its window",
     .meaning = "offcpu read a sample after it had closed the window of the sample.",
     .takes_time = true},
    {.id = LossId::kOpenWaitMissed,
     .name = "open wait missed at a window's end",
     .meaning =
         "A thread waited when a window ended, and offcpu did not see it then. That window lacks its part of the wait.",
     .takes_time = true},
    {.id = LossId::kOpenWaitFiltered,
     .name = "still waiting, and filtered out",
     .meaning = "Waits that had not ended, and that --min-wait, --max-wait or --state leaves out.",
     .takes_time = true},
    {.id = LossId::kTooManyProcesses,
     .name = "too many processes",
     .meaning = "More processes waited than offcpu can keep at a time. Waits of the rest have no user stack.",
     .advice = kRecordFewer},
    {.id = LossId::kTooManyWaitingStacks,
     .name = "too many stacks waiting for a look at their process",
     .meaning = "Stacks came faster than offcpu could look at their processes. Their waits have no user stack."},
    {.id = LossId::kKernelStackUndefined,
     .name = "kernel stack without definition",
     .meaning = "The frames of a kernel stack did not come. Its waits are shown with [unknown kernel stack]."},
    {.id = LossId::kRowTableFull,
     .name = "row table full",
     .meaning = "The profile has as many rows as it may have. The time of all others is in one row, [other].",
     .advice = kShorterWindows},
    {.id = LossId::kUserStackTableFull,
     .name = "user stack table full",
     .meaning = "The profile has as many user stacks as it may have. All others are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kKernelStackTableFull,
     .name = "kernel stack table full",
     .meaning = "The profile has as many kernel stacks as it may have. All others are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kProcessTableFull,
     .name = "process table full",
     .meaning = "The profile has as many processes as it may have. All others are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kCommTableFull,
     .name = "thread name table full",
     .meaning = "The profile has as many names of threads as it may have. All others are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kWakerTableFull,
     .name = "waker table full",
     .meaning = "The profile has as many chains of wakers as it may have. All others are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kControlGroupTableFull,
     .name = "control group table full",
     .meaning = "The paths of control groups take as much memory as they may. Threads of all other groups lack the "
                "labels cgroup, pod and unit."},
    {.id = LossId::kLedgerFull,
     .name = "ledger full: threads",
     .meaning = "The ledger has as many threads as it may have. It lacks the others.",
     .advice = kRecordFewer},
    {.id = LossId::kTargetStuck,
     .name = "target stuck",
     .meaning = "Reading a process or its files took too long, and offcpu gave it up.",
     .advice = kSilentFiles},
    {.id = LossId::kTargetNotRead,
     .name = "target not read: too many of its user are stuck",
     .meaning = "Four reads of processes of one user hang. offcpu begins no more reads for that user.",
     .advice = kSilentFiles},
    {.id = LossId::kReaderNotStarted,
     .name = "reader thread not started",
     .meaning = "The kernel refused to start a thread for offcpu: a limit of tasks is reached.",
     .advice = "Raise TasksMax of the service."},
    {.id = LossId::kModuleUnreadable,
     .name = "module unreadable",
     .meaning = "offcpu could not open or read a file that a process has mapped. Its code has no unwind tables.",
     .advice = "See `offcpu doctor`: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH may be missing."},
    {.id = LossId::kMemoryShare,
     .name = "over its user's share of memory",
     .meaning = "The files that the processes of one user map have more tables than offcpu holds for one user.",
     .advice = kMoreMemory},
    {.id = LossId::kMappingLeftOut,
     .name = "executable mapping left out: too many in one process",
     .meaning = "A process has more executable mappings than offcpu looks at. Walks end in the others."},
    {.id = LossId::kModuleTables,
     .name = "module without tables: too many",
     .meaning = "The host has more modules mapped than offcpu holds tables of.",
     .advice = kRecordFewer},
    {.id = LossId::kModuleFile,
     .name = "module without its file: too many",
     .meaning = "offcpu has as many files open as it may have. Frames of all other modules are shown without names.",
     .advice = "Raise LimitNOFILE of the service."},
    {.id = LossId::kTableTooLarge,
     .name = "unwind table too large",
     .meaning =
         "A file has an unwind table of more than 128 MiB. offcpu uses its front or nothing of it, and walks end "
         "in code that the rest describes.",
     .advice = "Leave out code that is not used (-ffunction-sections, -Wl,--gc-sections), or split the file."},
    {.id = LossId::kCorruptTable,
     .name = "corrupt unwind table",
     .meaning = "An SFrame table is damaged. offcpu uses .eh_frame of its module instead.",
     .advice = "See `offcpu sframe`."},
    {.id = LossId::kBadTableEntry,
     .name = "bad unwind table entry",
     .meaning = "An entry of an unwind table is damaged. Walks end there.",
     .advice = "See `offcpu sframe`."},
    {.id = LossId::kOldSFrame,
     .name = "SFrame table of an old version",
     .meaning = "offcpu does not read SFrame tables of versions 1 and 2. It uses .eh_frame of the module instead.",
     .advice = "Link the module with an assembler and a linker that write version 3."},
    {.id = LossId::kRuntimeUnknown,
     .name = "language runtime of an unknown version",
     .meaning =
         "A process has a Java virtual machine of a version or build that offcpu does not know. Its frames have no "
         "names of methods, and walks through them are guesses.",
     .advice = "Run it with a HotSpot virtual machine of JDK 11 or later, or report its version."},
    {.id = LossId::kControlGroupNotTold,
     .name = "path of a control group not told",
     .meaning = "The kernel did not give the path of a control group. The wait has no label cgroup, pod or unit.",
     .advice = "Give offcpu CAP_DAC_READ_SEARCH, and let it call open_by_handle_at(2)."},
    {.id = LossId::kNamesNotRead,
     .name = "names of a module not read in time",
     .meaning = "Reading the symbols of a file took too long. Its frames are shown without names.",
     .advice = kSilentFiles},
    {.id = LossId::kSymbolsUnreadable,
     .name = "symbols of a file not readable",
     .meaning =
         "offcpu could not open or read a file that a process has mapped, its symbol table has more than 1 GiB, or its "
         "debug file in the root directory of the process is not trusted. Frames are shown without names, or with "
         "those "
         "of functions that other files use alone.",
     .advice = "See `offcpu doctor`: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH may be missing. offcpu(1) says which debug "
               "files are trusted."},
    {.id = LossId::kNameMemoryShare,
     .name = "name over its user's share of memory",
     .meaning = "The names of functions in the files of one user take more than offcpu holds for one user.",
     .advice = kRecordFewer},
    {.id = LossId::kLinesCut,
     .name = "source lines of a file not all read",
     .meaning = "The debug information of a file is damaged, or reading it takes more time or memory than offcpu gives "
                "it. Some frames are shown without their places in the source, and without what was inlined there.",
     .advice = "Debug information that is not compressed (objcopy --decompress-debug-sections) takes less memory."},
}};

constexpr std::string_view kLeaveOutShort =
    "more came than offcpu could take: leave out short waits (--min-wait), or record fewer processes (-p, --cgroup)";

constexpr std::array<NoUserStackInfo, kNoUserStackCount> kNoUserStackTable = {{
    {.reason = NoUserStack::kNone, .meaning = "There is one."},
    {.reason = NoUserStack::kBudget,
     .meaning = "offcpu met more new stacks than its budget lets it copy.",
     .advice =
         "more stacks were not known yet than may be copied: record for longer, or fewer processes (-p, --cgroup)"},
    {.reason = NoUserStack::kRingFull,
     .meaning = "Stacks came faster than offcpu read them.",
     .advice = kLeaveOutShort},
    {.reason = NoUserStack::kNoBuffer,
     .meaning = "All buffers for copies of stacks were in use.",
     .advice = kLeaveOutShort},
    {.reason = NoUserStack::kUnreadable,
     .meaning = "The top of the stack was not in memory when it was to be copied, and could not be brought there."},
    {.reason = NoUserStack::kExiting, .meaning = "The thread was ending."},
    {.reason = NoUserStack::kExec, .meaning = "The process began to run another program before the stack was copied."},
    {.reason = NoUserStack::kPending, .meaning = "The thread was still inside the kernel when the recording ended."},
    {.reason = NoUserStack::kLost, .meaning = "The copy of the stack did not come in time.", .advice = kLeaveOutShort},
    {.reason = NoUserStack::kGone, .meaning = "The process ended before offcpu could look at what it has mapped."},
    {.reason = NoUserStack::kTargetStuck,
     .meaning = "Reading the process or its files hangs.",
     .advice = "reading the process hangs: see whether it is on a file system that does not answer"},
    {.reason = NoUserStack::kUnreadableProcess,
     .meaning = "The mappings or the memory of the process could not be read.",
     .advice = "see `offcpu doctor`: CAP_SYS_PTRACE may be missing"},
    {.reason = NoUserStack::kChangingProcess,
     .meaning = "The process changed its mappings of code so often that no two readings of them agreed."},
    {.reason = NoUserStack::kNotSeenLeaving,
     .meaning = "The thread left the CPU before the recording began, or had not been on a CPU yet. On kernels before "
                "6.18, stacks are found when threads leave a CPU."},
    {.reason = NoUserStack::kSwitchedOff,
     .meaning = "Within a second, copying stacks took more time from the threads of the process than 25 % of the "
                "host's CPUs have.",
     .advice = "the process waits so often that copying its stacks took too much of its time: leave out short waits "
               "(--min-wait)"},
    {.reason = NoUserStack::kOverload, .meaning = "offcpu did not keep up.", .advice = kLeaveOutShort},
    {.reason = NoUserStack::kUnsupported,
     .meaning = "This kernel offers no way to copy a user stack.",
     .advice = "see `offcpu doctor`: this kernel does not let user stacks be copied"},
    {.reason = NoUserStack::kStale, .meaning = "The thread ran while its stack was read from outside."},
    {.reason = NoUserStack::kKernelThread,
     .meaning = "A thread of the kernel, such as a worker of io_uring, has no user stack. Nothing is lost."},
    {.reason = NoUserStack::kOnCpu,
     .meaning = "The thread is running. Only the stack of a thread that waits can be read from outside."},
    {.reason = NoUserStack::kNotAsked,
     .meaning = "The waker woke a thread that is not recorded, or that had waited for too short a time."},
}};

// An entry that was forgotten leaves an empty one at the end.
constexpr bool IsWholeAndInOrder() {
  for (size_t i = 0; i < kLossTable.size(); ++i) {
    const LossInfo& info = kLossTable[i];
    if (static_cast<size_t>(info.id) != i || info.name.empty() || info.meaning.empty()) return false;
  }
  for (size_t i = 0; i < kLostTimeCount; ++i) {
    const auto has_term = [i](const LossInfo& info) { return info.ledger == static_cast<LostTime>(i); };
    if (std::count_if(kLossTable.begin(), kLossTable.end(), has_term) != 1) return false;
  }
  for (size_t i = 0; i < kNoUserStackTable.size(); ++i) {
    if (static_cast<size_t>(kNoUserStackTable[i].reason) != i || kNoUserStackTable[i].meaning.empty()) return false;
  }
  return true;
}

static_assert(IsWholeAndInOrder());

}  // namespace

const std::array<LossInfo, kLossIdCount> kLosses = kLossTable;
const std::array<NoUserStackInfo, kNoUserStackCount> kNoUserStacks = kNoUserStackTable;

const LossInfo& InfoOf(LossId id) { return kLossTable[static_cast<size_t>(id)]; }

const LossInfo& InfoOf(LostTime loss) {
  return *std::find_if(kLossTable.begin(), kLossTable.end(),
                       [loss](const LossInfo& info) { return info.ledger == loss; });
}

Loss LossOf(LossId id, uint64_t count, uint64_t ns) {
  return {.reason = std::string(InfoOf(id).name), .count = count, .ns = ns};
}

const NoUserStackInfo& InfoOf(NoUserStack reason) { return kNoUserStackTable[static_cast<size_t>(reason)]; }

bool IsLoss(NoUserStack reason) { return reason != NoUserStack::kNone && reason != NoUserStack::kKernelThread; }

std::string LossName(NoUserStack reason, bool of_waker) {
  return absl::StrCat(of_waker ? "no user stack of the waker: " : "no user stack: ", std::string(Name(reason)));
}

std::string LossName(FileRefusal refusal) { return absl::StrCat("perf map refused: ", std::string(Name(refusal))); }

std::vector<std::string> AllLossNames() {
  std::vector<std::string> names;
  names.reserve(kLossTable.size() + 2 * kNoUserStackTable.size() + kFileRefusals);
  for (const LossInfo& info : kLossTable) names.emplace_back(info.name);
  for (const bool of_waker : {false, true}) {
    for (const NoUserStackInfo& info : kNoUserStackTable) {
      if (IsLoss(info.reason)) names.push_back(LossName(info.reason, of_waker));
    }
  }
  for (size_t i = 1; i < kFileRefusals; ++i) names.push_back(LossName(static_cast<FileRefusal>(i)));
  return names;
}

}  // namespace offcpu
