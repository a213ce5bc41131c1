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
constexpr std::string_view kShorterWindows = "Record less, or use shorter windows.";
constexpr std::string_view kSilentFiles = "Check whether a file system hangs.";
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
     .meaning = "Names, users or control groups have selected threads outside of the container that offcpu runs in. "
                "Those have no pid in the container, and are not recorded. The count is how often they left a CPU.",
     .advice = "Run offcpu on the host, or in a container that shares the host's pid namespace (--pid=host).",
     .takes_time = true},
    {.id = LossId::kArrivalUntold,
     .name = "end of a wait not reported",
     .meaning = "The kernel did not report that a thread was back on a CPU, so that wait is not recorded. The kernels "
                "of some sandboxes do not report switches away from tasks that they hide.",
     .takes_time = true},
    {.id = LossId::kJoinedAway,
     .name = "selected while off the CPU",
     .meaning = "A thread began to match a filter while it was off the CPU, because its name, user or control group "
                "changed. That wait is not recorded.",
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
    {.id = LossId::kQueueTimeUnknown,
     .name = "time waiting for a CPU not known",
     .meaning = "Linux 6.12 and later keep some threads in the queue of their CPU for a while after they have gone to "
                "sleep. If the kernel moves one to another CPU's queue meanwhile, it counts the rest of the sleep as "
                "waiting for a CPU. How long the thread really waited for a CPU is not known then, and all of the wait "
                "counts as blocked."},
    {.id = LossId::kKernelStackFailed,
     .name = "kernel stack could not be taken",
     .meaning = "The kernel did not walk its own stack. The wait has only its time and its user stack."},
    {.id = LossId::kNoScratch,
     .name = "no scratch memory for a kernel stack",
     .meaning = "The CPU's buffers were in use. The wait has only its time and its user stack."},
    {.id = LossId::kKernelNotWalked,
     .name = "kernel stack without functions that schedule",
     .meaning = "The kernel's unwind tables have no row for a function on the stack, such as one that was compiled at "
                "run time. The kernel walked the stack itself, which leaves out functions that lock or schedule."},
    {.id = LossId::kKernelWalkDiffers,
     .name = "kernel stack walked wrongly",
     .meaning = "offcpu walked a kernel stack by the kernel's unwind tables, and the result differed from the kernel's "
                "own walk. This wait and all later ones have the stacks of the kernel's walks, which may lack "
                "functions that lock or schedule.",
     .advice = "Please report this, with the version of the kernel."},
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
     .name = "capture failed, reason lost",
     .meaning = "A stack could not be copied, and the ring had no room to say why. Its waits have no user stack.",
     .advice = kRecordLess},
    {.id = LossId::kStackUnknown,
     .name = "mapping of a stack not found: one page copied",
     .meaning = "The mapping around a stack pointer was not found, so only the page of the stack pointer was copied. "
                "Deep stacks are truncated."},
    {.id = LossId::kCodeUnknown,
     .name = "capture of unknown code",
     .meaning = "Finding out which code a process had mapped would have taken too much of its time. Its stack is "
                "walked only if its mappings have not changed since offcpu last read them."},
    {.id = LossId::kMappingsBudget,
     .name = "mappings not checked: budget",
     .meaning = "The budget for checking mappings was used up in that second. A stack is walked only if its mappings "
                "have not changed since offcpu last read them."},
    {.id = LossId::kSwitchedOff,
     .name = "captures of a process switched off for a while",
     .meaning = "Within a second, copying stacks took more time from the threads of a process than 25 % of the host's "
                "CPUs have. For ten seconds, its waits have no user stack.",
     .advice = kNoShortWaits},
    {.id = LossId::kLifecycleLost,
     .name = "exec or exit not reported",
     .meaning =
         "The ring had no room to report that a process has ended or runs another program. offcpu notices that later."},
    {.id = LossId::kGoneAtEnd,
     .name = "ended before its open wait was listed",
     .meaning = "A thread waited when the recording ended, and was gone before offcpu listed it. In a ledger, this "
                "also counts a thread that slept throughout and has run more than once since.",
     .takes_time = true,
     .ledger = LostTime::kGoneAtEnd},
    {.id = LossId::kAccountLost,
     .name = "account of a thread lost",
     .meaning = "The ledger lacks the account of a thread, or its beginning. The ring had no room for it, the kernel "
                "could not create it at that moment, or the thread ended with the recording and waited more than half "
                "a second for its last moment on a CPU.",
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
     .meaning = "The kernel had no memory for a waker of a chain. The chain is shorter than it should be.",
     .advice = kFreeMemory},
    {.id = LossId::kNotFollowed,
     .name = "child not followed: too many",
     .meaning = "The recorded processes have more children than offcpu can follow. The rest are not recorded.",
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
     .meaning = "The kernel had no memory to note the thread that was sampled.",
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
     .meaning = "offcpu could not decode a record of the ring. This is a bug in offcpu: please report it."},
    {.id = LossId::kUserWalkDiffers,
     .name = "user stack walked wrongly",
     .meaning = "A user stack that a BPF program walked differed from its capture. From then on, offcpu captures all "
                "stacks of that code.",
     .advice = "Please report this, with the program."},
    {.id = LossId::kNameConflict,
     .name = "two contents under one name",
     .meaning = "Two stacks or two lists of code had the same name, which is a 64-bit hash under a secret key. offcpu "
                "shows neither. Waits with such a kernel stack show [unknown kernel stack] instead. Such user stacks "
                "are captured, or missing.",
     .advice = "Please report this: it should not happen in millions of years."},
    {.id = LossId::kIntervalLate,
     .name = "interval came after its window",
     .meaning = "offcpu read a wait after it had closed the window that the wait belongs to.",
     .takes_time = true},
    {.id = LossId::kSampleLate,
     .name = "on-CPU sample came after its window",
     .meaning = "offcpu read a sample after it had closed the window that the sample belongs to.",
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
     .meaning = "More processes waited than offcpu can keep at a time. The waits of the others have no user stack.",
     .advice = kRecordFewer},
    {.id = LossId::kTooManyWaitingStacks,
     .name = "too many stacks waiting for a process snapshot",
     .meaning =
         "Stacks came faster than offcpu could read the mappings of their processes. Their waits have no user stack."},
    {.id = LossId::kKernelStackUndefined,
     .name = "kernel stack without definition",
     .meaning = "The frames of a kernel stack did not arrive. Its waits show [unknown kernel stack]."},
    {.id = LossId::kRowTableFull,
     .name = "row table full",
     .meaning = "The profile has reached its limit of rows. The time of all further rows is in one row, [other].",
     .advice = kShorterWindows},
    {.id = LossId::kUserStackTableFull,
     .name = "user stack table full",
     .meaning = "The profile has reached its limit of user stacks. All further ones are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kKernelStackTableFull,
     .name = "kernel stack table full",
     .meaning = "The profile has reached its limit of kernel stacks. All further ones are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kProcessTableFull,
     .name = "process table full",
     .meaning = "The profile has reached its limit of processes. All further ones are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kCommTableFull,
     .name = "thread name table full",
     .meaning = "The profile has reached its limit of thread names. All further ones are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kWakerTableFull,
     .name = "waker table full",
     .meaning = "The profile has reached its limit of waker chains. All further ones are shown as [other].",
     .advice = kShorterWindows},
    {.id = LossId::kControlGroupTableFull,
     .name = "control group table full",
     .meaning = "The paths of control groups have reached their limit of memory. Threads of all further groups lack "
                "the labels cgroup, pod and unit."},
    {.id = LossId::kLedgerFull,
     .name = "ledger full: threads",
     .meaning = "The ledger has reached its limit of threads. It lacks all further ones.",
     .advice = kRecordFewer},
    {.id = LossId::kTargetStuck,
     .name = "target stuck",
     .meaning = "Reading a process or its files took too long, and offcpu gave up.",
     .advice = kSilentFiles},
    {.id = LossId::kTargetNotRead,
     .name = "target not read: too many of its user are stuck",
     .meaning = "Four reads of processes of one user hang. offcpu begins no more reads for that user.",
     .advice = kSilentFiles},
    {.id = LossId::kReaderNotStarted,
     .name = "reader thread not started",
     .meaning = "The kernel refused to start a thread for offcpu: a limit on tasks has been reached.",
     .advice = "Raise TasksMax of the service."},
    {.id = LossId::kModuleUnreadable,
     .name = "module unreadable",
     .meaning = "offcpu could not open or read a file that a process has mapped. Its code has no unwind tables.",
     .advice = "See `offcpu doctor`: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH may be missing."},
    {.id = LossId::kMemoryShare,
     .name = "over its user's share of memory",
     .meaning = "The files that one user's processes map have more tables than offcpu holds for one user.",
     .advice = kMoreMemory},
    {.id = LossId::kMappingLeftOut,
     .name = "executable mapping left out: too many in one process",
     .meaning = "A process has more executable mappings than offcpu keeps. Walks end in the others."},
    {.id = LossId::kModuleTables,
     .name = "module without tables: too many",
     .meaning = "The host has more modules mapped than offcpu holds tables for.",
     .advice = kRecordFewer},
    {.id = LossId::kModuleFile,
     .name = "module without its file: too many",
     .meaning = "offcpu has reached its limit of open files. Frames of all further modules have no names.",
     .advice = "Raise LimitNOFILE of the service."},
    {.id = LossId::kTableTooLarge,
     .name = "unwind table too large",
     .meaning = "A file has an unwind table of more than 128 MiB. offcpu uses only its beginning, or none of it, and "
                "walks end in code that the rest describes.",
     .advice = "Remove unused code (-ffunction-sections, -Wl,--gc-sections), or split the file."},
    {.id = LossId::kCorruptTable,
     .name = "corrupt unwind table",
     .meaning = "An SFrame table is damaged. offcpu uses the module's .eh_frame instead.",
     .advice = "See `offcpu sframe`."},
    {.id = LossId::kBadTableEntry,
     .name = "bad unwind table entry",
     .meaning = "An entry of an unwind table is damaged. Walks end there.",
     .advice = "See `offcpu sframe`."},
    {.id = LossId::kOldSFrame,
     .name = "SFrame table of an old version",
     .meaning = "offcpu does not read SFrame tables of versions 1 and 2. It uses the module's .eh_frame instead.",
     .advice = "Link the module with an assembler and a linker that write version 3."},
    {.id = LossId::kRuntimeUnknown,
     .name = "language runtime of an unknown version",
     .meaning = "A process has a Java virtual machine of a version or build that offcpu does not know. Its frames have "
                "no method names, and walks through them are guesses.",
     .advice = "Run it with a HotSpot virtual machine of JDK 11 or later, or report its version to us."},
    {.id = LossId::kControlGroupNotTold,
     .name = "path of a control group not known",
     .meaning = "The kernel did not give the path of a control group. The wait lacks the labels cgroup, pod and unit.",
     .advice = "Give offcpu CAP_DAC_READ_SEARCH, and let it call open_by_handle_at(2)."},
    {.id = LossId::kNamesNotRead,
     .name = "names of a module not read in time",
     .meaning = "Reading the symbols of a file took too long. Its frames have no names.",
     .advice = kSilentFiles},
    {.id = LossId::kSymbolsUnreadable,
     .name = "symbols of a file not readable",
     .meaning = "offcpu could not open or read a file that a process has mapped, its symbol table has more than 1 GiB, "
                "or its debug file in the root directory of the process is not trusted. Its frames have no names, or "
                "only those of functions that the file exports.",
     .advice = "See `offcpu doctor`: CAP_SYS_PTRACE or CAP_DAC_READ_SEARCH may be missing. offcpu(1) says which debug "
               "files are trusted."},
    {.id = LossId::kNameMemoryShare,
     .name = "name over its user's share of memory",
     .meaning = "The function names in one user's files take more memory than offcpu holds for one user.",
     .advice = kRecordFewer},
    {.id = LossId::kLinesCut,
     .name = "source lines of a file not all read",
     .meaning = "The debug information of a file is damaged, or reading it takes more time or memory than offcpu "
                "allows. Some frames have no source lines and no inlined functions.",
     .advice =
         "Reading takes less memory if the debug information is not compressed (objcopy --decompress-debug-sections)."},
    {.id = LossId::kSplitUnitsNotRead,
     .name = "split debug information not read",
     .meaning =
         "A file was compiled with -gsplit-dwarf, and its .dwo files are not where it says or may not be read, or "
         "they are in a .dwp file, which libdw reads only since version 0.191 (Debian 13). Frames have source "
         "lines, but no inlined functions.",
     .advice = "Keep the .dwo files where they were made, readable by everybody, or compile without -gsplit-dwarf."},
    {.id = LossId::kDebugFileNotFetched,
     .name = "debug file not fetched",
     .meaning = "No server of DEBUGINFOD_URLS answered in time, or fetching the file failed (--debuginfod). Frames of "
                "the module have no source lines, and may have no names.",
     .advice = "Try again, with `offcpu report --debuginfod` for example. Files that were fetched are kept."},
}};

