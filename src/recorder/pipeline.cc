#include "recorder/pipeline.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "profile/losses.h"
#include "recorder/stack_hint.h"
#include "recorder/walk_capture.h"

namespace offcpu {

Pipeline::Pipeline(const PipelineConfig& config, Hooks hooks, uint64_t now_ns)
    : config_(config),
      hooks_(std::move(hooks)),
      targets_(config.targets, TargetsHooks(), now_ns),
      runtime_reads_(targets_, [this](const CaptureEvent& capture, const CaptureCode& code) { Walk(capture, code); },
                     config.targets.waiting_bytes, now_ns),
      windows_(config.windows, WindowsHooks(), now_ns),
      live_(targets_, LiveHooks(), config.unread_batches, now_ns),
      walkers_(config.unwind, config.max_frames),
      known_stacks_(hooks_.known_stacks),
      drops_before_(CountedDrops()) {}

Targets::Hooks Pipeline::TargetsHooks() {
  return {.look = hooks_.look,
          .find_runtime = hooks_.find_runtime,
          .owner = hooks_.owner,
          .readers = hooks_.readers,
          .forget_code_list = hooks_.forget_definition,
          .void_code = [this](uint64_t hash) { known_stacks_.Distrust(hash); },
          .files = hooks_.files,
          .walk =
              [this](CaptureEvent&& capture, const CaptureCode& code) {
                runtime_reads_.Take(std::move(capture), code);
              },
          .give_up = [this](uint64_t cookie, NoUserStack reason) { GiveUp(cookie, reason); },
          .describe = [this](const ProcessInfo& process) { windows_.Describe(process); }};
}

WindowBook::Hooks Pipeline::WindowsHooks() {
  return {.find_stack = [this](const IntervalEvent& event, Window& window,
                               Interval* interval) { FindStack(event, window, interval); },
          .forget_kernel_stack = hooks_.forget_definition,
          .control_group = hooks_.control_group,
          .hash_key = hooks_.hash_key};
}

LivePath::Hooks Pipeline::LiveHooks() {
  return {.read_stacks = hooks_.read_stacks,
          .capture =
              [this](CaptureEvent&& capture) {
                ++windows_.stats().live_stacks;
                targets_.OnCapture(std::move(capture));
              },
          .give_up = [this](uint64_t cookie, NoUserStack reason) { GiveUp(cookie, reason); }};
}

void Pipeline::Handle(Event event) {
  std::visit([this](auto&& e) { On(std::forward<decltype(e)>(e)); }, std::move(event));
}

void Pipeline::On(const IntervalEvent& event) {
  targets_.HearOf(event.process, event.tid, event.comm);
  for (const WakerEvent& waker : event.wakers) {
    if (waker.interrupt || waker.missing == NoUserStack::kKernelThread) continue;
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
}

// A stack that was walked where the wait has ended is that of the wait while it lasted, too.
void Pipeline::FindStack(const IntervalEvent& event, Window& window, Interval* interval) {
  if (event.waits == 1) live_.FindStack(event, window, interval);
  if (event.user_stack == 0) return;
  const UserStack* stack = known_stacks_.Find(event.user_stack);
  if (stack == nullptr) return;
  const uint64_t awaited = event.waits == 1 ? live_.AwaitedCookie(event) : 0;
  if (awaited != 0) Resolve(awaited, *stack);
  window.stats().walked_at_switch += event.waits;
  if (event.waits > 1) window.stats().summed_at_switch += event.waits;
  window.UseStack(event.user_stack, *stack, interval);
}

void Pipeline::Walk(const CaptureEvent& capture, const CaptureCode& code) {
  WalkTrace* const trace = known_stacks_.learns() && code.whole ? &trace_ : nullptr;
  if (!WalkCapture(capture, code, walkers_, &scratch_, trace)) return GiveUp(capture.cookie, NoUserStack::kUnreadable);
  if (code.whole && HasLeftCode(scratch_)) targets_.LookAgain(capture.process);
  ++walks_;
  CountWalk(scratch_, windows_.stats());
  const NeededStack& needed = walkers_.For(capture).needed();
  if (const auto hint = HintAfter(capture, scratch_.end, needed)) hooks_.hint(capture.tid, *hint);
  if (trace != nullptr && known_stacks_.Learn(capture, scratch_, *trace)) ++windows_.stats().proven_walks;
  Resolve(capture.cookie, scratch_);
}

void Pipeline::Resolve(uint64_t cookie, const UserStack& stack) {
  windows_.Resolve(cookie, stack);
  if (const uint64_t other = live_.Resolve(cookie, stack); other != 0) Resolve(other, stack);
}

void Pipeline::GiveUp(uint64_t cookie, NoUserStack reason) {
  windows_.ResolveMissing(cookie, reason);
  live_.Fail(cookie, reason);
}

void Pipeline::Tick(uint64_t now_ns) {
  targets_.Tick(now_ns);
  runtime_reads_.Tick(now_ns);
  windows_.Tick(now_ns);
  live_.Tick(now_ns);
}

uint64_t Pipeline::readings() const {
  const ReaderStats& stats = targets_.reader_stats();
  return stats.done + stats.stuck + stats.not_begun;
}

absl::Status Pipeline::Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads) {
  if (end_ns <= windows_.begin_ns()) return absl::InternalError("the scheduler's clock does not go on");
  targets_.BeginWindow();
  known_stacks_.BeginWindow();
  live_.BeginWindow(threads);
  std::vector<WaitingThread> waiting;
  for (const WaitingThread& thread : threads) {
    targets_.HearOfInWindow(thread.process);
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

Profile Pipeline::TakeClosed(std::vector<Drop> drops) {
  Profile profile = windows_.TakeClosed(targets_.Describe(), WithCounted(std::move(drops)));
  live_.ForgetOtherWindows();
  targets_.Forget();
  return profile;
}

Profile Pipeline::Finish(std::vector<Drop> drops) {
  live_.Finish();
  targets_.GiveUpAll();
  runtime_reads_.WalkAll();
  return windows_.Finish(targets_.Describe(), WithCounted(std::move(drops)));
}

std::vector<Drop> Pipeline::WithCounted(std::vector<Drop> drops) {
  std::vector<Drop> counted = CountedDrops();
  for (Drop& drop : DropsSince(drops_before_, counted)) drops.push_back(std::move(drop));
  drops_before_ = std::move(counted);
  return drops;
}

std::vector<Drop> Pipeline::CountedDrops() const {
  return {DropOf(LossId::kUndecodable, undecodable_),
          DropOf(LossId::kTooManyProcesses, targets_.stats().over_limit),
          DropOf(LossId::kTooManyWaitingStacks, targets_.stats().waiting_over_limit),
          DropOf(LossId::kTargetStuck, targets_.reader_stats().stuck),
          DropOf(LossId::kTargetNotRead, targets_.reader_stats().not_begun),
          DropOf(LossId::kReaderNotStarted, hooks_.readers->stats().not_started),
          DropOf(LossId::kCorruptTable, walkers_.row_stats().corrupt_tables),
          DropOf(LossId::kBadTableEntry, walkers_.row_stats().bad_entries),
          DropOf(LossId::kOldSFrame, walkers_.row_stats().sframe_old_versions),
          DropOf(LossId::kUserWalkDiffers, known_stacks_.wrong()),
          DropOf(LossId::kNameConflict, targets_.conflicts() + windows_.conflicts() + known_stacks_.conflicts()),
          DropOf(LossId::kControlGroupNotTold, windows_.control_groups_not_told())};
}

Pipeline::Kept Pipeline::kept() const {
  return {.targets = targets_.size(),
          .exited = targets_.exited(),
          .kernel_stacks = windows_.kernel_stacks(),
          .live_waits = live_.size(),
          .reported_waits = windows_.reported_waits()};
}

}  // namespace offcpu
