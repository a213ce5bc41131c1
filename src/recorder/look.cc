#include "recorder/look.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "process/container.h"
#include "process/executable.h"
#include "process/proc_file.h"

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

// Were the mappings the same all the time between the two? Without a hash or a sequence nothing speaks against it.
bool SameCode(const CodeVersion& before, const CodeVersion& after) {
  if (before.sequence != 0 && before.sequence == after.sequence) return true;
  return before.hash == after.hash;
}

}  // namespace

ProcessLook LookAtProcess(const ProcessKey& process, pid_t tid, const AddressSpace* previous,
                          const DescribeFunction& describe, ModuleCache& modules) {
  if (!describe(tid).has_value()) tid = process.pid;  // the thread has ended, the process perhaps not
  ProcessLook look;
  std::shared_ptr<const AddressSpace> last;
  for (int attempt = 0; attempt < kLookAttempts; ++attempt) {
    const std::optional<ProcessVersion> before = describe(tid);
    absl::StatusOr<std::shared_ptr<const AddressSpace>> space =
        before.has_value() && before->process == process
            ? LoadAddressSpace(tid, last != nullptr ? last.get() : previous, modules)
            : absl::NotFoundError("replaced");
    const std::optional<ProcessVersion> after = describe(tid);
    if (!after.has_value() || after->process != process) {
      look.outcome = LookOutcome::kGone;
      return look;
    }
    if (!space.ok()) continue;
    look.outcome = LookOutcome::kChanging;
    // A process that maps and unmaps data all the time has another sequence at every look. Its code is what was read if
    // two readings in a row agree and the hash was the same around both.
    const bool unchanged = before->code.sequence != 0 && before->code.sequence == after->code.sequence;
    const bool confirmed = last != nullptr && last->SameCode(**space);
    if (SameCode(before->code, after->code) && (unchanged || confirmed)) {
      look = {.outcome = LookOutcome::kSeen,
              .name = ReadName(process.pid),
              .container = ContainerId(ReadText(process.pid, "cgroup")),
              .executable = ExecutableOf(process.pid),
              .code = after->code,
              .mappings = after->mappings,
              .space = *std::move(space)};
      // Two readings that agree say nothing of the moment of `after` if the kernel has no hash to compare.
      if (!unchanged && after->code.hash == 0) look.code.sequence = 0;
      return look;
    }
    last = *std::move(space);
  }
  look.name = ReadName(process.pid);
  return look;
}

}  // namespace offcpu
