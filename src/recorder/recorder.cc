#include "recorder/recorder.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "capture/decode.h"
#include "capture/event_queue.h"
#include "capture/kernel.h"
#include "capture/process_context.h"
#include "capture/programs.h"
#include "process/hurried_thread.h"
#include "process/module_cache.h"
#include "process/start_thread.h"
#include "profile/losses.h"
#include "profile/merge.h"
#include "recorder/clocks.h"
#include "recorder/cost_keeper.h"
#include "recorder/drops.h"
#include "recorder/ledger_maker.h"
#include "recorder/listing.h"
#include "recorder/pipeline.h"
#include "recorder/recorded_host.h"
#include "recorder/recorded_threads.h"
#include "recorder/scheduler_clock.h"
#include "recorder/turn_times.h"
#include "recorder/window.h"
#include "recorder/worker_tasks.h"

namespace offcpu {
namespace {

// How often waits are looked for that last long, and how long that is where a stack can be read in no other way.
constexpr uint64_t kLivePeriodNs = 1'000'000'000;
constexpr uint64_t kOnlyLivePeriodNs = 50'000'000;
constexpr uint64_t kOnlyLiveAfterNs = 10'000'000;

constexpr uint64_t kClockPeriodNs = 1'000'000'000;
constexpr uint64_t kReadTogetherNs = 20'000;  // two clocks: else the one is of an earlier moment
constexpr int kReadTogetherTries = 8;
constexpr size_t kLedgerThreads = 1 << 17;

// How long the worker decodes without a look at what else there is to do.
constexpr std::chrono::seconds kDecodeAtMost{1};
// How often sums of intervals are sent, and how far ahead a window's end is chosen, so that no sum reaches over it.
constexpr uint64_t kFlushPeriodNs = 500'000'000;
constexpr uint64_t kCutAheadNs = 5'000'000;
constexpr int kFlushAttempts = 1000;
// Between two looks at the rings: where much comes, and where no more than a few bytes do.
constexpr std::chrono::milliseconds kDrainPeriod{5};
constexpr std::chrono::milliseconds kLongestDrainPeriod{40};
// Hundreds of intervals, or a capture or two: a stack that is being learned is captured until it is known.
constexpr size_t kFewBytes = 32 << 10;
// Most stacks are known then. The sooner the first walks tell how much of a stack is needed, the fewer captures are too
// short.
constexpr size_t kFewBytesLater = 128 << 10;
constexpr uint64_t kSettlesNs = 5'000'000'000;
// Later on, where the rings wake the drainer before they are full. Much at once would keep a CPU from others for long.
constexpr std::chrono::milliseconds kLongestDrainPeriodLater{160};
// How long the worker sleeps when nothing comes and no reading is under way.
constexpr std::chrono::milliseconds kIdlePeriod{200};
constexpr std::chrono::milliseconds kGathering{1};       // what comes together
constexpr std::chrono::milliseconds kLastTurn{1};        // of the worker, while readings end
constexpr std::chrono::milliseconds kLastAccounts{500};  // for threads that end with the recording

using Clock = std::chrono::steady_clock;

uint64_t NowNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 ? name : std::string();
}

// With reads of targets when all else is done: as long as they come to an end, one way or the other, and not for ever.
class Patience {
 public:
  Patience(Clock::duration without_progress, Clock::duration at_most)
      : without_progress_(without_progress), progress_(Clock::now()), end_(progress_ + at_most) {}

  bool IsOver(uint64_t readings) {
    const Clock::time_point now = Clock::now();
    if (readings != readings_) progress_ = now;
    readings_ = readings;
    return now > end_ || now - progress_ > without_progress_;
  }

