#include "profiler/pipeline.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace offcpu {
namespace {

constexpr size_t kMaxThreads = 1 << 17;
constexpr int kMaxChanging = 100;  // looks, a tick apart
constexpr size_t kMaxCodeLists = 1 << 14;
constexpr uint64_t kLookAgainNs = 1'000'000'000;
constexpr size_t kMaxCodeListEntries = 1 << 18;  // in all of them: 12 MiB

}  // namespace

Pipeline::Pipeline(const PipelineConfig& config, Hooks hooks, uint64_t now_ns)
    : config_(config),
      hooks_(std::move(hooks)),
      readers_(hooks_.readers, config.target_deadline),
      kernel_stacks_(config.kernel_stacks, hooks_.forget_definition),
      control_groups_(hooks_.control_group),
      current_(std::make_unique<Window>(0, config.window, kernel_stacks_, control_groups_)),
      reported_(kMaxThreads),
      walker_(config.unwind),
      live_(kMaxThreads),
      now_ns_(now_ns) {
  current_->Advance(now_ns);
  drops_before_ = CountedDrops();
}

void Pipeline::Handle(Event event) {
  std::visit([this](auto&& e) { On(std::forward<decltype(e)>(e)); }, std::move(event));
}

void Pipeline::On(KernelStackEvent&& event) {
  ++current_->stats().kernel_stacks;
  // It may come after its first interval.
  for (Window* window : {current_.get(), closing_.get()}) {
    if (window != nullptr && window->HasKernelStack(event.id)) window->DefineKernelStack(event);
  }
  kernel_stacks_.Define(event.id, std::move(event.addresses));
}

void Pipeline::On(CodeListEvent&& event) {
  code_list_entries_ += event.mappings.size();
  if (code_lists_.size() >= kMaxCodeLists || code_list_entries_ > kMaxCodeListEntries) {
    for (const auto& [hash, mappings] : code_lists_) hooks_.forget_definition(hash);
    code_lists_.clear();
    code_list_entries_ = event.mappings.size();
  }
  code_lists_.insert_or_assign(event.hash, std::move(event.mappings));
}

void Pipeline::On(CaptureEvent&& event) {
  ++current_->stats().captures;
  WalkOrWait(std::move(event));
}

void Pipeline::WalkOrWait(CaptureEvent&& event) {
  Target* target = FindOrAddTarget(event.process, event.tid, {});
  if (target == nullptr) return ResolveMissing(event.cookie, NoUserStack::kOverload);
  // Mappings that are known already serve even a process that is gone.
  if (const std::shared_ptr<const AddressSpace> space = target->Find(event.code)) return Walk(*space, event);
  if (WalkFromList(*target, event, true)) return;
  if (!MayBeLookedAt(event.process, *target)) return ResolveMissing(event, *target, target->refused);
  Wait(event.process, *target, std::move(event));
}

void Pipeline::On(const CaptureFailedEvent& event) { ResolveMissing(event.cookie, event.reason); }

// The program that called execve is gone; it makes no exit event under its old key.
void Pipeline::On(const ExecEvent& event) {
  ProcessKey before = event.process;
  --before.exec_id;
  exited_.push_back(before);
  Expect(event.process, event.process.pid);
}

void Pipeline::On(const ExitEvent& event) { exited_.push_back(event.process); }

bool Pipeline::MayBeLookedAt(const ProcessKey& process, Target& target) {
  if (target.refused == NoUserStack::kNone) return true;
  // A first thread that has ended takes its view of the memory along; the others still have theirs.
  const bool other_thread = target.asked_tid == process.pid && target.tid != process.pid;
  if (target.refused == NoUserStack::kUnreadableProcess && other_thread) {
    target.refused = NoUserStack::kNone;
    return true;
  }
  if (target.refused_until_ns == 0 || now_ns_ < target.refused_until_ns) return false;
  // As long as one is stuck there, another look would only lose another thread.
  if (target.refused == NoUserStack::kTargetStuck && target.stuck_reads != 0) return false;
  target.refused = NoUserStack::kNone;
  return true;
}

// A process may end before it can be looked at.
void Pipeline::HearOf(Target& target, int32_t tid, const std::string& comm) const {
  target.tid = tid;
  target.heard_in = windows_;
  if (tid == target.info.key.pid && !comm.empty()) target.main_comm = comm;
}

