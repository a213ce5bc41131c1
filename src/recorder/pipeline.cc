#include "recorder/pipeline.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "profile/losses.h"
#include "recorder/stack_hint.h"
#include "recorder/walk_capture.h"

namespace offcpu {

Pipeline::Pipeline(const PipelineConfig& config, std::shared_ptr<Host> host, uint64_t now_ns)
    : config_(config),
      host_(std::move(host)),
      stacks_(config.stacks, *host_, now_ns),
      targets_(config.targets, host_, stacks_, now_ns),
      runtime_reads_(targets_, host_, config.targets.waiting_bytes, now_ns),
      windows_(config.windows, stacks_, *host_, now_ns),
      live_(targets_, stacks_, host_, config.unread_batches, now_ns),
      walkers_(config.unwind, config.max_frames),
      losses_before_(CountedLosses()) {}

void Pipeline::Handle(Event event) {
  std::visit([this](auto&& e) { On(std::forward<decltype(e)>(e)); }, std::move(event));
  PassOn();
}

// A walk may ask for another snapshot, which may make more captures ready.
void Pipeline::PassOn() {
  for (const ProcessInfo& process : targets_.table().TakeEvicted()) windows_.Describe(process);
  windows_.stats().live_stacks += live_.TakeRead();
  for (;;) {
    for (ReadyCapture& capture : targets_.TakeReady()) runtime_reads_.Add(std::move(capture));
    const std::vector<ReadyCapture> ready = runtime_reads_.TakeReady();
    if (ready.empty()) break;
    for (const ReadyCapture& capture : ready) Walk(capture.event, capture.code);
  }
  windows_.TakeInNews();
}

void Pipeline::On(const IntervalEvent& event) {
  targets_.HearOf(event.process, event.tid, event.comm);
  for (const WakerEvent& waker : event.wakers) {
    const bool is_seen = waker.process.pid != 0;  // it is in our pid namespace
    if (waker.interrupt || !is_seen || waker.missing == NoUserStack::kKernelThread) continue;
    targets_.HearOf(waker.process, waker.tid, waker.comm);
  }
  windows_.Add(event);
}

void Pipeline::On(const SampleEvent& event) {
  targets_.HearOf(event.process, event.tid, event.comm);
  windows_.Add(event);
}

void Pipeline::On(CaptureEvent&& event) {
  ++windows_.stats().captures;
  targets_.OnCapture(std::move(event));
}

void Pipeline::ReadWaiting(std::vector<WaitingThread> threads) {
  std::erase_if(threads, [this](const WaitingThread& thread) {
    const bool may_be_told = config_.windows.open_waits.show_sleepers || !thread.open.has_value() ||
                             !IsThroughout(*thread.open, windows_.begin_ns());
    return !thread.in_open_wait || thread.is_kernel || !may_be_told;
  });
  live_.Read(std::move(threads));
  PassOn();
}

void Pipeline::Walk(const CaptureEvent& capture, const CaptureCode& code) {
  KnownStacks& known = stacks_.known();
  WalkTrace* const trace = known.learns() && code.whole && !code.is_starting ? &trace_ : nullptr;
  if (!WalkCapture(capture, code, walkers_, &scratch_, trace))
    return stacks_.Fail(capture.cookie, NoUserStack::kUnreadable);
  if (code.whole && HasLeftCode(scratch_)) targets_.SnapshotAgain(capture.process);
  ++walks_;
  CountWalk(scratch_, windows_.stats());
  const NeededStack& needed = walkers_.For(capture).needed();
  if (const auto hint = HintAfter(capture, scratch_.end, needed)) host_->SetStackHint(capture.tid, *hint);
  if (trace != nullptr && known.Learn(capture, scratch_, *trace)) ++windows_.stats().proven_walks;
  stacks_.Resolve(capture.cookie, scratch_);
}

void Pipeline::Tick(uint64_t now_ns) {
  targets_.Tick(now_ns);
  runtime_reads_.Tick(now_ns);
  PassOn();
  stacks_.Advance(now_ns);
  windows_.Tick(now_ns);
  live_.Tick(now_ns);
  PassOn();
}

uint64_t Pipeline::readings() const {
  const ReaderStats& stats = targets_.reader_stats();
  return stats.done + stats.stuck + stats.not_begun;
}

absl::Status Pipeline::Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads) {
  if (end_ns <= windows_.begin_ns()) return absl::InternalError("the scheduler's clock has stopped");
  targets_.table().BeginWindow();
  stacks_.BeginWindow(threads);
  std::vector<WaitingThread> waiting;
  for (const WaitingThread& thread : threads) {
    targets_.table().HearOfInWindow(thread.process);
    // Who has come back meanwhile says so itself.
    if (thread.open.has_value() && !thread.came_back) waiting.push_back(thread);
  }
  ReadWaiting(waiting);
  AddOpenWaits(waiting, waiting);
  windows_.Cut(end_ns);
  return absl::OkStatus();
}

void Pipeline::AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last) {
  for (const IntervalEvent& event : windows_.AddOpenWaits(first, last)) {
    targets_.HearOf(event.process, event.tid, event.comm);
  }
}

Profile Pipeline::TakeClosed(std::vector<Loss> losses) {
  Profile profile = windows_.TakeClosed(targets_.table().Describe(), WithCounted(std::move(losses)));
  stacks_.ForgetOtherWindows();
  targets_.table().Forget();
  return profile;
}

Profile Pipeline::Finish(std::vector<Loss> losses) {
  live_.Finish();
  targets_.GiveUpAll();
  PassOn();
  runtime_reads_.EndWaiting();
  PassOn();
  return windows_.Finish(targets_.table().Describe(), WithCounted(std::move(losses)));
}

std::vector<Loss> Pipeline::WithCounted(std::vector<Loss> losses) {
  std::vector<Loss> counted = CountedLosses();
  for (Loss& loss : LossesSince(losses_before_, counted)) losses.push_back(std::move(loss));
  losses_before_ = std::move(counted);
  return losses;
}

std::vector<Loss> Pipeline::CountedLosses() const {
  return {LossOf(LossId::kUndecodable, undecodable_),
          LossOf(LossId::kTooManyProcesses, targets_.table().over_limit()),
          LossOf(LossId::kTooManyWaitingStacks, targets_.waiting_over_limit()),
          LossOf(LossId::kTargetStuck, targets_.reader_stats().stuck),
          LossOf(LossId::kTargetNotRead, targets_.reader_stats().not_begun),
          LossOf(LossId::kReaderNotStarted, host_->readers()->stats().not_started),
          LossOf(LossId::kCorruptTable, walkers_.row_stats().corrupt_tables),
          LossOf(LossId::kBadTableEntry, walkers_.row_stats().bad_entries),
          LossOf(LossId::kOldSFrame, walkers_.row_stats().sframe_old_versions),
          LossOf(LossId::kUserWalkDiffers, stacks_.known().wrong()),
          LossOf(LossId::kNameConflict, targets_.conflicts() + windows_.conflicts() + stacks_.known().conflicts()),
          LossOf(LossId::kControlGroupNotTold, windows_.control_groups_not_told())};
}

Pipeline::Kept Pipeline::kept() const {
  return {.targets = targets_.table().targets().size(),
          .exited = targets_.table().exited(),
          .kernel_stacks = windows_.kernel_stacks(),
          .live_waits = stacks_.waits(),
          .reported_waits = windows_.reported_waits()};
}

}  // namespace offcpu