 private:
  const Clock::duration without_progress_;
  Clock::time_point progress_;
  const Clock::time_point end_;
  uint64_t readings_ = 0;
};

class RecorderImpl final : public Recorder {
 public:
  RecorderImpl(const RecordConfig& config, const KernelFeatures& features, std::shared_ptr<Programs> programs,
               std::shared_ptr<ModuleCache> modules, const std::shared_ptr<ReaderPool>& readers)
      : config_(config),
        can_capture_(features.can_read_user),
        can_defer_(features.can_defer()),
        programs_(std::move(programs)),
        threads_(config_, programs_),
        clock_(features.rq_clock),
        modules_(std::move(modules)),
        queue_(config.queue_bytes),
        pipeline_(PipelineConfigOf(config, features), RecordedHost(programs_, modules_, readers),
                  NowNs(CLOCK_MONOTONIC)),
        drops_before_(NameDrops({}, {}, modules_->stats())) {
    for (const TaskDescription& task : threads_.Tasks()) pipeline_.Expect(task.process, task.tid);
    if (!config_.adapts_sample) programs_->SetThresholds(std::vector<uint64_t>(WIRE_USERS, config_.sample_ns));
    start_ = ReadClocks();
    programs_->Arm();
    armed_ns_ = clock_.ReadNs();
  }

  // If it fails, nothing goes on.
  absl::Status StartThreads() {
    absl::StatusOr<std::thread> drainer = StartThread("drainer", [this] { DrainLoop(); });
    if (!drainer.ok()) return drainer.status();
    drainer_ = *std::move(drainer);
    absl::StatusOr<std::thread> worker = StartThread("worker", [this] { WorkLoop(); });
    if (!worker.ok()) return worker.status();
    worker_ = *std::move(worker);
    return absl::OkStatus();
  }

  ~RecorderImpl() override {
    programs_->Disarm();
    Join();
  }

  RecorderProgress progress() const override {
    return {.intervals = intervals_.load(std::memory_order_relaxed),
            .stacks = rows_.load(std::memory_order_relaxed),
            .drops = CountLost(programs_->ReadCounters()),
            .drains = drains_.load(std::memory_order_relaxed),
            .turns = turns_.load(std::memory_order_relaxed),
            .adapts_sample = config_.adapts_sample,
            .threshold_ns = config_.adapts_sample ? cost_.threshold_ns() : config_.sample_ns};
  }

  absl::StatusOr<Profile> Cut() override {
    absl::Status status;
    Clocks end;
    tasks_.Run([&] { status = BeginNextWindow(&end); });
    if (!status.ok()) return status;
    was_cut_ = true;
    // What was recorded before the threads were listed is in the queue after this, and handled before the next task.
    programs_->Settle();
    FlushSums();
    std::vector<Drop> drops = CountDrops();
    std::optional<Profile> profile;
    while (true) {
      tasks_.Run([&] {
        if (pipeline_.IsClosed(all_decoded_)) profile = pipeline_.TakeClosed(std::move(drops));
      });
      if (profile.has_value()) break;
      AwaitDrain();  // of captures that were on their way
    }
    Complete(end, *profile);
    return *std::move(profile);
  }

  absl::StatusOr<Profile> Stop() override {
    // The only window ends where its ledger does.
    const uint64_t open_at_ns = was_cut_ ? SchedulerNs() : 0;
    programs_->Disarm();
    const Clocks end = EndOfWindow(ReadClocks(), std::max(open_at_ns, programs_->span().end_ns));
    // At once: the longer it takes, the more threads have gone on.
    const std::vector<WaitingThread> first = threads_.Open(open_at_ns);
    tasks_.Post([this, first] { pipeline_.ReadWaiting(first); });
    programs_->Settle();
    programs_->BeginLastListing();
    const std::vector<WaitingThread> last = threads_.Open(open_at_ns);
    std::vector<ThreadAccount> accounts = config_.ledger ? ListAccounts() : std::vector<ThreadAccount>();
    tasks_.Run([&] { pipeline_.AddOpenWaits(first, last); });
    FlushSums();
    Join();
    Profile profile = pipeline_.Finish(CountDrops());
    Complete(end, profile);
    if (config_.ledger) CloseLedger(std::move(accounts), last, profile);
    return profile;
  }