// A new process is looked at before its first capture comes: it may not live long.
Target* Pipeline::FindOrAddTarget(const ProcessKey& process, int32_t tid, const std::string& comm) {
  const auto found = targets_.find(process);
  if (found != targets_.end()) {
    HearOf(*found->second, tid, comm);
    return found->second.get();
  }
  if (targets_.size() >= config_.targets) EvictExited();
  if (targets_.size() >= config_.targets) {
    ++targets_over_limit_;
    return nullptr;
  }
  Target* target = targets_.emplace(process, std::make_unique<Target>(process)).first->second.get();
  HearOf(*target, tid, comm);
  Ask(process, *target);
  return target;
}

void Pipeline::EvictExited() {
  for (size_t left = exited_.size(); left > 0 && targets_.size() >= config_.targets; --left) {
    const ProcessKey process = exited_.front();
    exited_.pop_front();
    const auto found = targets_.find(process);
    if (found == targets_.end()) continue;
    if (found->second->looking || !found->second->waiting.empty()) {
      exited_.push_back(process);
    } else {
      Describe(found->second->Named());
      targets_.erase(found);
    }
  }
}

void Pipeline::Wait(const ProcessKey& process, Target& target, CaptureEvent&& event) {
  if (waiting_bytes_ + event.stack.size() > config_.waiting_bytes) {
    ++waiting_over_limit_;
    return ResolveMissing(event.cookie, NoUserStack::kOverload);
  }
  waiting_bytes_ += event.stack.size();
  target.waiting.push_back(std::move(event));
  Ask(process, target);
}

CaptureEvent Pipeline::TakeWaiting(Target& target) {
  CaptureEvent event = std::move(target.waiting.front());
  target.waiting.pop_front();
  waiting_bytes_ -= event.stack.size();
  return event;
}

void Pipeline::Ask(const ProcessKey& process, Target& target) {
  if (target.looking) return;
  const std::shared_ptr<const AddressSpace> previous = target.newest();
  const uint64_t number = target.looks + 1;
  // The job holds copies only: it may be abandoned and outlive the pipeline.
  const ReadTaken taken = Submit(
      process, OwnerOf(process),
      [this, process, number, tid = target.tid, previous, look = hooks_.look]() -> ReaderThreads::Completion {
        auto result = std::make_shared<ProcessLook>(look(process, tid, previous));
        return [this, process, number, result] { OnLook(process, number, std::move(*result)); };
      },
      [this, process, number] { OnLook(process, number, {.outcome = LookOutcome::kStuck}); });
  if (taken == ReadTaken::kFull) {
    unasked_.insert(process);
    return;
  }
  unasked_.erase(process);
  if (taken == ReadTaken::kUserStuck) return Refuse(target, NoUserStack::kTargetStuck, now_ns_ + config_.retry_ns);
  target.looking = true;
  target.looks = number;
  target.asked = target.waiting.size();
  target.asked_tid = target.tid;
}

// `stuck` runs in place of the job's completion, and that after it if the job was only slow. As long as a job hangs,
// its process is not read by another one.
ReadTaken Pipeline::Submit(const ProcessKey& process, uid_t owner, ReaderThreads::Job job,
                           std::function<void()> stuck) {
  const auto count = [this, process](bool hangs) {
    const auto target = targets_.find(process);
    if (target == targets_.end()) return;
    size_t& reads = target->second->stuck_reads;
    reads = hangs ? reads + 1 : reads - std::min<size_t>(reads, 1);
  };
  const auto hangs = std::make_shared<bool>(false);
  return readers_.Submit(
      owner,
      [count, hangs, job = std::move(job)]() -> ReaderThreads::Completion {
        return [count, hangs, completion = job()] {
          if (*hangs) count(false);
          completion();
        };
      },
      [count, hangs, stuck = std::move(stuck)](ReaderThreads::GivenUp why) {
        *hangs = why == ReaderThreads::GivenUp::kStuck;
        if (*hangs) count(true);
        stuck();
      });
}

// It may have changed since it was last asked for, because root's process may go over to another user; and who waits
// for a free thread asks often.
uid_t Pipeline::OwnerOf(const ProcessKey& process) {
  constexpr uint64_t kKnownForNs = 1'000'000'000;
  const auto found = targets_.find(process);
  if (found == targets_.end()) return hooks_.owner(process.pid);
  Target& target = *found->second;
  if (target.owner_at_ns == 0 || now_ns_ - target.owner_at_ns > kKnownForNs) {
    target.owner = hooks_.owner(process.pid);
    target.owner_at_ns = now_ns_;
  }
  return target.owner;
}

