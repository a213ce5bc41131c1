#include "recorder/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/process_context.h"
#include "bpf_programs/programs.h"
#include "os/scoped_priority.h"
#include "profile/losses.h"
#include "profile/merge.h"
#include "recorder/clocks.h"
#include "recorder/drainer.h"
#include "recorder/open_waits.h"
#include "recorder/recorded_host.h"
#include "recorder/recorded_threads.h"
#include "recorder/recording_clock.h"
#include "recorder/thread_checker.h"
#include "recorder/window_counts.h"
#include "recorder/worker.h"
#include "recorder/worker_tasks.h"

namespace offcpu {
namespace {

// For threads that end with the recording.
constexpr std::chrono::milliseconds kLastAccounts{500};
constexpr std::chrono::milliseconds kUntilAccount{1};

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : std::string();
}

// The caller's part: what is asked of the two threads, and what only the caller knows of windows.
class RecorderImpl final : public Recorder {
 public:
  RecorderImpl(const RecordConfig& config, const KernelFeatures& features, std::shared_ptr<Programs> programs,
               std::shared_ptr<ModuleCache> modules, const std::shared_ptr<ReaderPool>& readers)
      : config_(config),
        programs_(std::move(programs)),
        modules_(std::move(modules)),
        threads_(config_, programs_),
        clock_(programs_, features.rq_clock),
        counts_(modules_->stats(), OnCpuPeriodNs(config)),
        drainer_(programs_, features.can_defer(), config.queue_bytes, tasks_),
        worker_(config, features, programs_, RecordedHost(programs_, modules_, readers, config.service_names), clock_,
                drainer_, tasks_) {
    if (!config_.adapts_sample) programs_->SetThresholds(std::vector<uint64_t>(WIRE_USERS, config_.sample_ns));
    start_ = ReadClocks();
    clock_.Arm();
  }

  // If it fails, nothing goes on.
  absl::Status StartThreads() {
    absl::Status status = drainer_.Start();
    return status.ok() ? worker_.Start() : status;
  }

  ~RecorderImpl() override {
    programs_->Disarm();
    StopThreads();
  }

  RecorderProgress progress() const override {
    return {.intervals = worker_.intervals(),
            .stacks = worker_.rows(),
            .losses = CountLost(programs_->ReadCounters()),
            .drains = drainer_.drains(),
            .turns = worker_.turns(),
            .adapts_sample = config_.adapts_sample,
            .threshold_ns = config_.adapts_sample ? worker_.threshold_ns() : config_.sample_ns};
  }

  absl::StatusOr<Profile> Cut() override {
    caller_.Check();
    absl::StatusOr<Profile> profile = CutWindow();
    caller_.HandOver();
    return profile;
  }

  absl::StatusOr<Profile> Stop() override {
    caller_.Check();
    // The only window ends where its ledger does.
    const uint64_t open_at_ns = begin_ns_ != 0 ? clock_.ReadNs() : 0;
    programs_->Disarm();
    const Clocks end = EndOfWindow(ReadClocks(), std::max(open_at_ns, programs_->span().end_ns));
    // At once: the longer it takes, the more threads have gone on.
    const std::vector<WaitingThread> first = threads_.Open(open_at_ns);
    worker_.ReadWaiting(first);
    programs_->Settle();
    programs_->BeginLastListing();
    const std::vector<WaitingThread> last = threads_.Open(open_at_ns);
    LastAccounts accounts;
    if (config_.ledger) accounts = ListAccounts();
    worker_.AddOpenWaits(first, last);
    drainer_.FlushSums();
    StopThreads();
    Profile profile = worker_.Finish(CountLosses());
    Complete(end, profile);
    if (config_.ledger) CloseLedger(std::move(accounts), last, profile);
    return profile;
  }

 private:
  struct LastAccounts {
    std::vector<ThreadAccount> open;  // of threads that go on
    uint64_t lost = 0;
  };

  void StopThreads() {
    drainer_.Stop();
    worker_.Stop();
  }

  absl::StatusOr<Profile> CutWindow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(caller_) {
    const absl::StatusOr<WindowEnd> ended = worker_.BeginNextWindow();
    if (!ended.ok()) return ended.status();
    const Clocks end = EndOfWindow(ended->clocks, ended->scheduler_ns);
    // What was recorded before the threads were listed is in the queue after this, and handled before the next task.
    programs_->Settle();
    drainer_.FlushSums();
    const std::vector<Loss> losses = CountLosses();
    std::optional<Profile> profile;
    while (!(profile = worker_.TakeClosed(losses)).has_value()) {
      drainer_.AwaitDrain();  // of captures that were on their way
    }
    Complete(end, *profile);
    begin_ns_ = ended->scheduler_ns;
    return *std::move(profile);
  }