constexpr std::string_view kLeaveOutShort =
    "offcpu could not keep up: leave out short waits (--min-wait), or record fewer processes (-p, --cgroup)";

constexpr std::array<NoUserStackInfo, kNoUserStackCount> kNoUserStackTable = {{
    {.reason = NoUserStack::kNone, .meaning = "The user stack is there."},
    {.reason = NoUserStack::kBudget,
     .meaning = "There were more new stacks than the budget allows offcpu to copy.",
     .advice = "too many new stacks to copy: record for longer, or fewer processes (-p, --cgroup)"},
    {.reason = NoUserStack::kRingFull,
     .meaning = "Stacks came faster than offcpu read them.",
     .advice = kLeaveOutShort},
    {.reason = NoUserStack::kNoBuffer,
     .meaning = "All buffers for copies of stacks were in use.",
     .advice = kLeaveOutShort},
    {.reason = NoUserStack::kUnreadable,
     .meaning = "The top of the stack was not in memory when offcpu copied it, and could not be brought in."},
    {.reason = NoUserStack::kExiting, .meaning = "The thread was ending."},
    {.reason = NoUserStack::kExec, .meaning = "The process began to run another program before the stack was copied."},
    {.reason = NoUserStack::kPending, .meaning = "The thread was still inside the kernel when the recording ended."},
    {.reason = NoUserStack::kLost,
     .meaning = "The copy of the stack did not arrive in time.",
     .advice = kLeaveOutShort},
    {.reason = NoUserStack::kGone, .meaning = "The process ended before offcpu could read what it had mapped."},
    {.reason = NoUserStack::kTargetStuck,
     .meaning = "Reading the process or its files hangs.",
     .advice = "reading the process hangs: check whether it is on a file system that hangs"},
    {.reason = NoUserStack::kUnreadableProcess,
     .meaning = "The mappings or the memory of the process could not be read.",
     .advice = "see `offcpu doctor`: CAP_SYS_PTRACE may be missing"},
    {.reason = NoUserStack::kChangingProcess,
     .meaning = "The process changed its mappings of code so often that no two readings of them agreed."},
    {.reason = NoUserStack::kNotSeenLeaving,
     .meaning = "The thread left the CPU before the recording began, or had not been on a CPU yet. On kernels before "
                "6.18, stacks are taken when threads leave a CPU."},
    {.reason = NoUserStack::kSwitchedOff,
     .meaning = "Within a second, copying stacks took more time from the threads of the process than 25 % of the "
                "host's CPUs have.",
     .advice = "copying the stacks of the process took too much of its time: leave out short waits (--min-wait)"},
    {.reason = NoUserStack::kOverload, .meaning = "offcpu did not keep up.", .advice = kLeaveOutShort},
    {.reason = NoUserStack::k32BitCode,
     .meaning = "The thread runs 32-bit code of ARM (AArch32), whose stacks are not walked."},
    {.reason = NoUserStack::kUnsupported,
     .meaning = "This kernel offers no way to copy a user stack.",
     .advice = "see `offcpu doctor`: offcpu cannot copy user stacks on this kernel"},
    {.reason = NoUserStack::kStale, .meaning = "The thread ran while its stack was read from outside."},
    {.reason = NoUserStack::kKernelThread,
     .meaning = "A thread of the kernel, such as a worker of io_uring, has no user stack. Nothing is lost."},
    {.reason = NoUserStack::kOnCpu,
     .meaning = "The thread is running. Only the stack of a waiting thread can be read from outside."},
    {.reason = NoUserStack::kNotAsked,
     .meaning = "The waker woke a thread that is not recorded, or whose wait was too short."},
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