void Pipeline::Learn(Target& target, const ProcessLook& look) {
  target.Remember(look.code, look.mappings, look.space);
  // A child that is gone before it is looked at has the same.
  if (look.code.hash != 0 && !look.mappings.empty() && !code_lists_.contains(look.code.hash)) {
    On(CodeListEvent{look.code.hash, look.mappings});
  }
  for (const CodeMapping& mapping : look.mappings) {
    if (const MappedCode* piece = target.FindPiece(mapping)) files_.Learn(mapping, *piece);
  }
}

void Pipeline::OnLook(const ProcessKey& process, uint64_t number, ProcessLook&& look) {
  const auto found = targets_.find(process);
  if (found == targets_.end()) return;
  Target& target = *found->second;
  const bool given_up = !target.looking || target.looks != number;
  if (given_up) {  // it was only slow, and what it has seen is true of its time
    if (look.outcome != LookOutcome::kSeen) return;
    Learn(target, look);
    if (target.refused == NoUserStack::kTargetStuck) target.refused = NoUserStack::kNone;
    return;
  }
  target.looking = false;
  if (target.info.name.empty()) target.info.name = look.name;
  if (target.info.container.empty()) target.info.container = look.container;
  switch (look.outcome) {
    case LookOutcome::kGone:
      exited_.push_back(process);
      return Refuse(target, NoUserStack::kGone, 0);
    case LookOutcome::kUnreadable:
      return Refuse(target, NoUserStack::kUnreadableProcess, now_ns_ + config_.retry_ns);
    case LookOutcome::kStuck:
      return Refuse(target, NoUserStack::kTargetStuck, now_ns_ + config_.retry_ns);
    case LookOutcome::kChanging:
      if (++target.changing < kMaxChanging) {
        unasked_.insert(process);  // at the next tick
        return;
      }
      return Refuse(target, NoUserStack::kUnreadableProcess, now_ns_ + config_.retry_ns);
    case LookOutcome::kSeen:
      break;
  }
  target.changing = 0;
  const std::shared_ptr<const AddressSpace> previous = target.newest();
  Learn(target, look);
  Answer(target, look, previous);
  if (!target.waiting.empty()) Ask(process, target);
}

// A capture that came before the look began and does not match it is walked as far as its mappings have ever been seen:
// the others are gone. One that came later may match the next look.
void Pipeline::Answer(Target& target, const ProcessLook& look, const std::shared_ptr<const AddressSpace>& previous) {
  // Where there is no hash, code that is the same before and after a capture is taken to have been the same at it; that
  // can be wrong only if a library was exchanged for another and back in between.
  const bool same_around = previous != nullptr ? previous->SameCode(*look.space) : !config_.code_hash;
  const size_t count = target.waiting.size();
  for (size_t i = 0; i < count; ++i) {
    CaptureEvent event = TakeWaiting(target);
    if (const std::shared_ptr<const AddressSpace> space = target.Find(event.code)) {
      Walk(*space, event);
    } else if (i < target.asked && same_around && event.code.hash == 0) {
      Walk(*look.space, event);
    } else if (i < target.asked) {
      if (!WalkFromList(target, event, false)) Walk(AddressSpace({}), event, false);
    } else {
      waiting_bytes_ += event.stack.size();
      target.waiting.push_back(std::move(event));
    }
  }
}

void Pipeline::Refuse(Target& target, NoUserStack reason, uint64_t until_ns) {
  target.refused = reason;
  target.refused_until_ns = until_ns;
  while (!target.waiting.empty()) ResolveMissing(TakeWaiting(target), target, reason);
}

std::shared_ptr<const AddressSpace> Pipeline::Compose(const Target& target, const std::vector<CodeMapping>& mappings,
                                                      bool* whole) const {
  std::vector<MappedCode> known;
  for (const CodeMapping& mapping : mappings) {
    if (const MappedCode* own = target.FindPiece(mapping)) {
      known.push_back(*own);
      known.back().begin = mapping.begin;
      known.back().end = mapping.end;
    } else if (std::optional<MappedCode> shared = files_.Find(mapping)) {
      known.push_back(*std::move(shared));
    }
  }
  *whole = known.size() == mappings.size() && mappings.size() < kMaxListedMappings;  // a full list may go on
  return std::make_shared<const AddressSpace>(std::move(known));
}

