// What a wait is for, as the kernel shows it, by names: those of the kernel's functions that the thread waits in,
// innermost first, and, where none of them says it, that of the system call. The kind says how a thread waits, the
// cause what for. A futex may be a mutex, a join or something else, which only the user stack shows: idle_match.h names
// the wait by that. Pure functions; nothing is looked up.
//
// The kernel's functions change their names. What is not known is kOther, which is no failure.
#ifndef OFFCPU_CLASSIFY_WAIT_CAUSE_H_
#define OFFCPU_CLASSIFY_WAIT_CAUSE_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "profile/named_profile.h"

namespace offcpu {

enum class WaitCause : uint8_t {
  kFutex,         // another thread, by way of a word in memory
  kMutex,         // likewise, and the kernel knows that a thread owns it: a mutex with priority inheritance
  kFileLock,      // a lock on a file, or on a part of one
  kSemaphore,     // a semaphore of System V
  kKernelLock,    // a lock of the kernel's own, as that of a process's memory or of a file's inode
  kSleep,         // for a time
  kBlockIo,       // a block device, or a page that is being read from one or written to it
  kFile,          // a file system, without a block device in sight: its journal, its server
  kNetwork,       // a socket of any family
  kPoll,          // for one of several things: poll, select, epoll, completions of io_uring
  kPipe,          // a pipe, or an eventfd
  kMessageQueue,  // a message queue, of System V or of POSIX
  kSignal,        // a signal: sigwait, pause, a signalfd
  kFileEvent,     // a file that changes: inotify, fanotify
  kTerminal,      // a terminal
  kChild,         // the end of a child
  kVfork,         // a child that borrows this one's memory, to run another program or to end (vfork, posix_spawn)
  kPageFault,     // memory that was touched, and not by a system call
  kPreempted,     // nothing: it wants to run
  kThrottled,     // likewise, and its control group has used up its CPU time (cpu.max)
  kFrozen,        // its control group, or all of the host, to be thawed
  kStopped,       // to be continued: a debugger, or a signal such as SIGSTOP, has stopped it
  kOther,
};
inline constexpr int kWaitCauseCount = 23;
// "futex", "mutex", "file lock", "semaphore", "kernel lock", "sleep", "block I/O", "file", "network", "poll", "pipe",
// "message queue", "signal", "file event", "terminal", "child", "vfork", "page fault", "preempted", "throttled",
// "frozen", "stopped", "other"
std::string_view Name(WaitCause cause);
// The name of the family, which is what the label `cause` of files has: "lock" for the first five, or the cause's own.
std::string_view Family(WaitCause cause);

// `kernel`: leaf first, empty if it is not known. In a kernel entry without a system call the stack and the kind speak
// alone.
WaitCause CauseOf(WaitKind kind, int32_t syscall, std::span<const NamedFrame> kernel);

// The causes of a profile's rows; rows that share what decides share the work. It must outlive this.
class WaitCauses {
 public:
  explicit WaitCauses(const NamedProfile& profile) : profile_(profile) {}

  WaitCause Of(const RowKey& row);
  // What the wait is, as exactly as it has been judged (NamedRow::wait).
  std::string_view NameOf(const NamedRow& row) { return row.wait.empty() ? Name(Of(row)) : row.wait; }

 private:
  const NamedProfile& profile_;
  absl::flat_hash_map<std::tuple<WaitKind, int32_t, uint32_t>, WaitCause> known_;
};

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_WAIT_CAUSE_H_