 private:
  // False: this was the last time.
  bool DrainOnce() {
    const uint64_t now_ns = NowNs(CLOCK_MONOTONIC);
    if (now_ns >= next_flush_ns_) {
      next_flush_ns_ = now_ns + kFlushPeriodNs;
      programs_->FlushSums();
    }
    const std::lock_guard lock(mutex_);
    const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
    const size_t bytes = programs_->Drain([this](std::span<const std::byte> record) { queue_.Push(record); });
    queue_.Flush();
    if (bytes != 0) tasks_.Poke();
    drainer_ns_.store(NowNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    drainer_times_.Add(drainer_ns_ - began_ns);
    drain_period_ = NextDrainPeriod(now_ns, bytes);
    ++drains_;
    changed_.notify_all();
    return !stop_;
  }

  // After a look at which there were so many bytes.
  std::chrono::milliseconds NextDrainPeriod(uint64_t now_ns, size_t bytes) const {
    const bool is_settled = can_defer_ && now_ns >= settled_ns_;
    if (bytes <= (is_settled ? kFewBytesLater : kFewBytes))
      return std::min(2 * drain_period_, is_settled ? kLongestDrainPeriodLater : kLongestDrainPeriod);
    return is_settled ? std::max(drain_period_ / 2, kDrainPeriod) : kDrainPeriod;
  }

  // By time, and less often where little comes: each wake-up from a BPF program is an interrupt. Only what may be gone
  // soon is worth one, and a ring that fills; what comes with it takes a moment, and more may follow.
  void DrainLoop() {
    const HurriedThread hurried;
    while (DrainOnce()) {
      if (!programs_->AwaitNews(drain_period_)) continue;
      std::this_thread::sleep_for(kGathering);
      drain_period_ = std::min(drain_period_, kLongestDrainPeriod / 2);
    }
    // What was asked for before recording stopped may still be on its way.
    std::this_thread::sleep_for(kDrainPeriod);
    DrainOnce();
    drained_ = true;
    tasks_.Poke();
  }

  void WorkLoop() {
    // What it takes has a budget, unless the sample is fixed.
    std::optional<HurriedThread> hurried;
    if (config_.adapts_sample) hurried.emplace();
    std::optional<Patience> patience;
    while (true) {
      const bool last = drained_;
      const std::vector<WorkerTasks::Task> tasks = tasks_.Take();
      const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
      all_decoded_ = DecodeQueued();
      pipeline_.Tick(NowNs(CLOCK_MONOTONIC));  // tasks count their deadlines from this time
      worker_times_.Add(NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns);
      for (const WorkerTasks::Task& task : tasks) task();
      tasks_.CountDone(tasks.size());
      if (!last) FollowClock();
      if (!last) ReadLongWaits();
      if (!last) cost_.Tick(NowNs(CLOCK_MONOTONIC));
      Publish();
      if (last && !patience.has_value()) {
        patience.emplace(std::chrono::milliseconds(2 * config_.target_deadline_ms),
                         std::chrono::milliseconds(config_.finish_ms));
      }
      if (last && all_decoded_ && (pipeline_.idle() || patience->IsOver(pipeline_.readings()))) return;
      tasks_.Await(last ? kLastTurn : TurnPeriod());
    }
  }

  // How long the worker sleeps unless something comes.
  std::chrono::milliseconds TurnPeriod() const {
    if (!pipeline_.idle() || !all_decoded_) return kDrainPeriod;
    return can_capture_ ? kIdlePeriod : kLongestDrainPeriod;  // it reads stacks every kOnlyLivePeriodNs
  }

  // False if there is more than can be done in time.
  bool DecodeQueued() {
    const auto decode = [this](std::span<const std::byte> record) {
      if (std::optional<ThreadAccount> account = DecodeAccount(record)) return ledger_.Add(*std::move(account));
      std::optional<Event> event = Decode(record);
      event.has_value() ? pipeline_.Handle(*std::move(event)) : pipeline_.CountUndecodable();
    };
    const Clock::time_point end = Clock::now() + kDecodeAtMost;
    while (queue_.PopBatch(decode)) {
      Publish();
      if (Clock::now() > end) return false;
    }
    return true;
  }

  void Publish() {
    pipeline_.Tick(NowNs(CLOCK_MONOTONIC));
    turns_.fetch_add(1, std::memory_order_relaxed);
    intervals_.store(pipeline_.intervals(), std::memory_order_relaxed);
    rows_.store(pipeline_.rows(), std::memory_order_relaxed);
    worker_ns_.store(NowNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
  }

  void Join() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    programs_->Hurry();
    if (drainer_.joinable()) drainer_.join();
    if (worker_.joinable()) worker_.join();
  }

  // The scheduler's clock, not later than now; 0 if it cannot be read.
  uint64_t SchedulerNs() const {
    const uint64_t now_ns = clock_.ReadNs();
    return now_ns < armed_ns_ ? 0 : programs_->span().start_ns + (now_ns - armed_ns_);
  }

  // An instant that the programs have known before it came, so that no sum reaches over it. Returns behind it; 0 if the
  // clock cannot be read.
  uint64_t CutAhead() {
    if (!programs_->SumsUp()) return SchedulerNs();
    uint64_t cut_ns = 0;
    for (uint64_t ahead_ns = kCutAheadNs;; ahead_ns *= 2) {
      const uint64_t now_ns = SchedulerNs();
      if (now_ns == 0) return 0;
      cut_ns = now_ns + ahead_ns;
      programs_->CutSums(cut_ns);
      if (SchedulerNs() < cut_ns - ahead_ns / 2) break;  // the clock may be a little behind that of the programs
    }
    for (uint64_t now_ns = SchedulerNs(); now_ns != 0 && now_ns <= cut_ns; now_ns = SchedulerNs()) {
      std::this_thread::sleep_for(kGathering);
    }
    return cut_ns;
  }

  // Those of an instant of the scheduler's clock, a moment ago: the window ends there, and not when this is reached.
  Clocks ClocksAt(uint64_t scheduler_ns) const {
    Clocks best;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < kReadTogetherTries && best_ns > kReadTogetherNs; ++i) {
      const uint64_t before_ns = NowNs(CLOCK_MONOTONIC);
      const uint64_t now_ns = SchedulerNs();
      const Clocks now = ReadClocks();
      const uint64_t took_ns = now.monotonic_ns - before_ns;
      if (took_ns >= best_ns) continue;
      best_ns = took_ns;
      best = Before(now, now_ns - std::min(now_ns, scheduler_ns));
    }
    return best;
  }