bool Pipeline::WalkFromList(Target& target, const CaptureEvent& event, bool whole_only) {
  const auto list = code_lists_.find(event.code.hash);
  if (event.code.hash == 0 || list == code_lists_.end()) return false;
  bool whole = false;
  const std::shared_ptr<const AddressSpace> space = Compose(target, list->second, &whole);
  if (space->code().empty() || (whole_only && !whole)) return false;
  if (whole) target.AddVersion(event.code, space);
  Walk(*space, event, whole);
  return true;
}

void Pipeline::Walk(const AddressSpace& space, const CaptureEvent& event, bool whole) {
  const uint64_t begin = event.registers.sp();
  const uint64_t size = event.stack.size();
  if (begin > UINT64_MAX - size) return ResolveMissing(event.cookie, NoUserStack::kUnreadable);
  const SpanMemory memory(begin, event.stack);
  walker_.Walk(space, event.registers, event.in_syscall,
               {.memory = memory, .begin = begin, .end = begin + size, .more = event.more, .unread = event.unread},
               &scratch_);
  // A walk that leaves the mappings that are known may only have met one that is not.
  const bool left = scratch_.end == EndReason::kNotMapped || scratch_.end == EndReason::kBadReturnAddress;
  if (!whole && left) scratch_.end = EndReason::kMapsChanged;
  if (whole && left) LookAgain(event.process);
  CountWalk();
  if (scratch_.end == EndReason::kWindow && size < kMaxCaptureBytes) {
    hooks_.grow_window(event.tid, static_cast<uint32_t>(std::min<uint64_t>(size * 4, kMaxCaptureBytes)));
  }
  Resolve(event.cookie, scratch_);
}

// Code in memory that may also be written can be mapped without a change of the hash: see code.bpf.h. Whoever has such
// code is looked at again, for the captures to come.
void Pipeline::LookAgain(const ProcessKey& process) {
  const auto found = targets_.find(process);
  if (found == targets_.end() || now_ns_ < found->second->look_again_ns) return;
  if (!MayBeLookedAt(process, *found->second)) return;
  found->second->look_again_ns = now_ns_ + kLookAgainNs;
  Ask(process, *found->second);
}

void Pipeline::Resolve(uint64_t cookie, const UserStack& stack) {
  current_->Resolve(cookie, stack);
  if (closing_ != nullptr && closing_->IsWaitedFor(cookie)) closing_->Resolve(cookie, stack);
  const LiveWait* wait = live_.Resolve(cookie, stack);
  if (wait != nullptr && wait->cookie != cookie) Resolve(wait->cookie, stack);
}

void Pipeline::CountWalk() {
  ProfileStats& stats = current_->stats();
  ++walks_;
  ++stats.walks;
  ++stats.walk_ends[static_cast<size_t>(scratch_.end)];
  bool one_source = scratch_.frames.size() > 1;
  for (const Frame& frame : scratch_.frames) {
    ++stats.frames_by_source[static_cast<size_t>(frame.source)];
    if (&frame != &scratch_.frames.front()) one_source &= frame.source == scratch_.frames.back().source;
  }
  if (scratch_.end == EndReason::kComplete && one_source) {
    ++stats.complete_walks_by_source[static_cast<size_t>(scratch_.frames.back().source)];
  }
}

// The process cannot be looked at (any more): part of the stack is better than none.
void Pipeline::ResolveMissing(const CaptureEvent& event, Target& target, NoUserStack reason) {
  if (!WalkFromList(target, event, false)) ResolveMissing(event.cookie, reason);
}

void Pipeline::ResolveMissing(uint64_t cookie, NoUserStack reason) {
  current_->ResolveMissing(cookie, reason);
  if (closing_ != nullptr && closing_->IsWaitedFor(cookie)) closing_->ResolveMissing(cookie, reason);
  live_.Fail(cookie, reason);
}

void Pipeline::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  readers_.Poll();
  current_->Advance(now_ns);
  if (closing_ != nullptr) closing_->Advance(now_ns);
  SubmitReading();
  GiveUpStale(now_ns);
  if (unasked_.empty()) return;
  const std::vector<ProcessKey> again(unasked_.begin(), unasked_.end());
  unasked_.clear();
  for (const ProcessKey& process : again) {
    const auto found = targets_.find(process);
    if (found != targets_.end()) Ask(process, *found->second);
  }
}

}  // namespace offcpu