  // When the running window began, by the scheduler's clock.
  uint64_t WindowBegin() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(caller_) {
    return begin_ns_ != 0 ? begin_ns_ : programs_->span().start_ns;
  }

  // The clocks at the end of the running window, at `end_ns` of the scheduler's clock, when the others were `now`.
  Clocks EndOfWindow(const Clocks& now, uint64_t end_ns) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(caller_) {
    return AtLeastBehind(start_, Following(start_, now), end_ns - std::min(end_ns, WindowBegin()));
  }

  // Those of the window that ends.
  std::vector<Loss> CountLosses() ABSL_EXCLUSIVE_LOCKS_REQUIRED(caller_) {
    const Counters counters = programs_->ReadCounters();
    return counts_.Losses(counters, drainer_.QueueStats(), modules_->stats());
  }

  // What the pipeline does not know of a window that ended at `end`.
  void Complete(const Clocks& end, Profile& profile) ABSL_EXCLUSIVE_LOCKS_REQUIRED(caller_) {
    SetTimes(start_, end, profile);
    if (profile.times.bucket_ns != 0) profile.times.begin_ns -= static_cast<int64_t>(WindowBegin());
    profile.host = HostName();
    profile.stats.sample_ns = config_.sample_ns;
    profile.stats.sample_most_ns = std::max(profile.stats.sample_most_ns, config_.sample_ns);
    profile.stats.oncpu_period_ns = OnCpuPeriodNs(config_);
    const Programs::ToldCounts told = programs_->CountTold();
    profile.stats.told_rows = told.rows;
    profile.stats.told_stacks = told.stacks;
    counts_.Tell(profile.stats);
    start_ = end;
  }

  // Lists the accounts of threads that go on. On a busy host others have left the kernel's list of tasks and not yet
  // their last CPU: waits a while until these have sent theirs.
  LastAccounts ListAccounts() const {
    LastAccounts accounts = {.open = threads_.Accounts()};
    const auto end = std::chrono::steady_clock::now() + kLastAccounts;
    while ((accounts.lost = programs_->CountOpenAccounts()) != 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(kUntilAccount);
    return accounts;
  }

  // When the worker has ended.
  void CloseLedger(LastAccounts accounts, const std::vector<WaitingThread>& waiting, Profile& profile) {
    LedgerMaker& ledger = worker_.ledger();
    for (ThreadAccount& account : accounts.open) ledger.Add(std::move(account));
    if (accounts.lost != 0) AddLoss(LossOf(LossId::kAccountLost, accounts.lost), profile.stats.losses);
    ledger.AddWaits(waiting, OpenWaitsConfigOf(config_));
    ledger.AddDropped(drainer_.QueueStats());
    ledger.Finish(programs_->span(), profile);
  }

  const RecordConfig config_;
  const std::shared_ptr<Programs> programs_;
  const std::shared_ptr<ModuleCache> modules_;
  const RecordedThreads threads_;
  RecordingClock clock_;
  ThreadChecker caller_;                          // one at a time
  WindowCounts counts_ ABSL_GUARDED_BY(caller_);  // begins before the worker, which looks at processes at once
  WorkerTasks tasks_;
  Drainer drainer_;
  Worker worker_;
  Clocks start_ ABSL_GUARDED_BY(caller_);           // of the running window
  uint64_t begin_ns_ ABSL_GUARDED_BY(caller_) = 0;  // likewise, by the scheduler's clock; 0: it is the first
};

// The kernel checks the programs in this thread's time: a second or two of it.
absl::StatusOr<std::unique_ptr<Programs>> LoadWithPriority(const ProgramsConfig& config,
                                                           const KernelFeatures& features) {
  const ScopedPriority priority;
  return Programs::Load(config, features);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Start(const RecordConfig& config,
                                                          std::shared_ptr<ModuleCache> modules,
                                                          std::shared_ptr<ReaderPool> readers) {
  if (absl::Status status = CheckProcessContext(); !status.ok()) return status;
  if (absl::Status status = CheckTimeNamespace(); !status.ok()) return status;
  absl::StatusOr<KernelFeatures> features = ProbeKernel();
  if (!features.ok()) return features.status();
  absl::StatusOr<std::unique_ptr<Programs>> programs = LoadWithPriority(ProgramsConfigOf(config), *features);
  if (!programs.ok()) return programs.status();
  if (modules == nullptr) modules = std::make_shared<ModuleCache>();
  if (readers == nullptr) readers = std::make_shared<ReaderPool>();
  if (readers->stats().threads == 0) return absl::ResourceExhaustedError("cannot start a thread to read processes");
  auto recorder = std::make_unique<RecorderImpl>(config, *features, *std::move(programs), std::move(modules), readers);
  if (absl::Status status = recorder->StartThreads(); !status.ok()) return status;
  return recorder;
}

}  // namespace offcpu
