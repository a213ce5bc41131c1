#include "recorder/worker.h"

#include <time.h>

#include <algorithm>
#include <span>
#include <utility>

#include "bpf_programs/decode.h"
#include "os/now.h"
#include "os/scoped_priority.h"
#include "os/start_thread.h"
#include "recorder/clocks.h"
#include "recorder/own_cost.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

// How often waits are looked for that last long, and how long that is where a stack can be read in no other way.
constexpr uint64_t kLivePeriodNs = 1'000'000'000;
constexpr uint64_t kOnlyLivePeriodNs = 50'000'000;
constexpr uint64_t kOnlyLiveAfterNs = 10'000'000;

constexpr size_t kLedgerThreads = 1 << 17;

// How long the worker decodes without asking what else there is to do.
constexpr std::chrono::seconds kDecodeAtMost{1};
constexpr std::chrono::milliseconds kBusyPeriod{5};
constexpr std::chrono::milliseconds kOnlyLivePeriod{40};
// How long the worker sleeps when nothing comes and no reading is under way.
constexpr std::chrono::milliseconds kIdlePeriod{200};
constexpr std::chrono::milliseconds kLastTurn{1};  // while readings end

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

}  // namespace

Worker::Worker(const RecordConfig& config, const KernelFeatures& features, std::shared_ptr<Programs> programs,
               std::shared_ptr<Host> host, const RecordingClock& clock, Drainer& drainer, WorkerTasks& tasks)
    : config_(config),
      can_capture_(features.can_read_user),
      programs_(std::move(programs)),
      threads_(config_, programs_),
      clock_(clock),
      drainer_(drainer),
      tasks_(tasks),
      pipeline_(PipelineConfigOf(config, features), std::move(host), NowNs(CLOCK_MONOTONIC)),
      ledger_(kLedgerThreads),
      cost_(CostKeeperConfigOf(config), ReadCostNow()),
      follower_(programs_, clock) {
  for (const TaskDescription& task : threads_.Tasks()) pipeline_.Expect(task.process, task.tid);
}

absl::Status Worker::Start() {
  absl::StatusOr<std::thread> thread = StartThread("worker", [this] { Loop(); });
  if (!thread.ok()) return thread.status();
  thread_ = *std::move(thread);
  return absl::OkStatus();
}

void Worker::Stop() {
  if (!thread_.joinable()) return;
  ends_ = true;
  tasks_.Poke();
  thread_.join();
}

absl::StatusOr<WindowEnd> Worker::BeginNextWindow() {
  absl::StatusOr<WindowEnd> end = absl::UnknownError("");
  tasks_.Run([&] {
    own_.Check();
    end = CutWindow();
  });
  return end;
}

absl::StatusOr<WindowEnd> Worker::CutWindow() {
  WindowEnd end = {.scheduler_ns = clock_.CutAhead()};
  end.clocks = clock_.ClocksAt(end.scheduler_ns);
  const absl::StatusOr<std::vector<WaitingThread>> threads = threads_.Waiting(0, end.scheduler_ns);
  if (!threads.ok()) return threads.status();
  if (absl::Status status = pipeline_.Cut(end.scheduler_ns, *threads); !status.ok()) return status;
  return end;
}

std::optional<Profile> Worker::TakeClosed(const std::vector<Loss>& losses) {
  std::optional<Profile> profile;
  tasks_.Run([&] {
    own_.Check();
    if (!pipeline_.IsClosed(all_decoded_)) return;
    profile = pipeline_.TakeClosed(losses);
    cost_.Tell(ReadCostNow(), profile->stats);
  });
  return profile;
}

void Worker::ReadWaiting(std::vector<WaitingThread> threads) {
  tasks_.Post([this, threads = std::move(threads)] {
    own_.Check();
    pipeline_.ReadWaiting(threads);
  });
}

void Worker::AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last) {
  tasks_.Run([&] {
    own_.Check();
    pipeline_.AddOpenWaits(first, last);
  });
}

Profile Worker::Finish(std::vector<Loss> losses) {
  own_.Check();
  Profile profile = pipeline_.Finish(std::move(losses));
  cost_.Tell(ReadCostNow(), profile.stats);
  return profile;
}

