#include "recorder/lock_owner.h"

#include <linux/futex.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "process/machine.h"
#include "process/namespace_number.h"
#include "process/resident_memory.h"

namespace offcpu {
namespace {

constexpr int32_t kFutexCall = 202;        // as profiles number system calls
constexpr uint32_t kContended = 2;         // glibc's word: it is locked, and threads wait
constexpr uint32_t kMostUsers = 1u << 20;  // of one mutex

// The beginning of pthread_mutex_t. `lock` is the futex word.
struct GlibcMutex {
  uint32_t lock = 0;
  uint32_t count = 0;
  int32_t owner = 0;
  uint32_t users = 0;
  uint32_t kind = 0;
};

// Likewise. `lock` is the futex word.
struct MuslMutex {
  uint32_t type = 0;
  uint32_t lock = 0;
  uint32_t waiters = 0;
};

// Bits of GlibcMutex::kind beside the type: robust, shared, with and without elision.
constexpr uint32_t kGlibcRobust = 0x10;
constexpr uint32_t kGlibcFlags = kGlibcRobust | 0x80 | 0x100 | 0x200;
constexpr uint32_t kGlibcRecursive = 1;
constexpr uint32_t kGlibcMostType = 3;

// Of MuslMutex::type: recursive or checked for errors, which note the owner; robust, shared.
constexpr uint32_t kMuslNotesOwner = 3;
constexpr uint32_t kMuslFlags = 4 | 0x80;

bool IsGlibcMutex(const GlibcMutex& mutex, bool is_robust) {
  const uint32_t type = mutex.kind & ~kGlibcFlags;
  if (type > kGlibcMostType || ((mutex.kind & kGlibcRobust) != 0) != is_robust) return false;
  // How often it is locked, which only recursive and robust ones count.
  const bool has_count = type == kGlibcRecursive || is_robust ? mutex.count != 0 : mutex.count == 0;
  return has_count && mutex.users != 0 && mutex.users <= kMostUsers;
}

// The word says that threads wait, but not for whom.
int32_t OwnerOfPlain(const FutexWait& wait, const Memory& memory) {
  const std::optional<GlibcMutex> mutex = memory.ReadValue<GlibcMutex>(wait.address);
  const bool is_mutex = mutex.has_value() && mutex->lock == kContended && IsGlibcMutex(*mutex, false);
  return is_mutex ? mutex->owner : 0;
}

// The word holds the owner, as in robust mutexes of glibc and those of musl.
int32_t OwnerInWord(const FutexWait& wait, const Memory& memory) {
  const auto owner = static_cast<int32_t>(wait.value & FUTEX_TID_MASK);
  const std::optional<GlibcMutex> glibc = memory.ReadValue<GlibcMutex>(wait.address);
  if (!glibc.has_value() || glibc->lock != wait.value) return 0;
  if (glibc->owner == owner && IsGlibcMutex(*glibc, true)) return owner;
  const std::optional<MuslMutex> musl = memory.ReadValue<MuslMutex>(wait.address - offsetof(MuslMutex, lock));
  const bool is_mutex = musl.has_value() && musl->lock == wait.value &&
                        (musl->type & ~(kMuslNotesOwner | kMuslFlags)) == 0 && (musl->type & kMuslNotesOwner) != 0 &&
                        musl->waiters != 0 && musl->waiters <= kMostUsers;
  return is_mutex ? owner : 0;
}

// The kernel itself requires the owner in the word.
int32_t OwnerOfPi(const FutexWait& wait, const Memory& memory) {
  const std::optional<uint32_t> word = memory.ReadValue<uint32_t>(wait.address);
  if (!word.has_value() || (*word & FUTEX_WAITERS) == 0 || (*word & FUTEX_OWNER_DIED) != 0) return 0;
  return static_cast<int32_t>(*word & FUTEX_TID_MASK);
}

// The threads of a process, by the numbers that it has for them itself.
class ThreadNumbers {
 public:
  explicit ThreadNumbers(pid_t pid) : tasks_(absl::StrCat("/proc/", pid, "/task")) {
    is_numbered_as_here_ = NamespaceNumber(pid) == pid;
    if (is_numbered_as_here_) return;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(tasks_, error), end; !error && entry != end;
         entry.increment(error)) {
      int32_t tid = 0;
      if (!absl::SimpleAtoi(entry->path().filename().string(), &tid)) continue;
      if (on_host_.size() == kMostNumbered) {
        on_host_.clear();
        return;
      }
      on_host_[NamespaceNumber(tid)] = tid;
    }
  }

  // 0: it has no such thread, or too many.
  int32_t OnHost(int32_t tid) const {
    if (is_numbered_as_here_) return access(absl::StrCat(tasks_, "/", tid).c_str(), F_OK) == 0 ? tid : 0;
    const auto it = on_host_.find(tid);
    return it == on_host_.end() ? 0 : it->second;
  }

 private:
  static constexpr size_t kMostNumbered = 1024;  // each one is a file to read

  const std::string tasks_;
  bool is_numbered_as_here_ = false;
  absl::flat_hash_map<int32_t, int32_t> on_host_;
};

}  // namespace

std::optional<FutexWait> FutexWaitOf(const WaitingThread& thread) {
  const bool is_in_futex = thread.has_user && thread.in_syscall && !thread.is_32_bit && thread.syscall == kFutexCall;
  if (!is_in_futex || thread.on_cpu) return std::nullopt;
  const auto& registers = thread.registers.value;
  const auto [address, operation, value] = kHostMachine.arguments;
  const FutexWait wait = {.address = registers[address],
                          .operation = static_cast<uint32_t>(registers[operation]),
                          .value = static_cast<uint32_t>(registers[value])};
  if (wait.address == 0 || wait.address % sizeof(uint32_t) != 0) return std::nullopt;
  return wait;
}

int32_t LockOwnerIn(const FutexWait& wait, const Memory& memory) {
  switch (wait.operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      if (wait.value == kContended) return OwnerOfPlain(wait, memory);
      return (wait.value & FUTEX_WAITERS) != 0 ? OwnerInWord(wait, memory) : 0;
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
      return OwnerOfPi(wait, memory);
    default:
      return 0;
  }
}

std::vector<int32_t> LockOwnersOf(const std::vector<WaitingThread>& threads) {
  std::vector<int32_t> owners(threads.size());
  std::optional<ResidentMemory> memory;
  std::optional<ThreadNumbers> numbers;
  for (size_t i = 0; i < threads.size(); ++i) {
    const std::optional<FutexWait> wait = FutexWaitOf(threads[i]);
    if (!wait.has_value()) continue;
    const pid_t pid = threads[i].process.pid;
    if (!memory.has_value()) memory.emplace(pid);
    const int32_t owner = LockOwnerIn(*wait, *memory);
    if (owner <= 0) continue;
    if (!numbers.has_value()) numbers.emplace(pid);
    owners[i] = numbers->OnHost(owner);
  }
  return owners;
}

}  // namespace offcpu
