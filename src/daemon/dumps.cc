#include "daemon/dumps.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "classify/glob_match.h"
#include "profile/merge.h"
#include "symbolize/symbolizer.h"

namespace offcpu {
namespace {

constexpr size_t kMaxHeldBytes = 16u << 20;  // one more may be begun below that

// How many stacks a page has: it is to be small, because answers that are not taken are held.
constexpr size_t kPageStacks = 20'000;

absl::Status ServiceEnds() { return absl::CancelledError("the service is stopping"); }

}  // namespace

absl::StatusOr<Dumps::Dump> Dumps::Make(const DumpSelection& selection, OutputFormat format,
                                        std::chrono::steady_clock::time_point deadline,
                                        const IsCancelled& is_cancelled) {
  const IsCancelled is_over = [this, &is_cancelled] { return stopping_ || is_cancelled(); };
  if (selection.until_boot_ns == 0 || selection.until_boot_ns >= unix_time_.BootNow()) {
    if (absl::Status status = recording_.CutNow(deadline); !status.ok()) return status;
  }
  std::unique_ptr<const std::string> bytes;
  {
    const absl::StatusOr<Turns::Turn> turn =
        turns_.Await("profiles", deadline, is_over, [this] { return held_bytes_ < kMaxHeldBytes; });
    if (!turn.ok()) return stopping_ ? ServiceEnds() : turn.status();
    bytes = std::make_unique<const std::string>(Format(selection, format, is_over));
    malloc_trim(0);  // it was much, and it may be long until it is needed again
    held_bytes_ += bytes->size();
  }
  Dump dump(bytes.release(), [this](const std::string* made) {
    held_bytes_ -= made->size();
    delete made;
  });
  if (stopping_) return ServiceEnds();
  if (is_over()) return absl::CancelledError("the client is gone");  // names may be missing
  return dump;
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

std::string Dumps::Format(const DumpSelection& selection, OutputFormat format, const IsCancelled& is_cancelled) {
  const auto is_wanted = [&selection](const ProcessInfo& process, const std::string& comm) {
    const std::vector<int32_t>& pids = selection.pids;
    const bool is_process = pids.empty() || std::find(pids.begin(), pids.end(), process.key.pid) != pids.end();
    return is_process && (selection.comms.empty() || MatchesAny(selection.comms, comm));
  };
  Profile merged =
      MergeProfiles(recording_.windows().Between(selection.since_boot_ns, selection.until_boot_ns), is_wanted);
  if (merged.start_boot_ns != 0) merged.start_unix_ns = unix_time_.UnixOf(merged.start_boot_ns);
  const std::shared_ptr<const IdlePatterns> patterns = idle();
  SymbolizerOptions naming;
  naming.timed_read = TimedReadOn(readers_, kNamesDeadline, is_cancelled);
  naming.idle = patterns.get();
  NamedProfile profile = Symbolize(std::move(merged), naming, &names_);
  FormatOptions options;
  options.folded.value = options.text_value = DefaultValue(profile);
  options.html_live = selection.for_browser;
  options.html_stacks = kPageStacks;
  std::string bytes;
  WriteProfile(format, profile, options, [&bytes](std::string_view piece) { bytes.append(piece); });
  return bytes;
}

}  // namespace offcpu