LedgerMaker& Worker::ledger() {
  own_.Check();
  return ledger_;
}

void Worker::Loop() {
  own_.Check();
  // What it takes has a budget, unless the sample is fixed.
  std::optional<ScopedPriority> priority;
  if (config_.adapts_sample) priority.emplace();
  std::optional<Patience> patience;
  while (true) {
    const bool last = ends_;
    Turn(last);
    if (last && !patience.has_value()) {
      pipeline_.BeginEnd();
      patience.emplace(std::chrono::milliseconds(2 * config_.target_deadline_ms),
                       std::chrono::milliseconds(config_.finish_ms));
    }
    if (last && all_decoded_ && (pipeline_.idle() || patience->IsOver(pipeline_.readings()))) break;
    tasks_.Await(last ? kLastTurn : TurnPeriod());
  }
  own_.HandOver();
}

void Worker::Turn(bool last) {
  const std::vector<WorkerTasks::Task> tasks = tasks_.Take();
  const uint64_t began_ns = NowNs(CLOCK_THREAD_CPUTIME_ID);
  all_decoded_ = DecodeQueued();
  pipeline_.Tick(NowNs(CLOCK_MONOTONIC));  // tasks count their deadlines from this time
  times_.Add(NowNs(CLOCK_THREAD_CPUTIME_ID) - began_ns);
  for (const WorkerTasks::Task& task : tasks) task();
  tasks_.CountDone(tasks.size());
  if (!last) {
    follower_.Tick(NowNs(CLOCK_MONOTONIC));
    ReadLongWaits();
    KeepBudget();
  }
  Publish();
}

std::chrono::milliseconds Worker::TurnPeriod() const {
  if (!pipeline_.idle() || !all_decoded_) return kBusyPeriod;
  return can_capture_ ? kIdlePeriod : kOnlyLivePeriod;  // it reads stacks every kOnlyLivePeriodNs
}

bool Worker::DecodeQueued() {
  const auto decode = [this](std::span<const std::byte> record) {
    own_.Check();
    if (std::optional<ThreadAccount> account = DecodeAccount(record)) return ledger_.Add(*std::move(account));
    std::optional<Event> event = Decode(record);
    event.has_value() ? pipeline_.Handle(*std::move(event)) : pipeline_.CountUndecodable();
  };
  const Clock::time_point end = Clock::now() + kDecodeAtMost;
  while (drainer_.queue().PopBatch(decode)) {
    Publish();
    if (Clock::now() > end) return false;
  }
  return true;
}

void Worker::Publish() {
  pipeline_.Tick(NowNs(CLOCK_MONOTONIC));
  turns_.fetch_add(1, std::memory_order_relaxed);
  intervals_.store(pipeline_.intervals(), std::memory_order_relaxed);
  rows_.store(pipeline_.rows(), std::memory_order_relaxed);
  times_.SetAll(NowNs(CLOCK_THREAD_CPUTIME_ID));
}

// Who has waited for long may never come back, or be killed where it waits.
void Worker::ReadLongWaits() {
  const uint64_t now_ns = NowNs(CLOCK_MONOTONIC);
  if (config_.live_after_ms == 0 || now_ns < next_live_ns_) return;
  const uint64_t after_ns = uint64_t{config_.live_after_ms} * 1'000'000;
  // Every thread of the host is looked at for this.
  next_live_ns_ = now_ns + (can_capture_ ? std::max(kLivePeriodNs, after_ns / 4) : kOnlyLivePeriodNs);
  absl::StatusOr<std::vector<WaitingThread>> threads = threads_.Waiting(can_capture_ ? after_ns : kOnlyLiveAfterNs, 0);
  if (threads.ok()) pipeline_.ReadWaiting(*std::move(threads));
}

void Worker::KeepBudget() {
  if (cost_.IsDue(NowNs(CLOCK_MONOTONIC)) && cost_.Update(ReadCostNow()))
    programs_->SetThresholds(cost_.thresholds_ns());
}

CostReading Worker::ReadCostNow() const {
  const TurnTimes& drainer = drainer_.times();
  return ReadCost(*programs_, {.all_ns = drainer.all_ns() + times_.all_ns(),
                               .events_ns = drainer.beyond_ns() + times_.beyond_ns()});
}

}  // namespace offcpu