  // When the running window began, by the scheduler's clock.
  uint64_t WindowBegin() const { return begin_ns_ != 0 ? begin_ns_ : programs_->span().start_ns; }

  // The clocks at the end of the running window, at `end_ns` of the scheduler's clock, when the others were `now`.
  Clocks EndOfWindow(const Clocks& now, uint64_t end_ns) const {
    return AtLeastBehind(start_, Following(start_, now), end_ns - std::min(end_ns, WindowBegin()));
  }

  // Runs on the worker: nothing that ends later has been handled yet.
  absl::Status BeginNextWindow(Clocks* end) {
    const uint64_t cut_ns = CutAhead();
    *end = EndOfWindow(ClocksAt(cut_ns), cut_ns);
    const absl::StatusOr<std::vector<WaitingThread>> threads = threads_.Waiting(0, cut_ns);
    if (!threads.ok()) return threads.status();
    cut_ns_ = cut_ns;
    return pipeline_.Cut(cut_ns, *threads);
  }

  // Those of the window that ends.
  std::vector<Drop> CountDrops() {
    const std::lock_guard lock(mutex_);  // the drainer holds it while it fills the queue
    const Counters counters = programs_->ReadCounters();
    std::vector<Drop> drops = NameDrops(counters, queue_.stats(), modules_->stats(), OnCpuPeriodNs(config_));
    std::vector<Drop> since = DropsSince(drops_before_, drops);
    drops_before_ = std::move(drops);
    not_drawn_ = NotDrawn(counters) - not_drawn_before_;
    not_drawn_before_ += not_drawn_;
    capture_longest_ns_ = LongestCaptureNs(counters);
    const std::array<uint64_t, kWalkMissCount> misses = WalkMisses(counters);
    for (size_t i = 0; i < misses.size(); ++i)
      walk_misses_[i] = misses[i] - std::exchange(misses_before_[i], misses[i]);
    return since;
  }

