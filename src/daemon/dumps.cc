#include "daemon/dumps.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "daemon/unix_time.h"
#include "profile/merge.h"
#include "symbolize/glob_match.h"
#include "symbolize/idle_match.h"
#include "symbolize/symbolizer.h"

namespace offcpu {
namespace {

constexpr size_t kMaxHeldBytes = 16u << 20;  // one more may be begun below that

}  // namespace

absl::StatusOr<Dumps::Dump> Dumps::Make(const DumpSelection& selection, OutputFormat format,
                                        std::chrono::steady_clock::time_point deadline) {
  if (selection.until_unix_ns == 0 || selection.until_unix_ns >= NowUnixNs()) {
    if (absl::Status status = recording_.CutNow(deadline); !status.ok()) return status;
  }
  std::unique_lock lock(mutex_);
  const auto is_free = [this] { return !making_ && held_bytes_ < kMaxHeldBytes; };
  if (!changed_.wait_until(lock, deadline, is_free))
    return absl::ResourceExhaustedError("too many profiles are being taken; try again");
  making_ = true;
  lock.unlock();
  auto bytes = std::make_unique<const std::string>(Format(selection, format));
  malloc_trim(0);  // it was much, and it may be long until it is needed again
  lock.lock();
  making_ = false;
  held_bytes_ += bytes->size();
  changed_.notify_all();
  return Dump(bytes.release(), [this](const std::string* made) { Release(made); });
}

void Dumps::SetIdlePatterns(IdlePatterns patterns) {
  auto next = std::make_shared<const IdlePatterns>(std::move(patterns));
  const std::lock_guard lock(mutex_);
  idle_ = std::move(next);
}

std::shared_ptr<const IdlePatterns> Dumps::idle() {
  const std::lock_guard lock(mutex_);
  return idle_;
}

std::string Dumps::Format(const DumpSelection& selection, OutputFormat format) {
  const auto is_wanted = [&selection](const ProcessInfo& process, const std::string& comm) {
    const std::vector<int32_t>& pids = selection.pids;
    const bool is_process = pids.empty() || std::find(pids.begin(), pids.end(), process.key.pid) != pids.end();
    return is_process && (selection.comms.empty() || MatchesAny(selection.comms, comm));
  };
  const Profile profile =
      MergeProfiles(recording_.windows().Between(selection.since_unix_ns, selection.until_unix_ns), is_wanted);
  SymbolizedProfile symbols = Symbolize(profile, {}, &names_);
  MarkIdle(profile, *idle(), &symbols);
  FormatOptions options;
  options.folded.value = options.text_value = DefaultValue(profile);
  std::string bytes;
  WriteProfile(format, profile, symbols, options, [&bytes](std::string_view piece) { bytes.append(piece); });
  return bytes;
}

void Dumps::Release(const std::string* bytes) {
  {
    const std::lock_guard lock(mutex_);
    held_bytes_ -= bytes->size();
  }
  delete bytes;
  changed_.notify_all();
}

}  // namespace offcpu
