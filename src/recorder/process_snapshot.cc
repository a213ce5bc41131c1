#include "recorder/process_snapshot.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "os/now.h"
#include "os/proc_file.h"
#include "process/container.h"
#include "process/executable.h"
#include "process/owner.h"
#include "runtimes/known_runtimes.h"

namespace offcpu {
namespace {

constexpr int kLookAttempts = 3;
constexpr size_t kMaxTextBytes = 64 << 10;

std::string ReadText(pid_t pid, const char* file) {
  absl::StatusOr<std::string> text = ReadProcFile(absl::StrCat("/proc/", pid, "/", file), kMaxTextBytes);
  return text.ok() ? *std::move(text) : std::string();
}

std::string ReadName(pid_t pid) {
  std::string name = ReadText(pid, "comm");
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

// The code of a process that has mapped nothing but files that are known; else null. Does not read the process.
std::shared_ptr<const AddressSpace> Composed(pid_t tid, const ProcessVersion& version, ModuleCache& modules,
                                             const SharedFiles& shared) {
  ComposedCode known = shared.Compose(version.mappings, nullptr);
  // Tables for which there was no room may find some now.
  const auto says_all = [](const MappedCode& code) { return !code.module->over_budget; };
  if (!known.whole || known.code.empty()) return nullptr;
  if (!std::all_of(known.code.begin(), known.code.end(), says_all)) return nullptr;
  MemoryLease lease = modules.LeaseFor(OwnerOf(tid));
  if (!lease.Grow(known.code.size() * sizeof(MappedCode))) return nullptr;
  return std::make_shared<const AddressSpace>(std::move(known.code), std::move(lease));
}

// Were the mappings the same all the time between the two? Without a hash or a sequence nothing speaks against it.
bool SameCode(const CodeVersion& before, const CodeVersion& after) {
  if (before.sequence != 0 && before.sequence == after.sequence) return true;
  return before.hash == after.hash;
}

ProcessSnapshot Snapshot(const ProcessKey& process, pid_t tid, const AddressSpace* previous,
                         const DescribeFunction& describe, ModuleCache& modules, const SharedFiles* shared) {
  std::optional<ProcessVersion> before = describe(tid);
  if (!before.has_value() && tid != process.pid) {  // the thread has ended, the process perhaps not
    tid = process.pid;
    before = describe(tid);
  }
  ProcessSnapshot snapshot;
  std::shared_ptr<const AddressSpace> last;
  for (int attempt = 0; attempt < kLookAttempts; ++attempt, before = describe(tid)) {
    const bool is_there = before.has_value() && before->process == process;
    const std::shared_ptr<const AddressSpace> composed =
        is_there && shared != nullptr && before->code.hash != 0 ? Composed(tid, *before, modules, *shared) : nullptr;
    absl::StatusOr<std::shared_ptr<const AddressSpace>> space =
        composed != nullptr ? composed
        : is_there          ? LoadAddressSpace(tid, last != nullptr ? last.get() : previous, modules, RuntimesReader())
                            : absl::NotFoundError("replaced");
    const std::optional<ProcessVersion> after = describe(tid);
    if (!after.has_value() || after->process != process) {
      snapshot.outcome = SnapshotOutcome::kGone;
      return snapshot;
    }
    if (absl::IsAborted(space.status())) snapshot.outcome = SnapshotOutcome::kChanging;
    if (!space.ok()) continue;
    snapshot.outcome = SnapshotOutcome::kChanging;
    // A process that maps and unmaps data all the time has another sequence at every snapshot. Its code is what was
    // read if two readings in a row agree and the hash was the same around both. What was composed is what the hash
    // stands for.
    const bool unchanged = before->code.sequence != 0 && before->code.sequence == after->code.sequence;
    const bool confirmed = composed != nullptr || (last != nullptr && last->SameCode(**space));
    if (SameCode(before->code, after->code) && (unchanged || confirmed)) {
      snapshot = {.outcome = SnapshotOutcome::kSeen,
                  .name = ReadName(process.pid),
                  .container = ContainerId(ReadText(process.pid, "cgroup")),
                  .executable = ExecutableOf(process.pid),
                  .code = after->code,
                  .mappings = after->mappings,
                  .space = *std::move(space)};
      // Two readings that agree say nothing of the moment of `after` if the kernel has no hash to compare.
      if (!unchanged && after->code.hash == 0) snapshot.code.sequence = 0;
      return snapshot;
    }
    last = *std::move(space);
  }
  snapshot.name = ReadName(process.pid);
  return snapshot;
}

}  // namespace

ProcessSnapshot TakeProcessSnapshot(const ProcessKey& process, pid_t tid, const AddressSpace* previous,
                                    const DescribeFunction& describe, ModuleCache& modules, const SharedFiles* shared) {
  const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  ProcessSnapshot snapshot = Snapshot(process, tid, previous, describe, modules, shared);
  snapshot.cpu_ns = NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns;
  return snapshot;
}

}  // namespace offcpu