  // What the pipeline does not know of a window that ended at `end`.
  void Complete(const Clocks& end, Profile& profile) {
    SetTimes(start_, end, profile);
    if (profile.times.column_ns != 0) profile.times.begin_ns -= static_cast<int64_t>(WindowBegin());
    begin_ns_ = cut_ns_;
    profile.host = HostName();
    profile.stats.sample_ns = config_.sample_ns;
    profile.stats.sample_most_ns = std::max(profile.stats.sample_most_ns, config_.sample_ns);
    profile.stats.oncpu_period_ns = OnCpuPeriodNs(config_);
    profile.stats.not_drawn = not_drawn_;
    profile.stats.walk_misses = walk_misses_;
    const Programs::ToldCounts told = programs_->CountTold();
    profile.stats.told_rows = told.rows;
    profile.stats.told_stacks = told.stacks;
    cost_.Tell(profile.stats);
    profile.stats.capture_longest_ns = capture_longest_ns_;
    start_ = end;
  }

  // Lists the accounts of threads that go on. On a busy host others have left the kernel's list of tasks and not yet
  // their last CPU: waits a while until these have sent theirs.
  std::vector<ThreadAccount> ListAccounts() {
    std::vector<ThreadAccount> accounts = threads_.Accounts();
    const Clock::time_point end = Clock::now() + kLastAccounts;
    while ((accounts_lost_ = programs_->CountOpenAccounts()) != 0 && Clock::now() < end)
      std::this_thread::sleep_for(kLastTurn);
    return accounts;
  }

  // When the worker has ended.
  void CloseLedger(std::vector<ThreadAccount> open, const std::vector<WaitingThread>& waiting, Profile& profile) {
    for (ThreadAccount& account : open) ledger_.Add(std::move(account));
    if (accounts_lost_ != 0) AddDrop(DropOf(LossId::kAccountLost, accounts_lost_), profile.stats.drops);
    ledger_.AddWaits(waiting, OpenWaitsConfigOf(config_));
    ledger_.AddDropped(queue_.stats());
    ledger_.Finish(programs_->span(), profile);
  }

  // All that was added up by now is in the queue after this: what finds no room in a ring does so when it has been
  // drained.
  void FlushSums() {
    for (int i = 0; i < kFlushAttempts && programs_->FlushSums() != 0; ++i) AwaitDrain();
    AwaitDrain();
  }

  // Until the rings have been drained once more.
  void AwaitDrain() {
    std::unique_lock lock(mutex_);
    programs_->Hurry();
    changed_.wait(lock, [this, next = drains_ + 1] { return drains_ >= next; });
  }

  // Who has waited for long may never come back, or be killed where it waits.
  // By the one clock the BPF programs stamp waits, by the other they know how late it is.
  void FollowClock() {
    const uint64_t before_ns = NowNs(CLOCK_MONOTONIC);
    if (before_ns < next_clock_ns_) return;
    const uint64_t scheduler_ns = SchedulerNs();
    const uint64_t after_ns = NowNs(CLOCK_MONOTONIC);
    if (scheduler_ns == 0 || after_ns - before_ns > kReadTogetherNs) return;  // the next turn tries again
    const uint64_t offset = scheduler_ns - after_ns;
    // What the programs have learned from many switches is exact; here, what changes is.
    if (!learned_ahead_ns_.has_value()) learned_ahead_ns_ = programs_->clock_offset() - offset;
    programs_->SetClockOffset(offset + *learned_ahead_ns_);
    next_clock_ns_ = after_ns + kClockPeriodNs;
  }

  void ReadLongWaits() {
    const uint64_t now_ns = NowNs(CLOCK_MONOTONIC);
    if (config_.live_after_ms == 0 || now_ns < next_live_ns_) return;
    const uint64_t after_ns = uint64_t{config_.live_after_ms} * 1'000'000;
    // Every thread of the host is looked at for this.
    next_live_ns_ = now_ns + (can_capture_ ? std::max(kLivePeriodNs, after_ns / 4) : kOnlyLivePeriodNs);
    absl::StatusOr<std::vector<WaitingThread>> threads =
        threads_.Waiting(can_capture_ ? after_ns : kOnlyLiveAfterNs, 0);
    if (threads.ok()) pipeline_.ReadWaiting(*std::move(threads));
  }

  const RecordConfig config_;
  const bool can_capture_;
  const bool can_defer_;  // captures until it is known that they are wanted
  std::shared_ptr<Programs> programs_;
  const RecordedThreads threads_;
  const SchedulerClock clock_;
  std::shared_ptr<ModuleCache> modules_;
  EventQueue queue_;
  WorkerTasks tasks_;
  Pipeline pipeline_;                   // of the worker until it has ended
  LedgerMaker ledger_{kLedgerThreads};  // likewise
  // The caller's: the running window's beginning, and what was counted before it.
  Clocks start_;
  std::vector<Drop> drops_before_;
  uint64_t not_drawn_ = 0;  // in the window that has ended
  uint64_t not_drawn_before_ = 0;
  uint64_t capture_longest_ns_ = 0;
  std::array<uint64_t, kWalkMissCount> walk_misses_ = {};  // in the window that has ended
  std::array<uint64_t, kWalkMissCount> misses_before_ = {};
  uint64_t accounts_lost_ = 0;
  bool was_cut_ = false;
  uint64_t begin_ns_ = 0;  // of the running window, by the scheduler's clock; 0: it is the first
  uint64_t cut_ns_ = 0;    // likewise, of the one after it
  uint64_t armed_ns_ = 0;  // of clock_; not earlier than the programs were armed
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t next_flush_ns_ = 0;  // of the drainer
  const uint64_t settled_ns_ = NowNs(CLOCK_MONOTONIC) + kSettlesNs;
  bool stop_ = false;                                      // guarded by mutex_
  std::chrono::milliseconds drain_period_ = kDrainPeriod;  // of the drainer
  std::atomic<uint64_t> drains_{0};                        // of the rings; changed under mutex_
  bool all_decoded_ = false;                  // of the worker: whatever was in the queue when it took its tasks
  uint64_t next_clock_ns_ = 0;                // of the worker, as what follows is
  std::optional<uint64_t> learned_ahead_ns_;  // the programs' offset to the one that is read here
  uint64_t next_live_ns_ = 0;
  std::atomic<bool> drained_{false};
  std::atomic<uint64_t> intervals_{0};
  std::atomic<uint64_t> rows_{0};
  std::atomic<uint64_t> turns_{0};       // of the worker
  std::atomic<uint64_t> drainer_ns_{0};  // of CPU time, as the next one is
  std::atomic<uint64_t> worker_ns_{0};
  TurnTimes drainer_times_;
  TurnTimes worker_times_;
  CostKeeper cost_{
      CostKeeperConfigOf(config_),
      {.read =
           [this] {
             return ReadCost(*programs_, {.all_ns = drainer_ns_ + worker_ns_,
                                          .events_ns = drainer_times_.beyond_ns() + worker_times_.beyond_ns()});
           },
       .set_thresholds =
           [this](const std::vector<uint64_t>& thresholds_ns) { programs_->SetThresholds(thresholds_ns); }}};
  std::thread drainer_;
  std::thread worker_;
};

// The kernel checks the programs in this thread's time: a second or two of it.
absl::StatusOr<std::unique_ptr<Programs>> LoadHurried(const ProgramsConfig& config, const KernelFeatures& features) {
  const HurriedThread hurried;
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
  absl::StatusOr<std::unique_ptr<Programs>> programs = LoadHurried(ProgramsConfigOf(config), *features);
  if (!programs.ok()) return programs.status();
  if (modules == nullptr) modules = std::make_shared<ModuleCache>();
  if (readers == nullptr) readers = std::make_shared<ReaderPool>();
  if (readers->stats().threads == 0)
    return absl::ResourceExhaustedError("no thread to read processes with can be started");
  auto recorder = std::make_unique<RecorderImpl>(config, *features, *std::move(programs), std::move(modules), readers);
  if (absl::Status status = recorder->StartThreads(); !status.ok()) return status;
  return recorder;
}

}  // namespace offcpu
