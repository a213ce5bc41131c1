#include "recorder/targets.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace offcpu {
namespace {

constexpr uint64_t kChangesForNs = 1'000'000'000;  // at most, until a process is not looked at for a while
constexpr uint64_t kSnapshotAgainNs = 1'000'000'000;
constexpr uint64_t kOwnerKnownForNs = 1'000'000'000;

// The code of a capture that was made before the snapshot began.
CaptureCode CodeAtSnapshot(Target& target, const KnownCode& known, const CaptureEvent& event,
                           const ProcessSnapshot& snapshot, bool same_around) {
  if (std::shared_ptr<const AddressSpace> space = target.Find(known.Trusted(event.code))) return {std::move(space)};
  if (same_around && event.code.hash == 0) return {snapshot.space};
  // Those of its mappings that have never been seen are gone.
  if (std::optional<CaptureCode> part = known.FindPart(target, event.code)) return *std::move(part);
  return {.space = std::make_shared<const AddressSpace>(std::vector<MappedCode>()), .whole = false};
}

}  // namespace

Targets::Targets(const TargetsConfig& config, std::shared_ptr<Host> host, Stacks& stacks, uint64_t now_ns)
    : config_(config),
      host_(std::move(host)),
      stacks_(stacks),
      readers_(host_->readers(), config.deadline),
      code_(*host_),
      table_(config.processes),
      now_ns_(now_ns) {}

// A new process is looked at before its first capture comes: it may not live long. Should it end before that, its main
// thread's events have its name.
Target* Targets::FindOrAdd(const ProcessKey& process, int32_t tid, const std::string& comm) {
  const TargetTable::Heard heard = table_.HearOf(process, tid, comm);
  if (heard.is_new) Ask(process, *heard.target);
  return heard.target;
}

// The program that called execve is gone; it makes no exit event under its old key.
void Targets::OnExec(const ProcessKey& process) {
  ProcessKey before = process;
  --before.exec_id;
  OnExit(before);
  HearOf(process, process.pid, {});
}

void Targets::OnCapture(CaptureEvent&& event) {
  const ProcessKey process = event.process;
  Target* target = FindOrAdd(process, event.tid, {});
  if (target == nullptr) return stacks_.Fail(event.cookie, NoUserStack::kOverload);
  // What is known already serves even a process that is gone.
  if (std::optional<CaptureCode> code = code_.FindWhole(*target, event.code)) {
    MakeReady(*target, std::move(event), *std::move(code));
    if (target->runtime.form == RuntimeForm::kNotYet) SnapshotAgain(process);
    return;
  }
  if (!MayHaveSnapshot(process, *target)) return WalkPartOrGiveUp(*target, std::move(event), target->refused);
  Wait(process, *target, std::move(event));
}

bool Targets::MayHaveSnapshot(const ProcessKey& process, Target& target) const {
  if (target.refused == NoUserStack::kNone) return true;
  // A first thread that has ended takes its view of the memory along; the others still have theirs.
  const bool other_thread = target.asked_tid == process.pid && target.tid != process.pid;
  if (target.refused == NoUserStack::kUnreadableProcess && other_thread) {
    target.refused = NoUserStack::kNone;
    return true;
  }
  if (target.refused_until_ns == 0 || now_ns_ < target.refused_until_ns) return false;
  // As long as one is stuck there, another snapshot would only lose another thread.
  if (target.refused == NoUserStack::kTargetStuck && target.stuck_reads != 0) return false;
  target.refused = NoUserStack::kNone;
  return true;
}

void Targets::Wait(const ProcessKey& process, Target& target, CaptureEvent&& event) {
  if (waiting_bytes_ + event.bytes() > config_.waiting_bytes) {
    ++waiting_over_limit_;
    return stacks_.Fail(event.cookie, NoUserStack::kOverload);
  }
  waiting_bytes_ += event.bytes();
  target.waiting.push_back(std::move(event));
  Ask(process, target);
}

CaptureEvent Targets::TakeWaiting(Target& target) {
  CaptureEvent event = std::move(target.waiting.front());
  target.waiting.pop_front();
  waiting_bytes_ -= event.bytes();
  return event;
}

void Targets::Ask(const ProcessKey& process, Target& target) {
  if (target.is_being_read) return;
  if (now_ns_ < target.pace.next_ns()) {
    if (!target.waiting.empty()) unasked_.insert(process);
    return;
  }
  const std::shared_ptr<const AddressSpace> previous = target.newest();
  const uint64_t number = target.snapshots + 1;
  // The job holds copies only: it may be abandoned and outlive this.
  const ReadTaken taken = Read(
      process, OwnerOf(process),
      [this, process, number, tid = target.tid, previous, runtime = target.runtime,
       host = host_]() -> ReaderThreads::Completion {
        auto result = std::make_shared<ProcessSnapshot>(host->Snapshot(process, tid, previous.get()));
        result->runtime = runtime;
        if (runtime.form != RuntimeForm::kServed && result->space != nullptr)
          host->FindRuntime(process, tid, result.get());
        return [this, process, number, result] { OnSnapshot(process, number, std::move(*result)); };
      },
      [this, process, number] { OnSnapshot(process, number, {.outcome = SnapshotOutcome::kStuck}); });
  if (taken == ReadTaken::kFull) {
    unasked_.insert(process);
    return;
  }
  unasked_.erase(process);
  if (taken == ReadTaken::kUserStuck) return Refuse(target, NoUserStack::kTargetStuck, now_ns_ + config_.retry_ns);
  target.is_being_read = true;
  target.snapshots = number;
  target.asked = target.waiting.size();
  target.asked_tid = target.tid;
}

// Code in memory that may also be written can be mapped without a change of the hash: see code.bpf.h. A process that
// has such code is looked at again, for the captures to come, and so is one whose runtime is only starting.
void Targets::SnapshotAgain(const ProcessKey& process) {
  Target* target = table_.Find(process);
  if (target == nullptr || now_ns_ < target->snapshot_again_ns) return;
  if (!MayHaveSnapshot(process, *target)) return;
  target->snapshot_again_ns = now_ns_ + kSnapshotAgainNs;
  Ask(process, *target);
}

ReadTaken Targets::Read(const ProcessKey& process, uid_t owner, ReaderThreads::Job job, std::function<void()> stuck) {
  const auto hangs = std::make_shared<bool>(false);
  return readers_.Submit(
      owner,
      [this, process, hangs, job = std::move(job)]() -> ReaderThreads::Completion {
        return [this, process, hangs, completion = job()] {
          if (*hangs) CountStuck(process, false);
          completion();
        };
      },
      [this, process, hangs, stuck = std::move(stuck)](ReaderThreads::GivenUp why) {
        *hangs = why == ReaderThreads::GivenUp::kStuck;
        if (*hangs) CountStuck(process, true);
        stuck();
      });
}

void Targets::CountStuck(const ProcessKey& process, bool hangs) {
  Target* target = table_.Find(process);
  if (target == nullptr) return;
  size_t& reads = target->stuck_reads;
  reads = hangs ? reads + 1 : reads - std::min<size_t>(reads, 1);
}

bool Targets::IsStuck(const ProcessKey& process) const {
  const Target* target = table_.Find(process);
  return target != nullptr && target->stuck_reads != 0;
}

// It may have changed since it was last asked for, because root's process may go over to another user; and who waits
// for a free thread asks often.
uid_t Targets::OwnerOf(const ProcessKey& process) {
  Target* target = table_.Find(process);
  if (target == nullptr) return host_->OwnerOf(process.pid);
  if (target->owner_at_ns == 0 || now_ns_ - target->owner_at_ns > kOwnerKnownForNs) {
    target->owner = host_->OwnerOf(process.pid);
    target->owner_at_ns = now_ns_;
  }
  return target->owner;
}

void Targets::OnSnapshot(const ProcessKey& process, uint64_t number, ProcessSnapshot&& snapshot) {
  Target* target = table_.Find(process);
  if (target == nullptr) return;
  target->pace.Spend(snapshot.cpu_ns, now_ns_);
  const bool given_up = !target->is_being_read || target->snapshots != number;
  if (given_up) return OnLateSnapshot(*target, snapshot);
  target->is_being_read = false;
  if (target->info.name.empty()) target->info.name = snapshot.name;
  if (target->info.container.empty()) target->info.container = snapshot.container;
  if (target->info.executable.empty()) target->info.executable = snapshot.executable;
  if (target->info.service == ServiceNames()) target->info.service = snapshot.service;
  switch (snapshot.outcome) {
    case SnapshotOutcome::kSeen:
      return OnSeen(process, *target, snapshot);
    case SnapshotOutcome::kGone:
      OnExit(process);
      return Refuse(*target, NoUserStack::kGone, 0);
    case SnapshotOutcome::kStuck:
      return Refuse(*target, NoUserStack::kTargetStuck, now_ns_ + config_.retry_ns);
    case SnapshotOutcome::kChanging:
      if (target->changes_since_ns == 0) target->changes_since_ns = now_ns_;
      if (now_ns_ - target->changes_since_ns < kChangesForNs) {
        unasked_.insert(process);  // at the next tick
        return;
      }
      return Refuse(*target, NoUserStack::kChangingProcess, now_ns_ + config_.retry_ns);
    case SnapshotOutcome::kUnreadable:
      return Refuse(*target, NoUserStack::kUnreadableProcess, now_ns_ + config_.retry_ns);
  }
}

// It was only slow, and what it has seen is true of its time.
void Targets::OnLateSnapshot(Target& target, const ProcessSnapshot& snapshot) {
  if (snapshot.outcome != SnapshotOutcome::kSeen) return;
  if (!code_.Learn(target, snapshot)) VoidCode(snapshot.code.hash);
  if (target.runtime.form != RuntimeForm::kServed) target.runtime = snapshot.runtime;
  if (target.refused == NoUserStack::kTargetStuck) target.refused = NoUserStack::kNone;
}

void Targets::OnSeen(const ProcessKey& process, Target& target, const ProcessSnapshot& snapshot) {
  target.changes_since_ns = 0;
  // Where there is no hash, code that is the same before and after a capture is taken to have been the same at it; that
  // can be wrong only if a library was exchanged for another and back in between.
  const std::shared_ptr<const AddressSpace> previous = target.newest();
  const bool same_around = previous != nullptr ? previous->SameCode(*snapshot.space) : !config_.code_hash;
  if (!code_.Learn(target, snapshot)) VoidCode(snapshot.code.hash);
  if (target.runtime.form != RuntimeForm::kServed) target.runtime = snapshot.runtime;
  std::deque<CaptureEvent> waiting = std::exchange(target.waiting, {});
  for (size_t i = 0; i < waiting.size(); ++i) {
    CaptureEvent& event = waiting[i];
    if (i < target.asked || target.Find(code_.Trusted(event.code)) != nullptr) {
      waiting_bytes_ -= event.bytes();
      CaptureCode code = CodeAtSnapshot(target, code_, event, snapshot, same_around);
      MakeReady(target, std::move(event), std::move(code));
    } else {  // it came while the snapshot was under way, and may match the next one
      target.waiting.push_back(std::move(event));
    }
  }
  if (!target.waiting.empty()) Ask(process, target);
}

void Targets::Refuse(Target& target, NoUserStack reason, uint64_t until_ns) {
  target.refused = reason;
  target.refused_until_ns = until_ns;
  while (!target.waiting.empty()) WalkPartOrGiveUp(target, TakeWaiting(target), reason);
}

void Targets::WalkPartOrGiveUp(Target& target, CaptureEvent&& event, NoUserStack reason) {
  if (std::optional<CaptureCode> code = code_.FindPart(target, event.code)) {
    MakeReady(target, std::move(event), *std::move(code));
  } else {
    stacks_.Fail(event.cookie, reason);
  }
}

void Targets::MakeReady(const Target& target, CaptureEvent&& event, CaptureCode code) {
  code.runtime = target.runtime.runtime;
  code.is_starting = target.runtime.form == RuntimeForm::kNotYet;
  ready_.push_back({std::move(event), std::move(code)});
}

void Targets::OnCodeList(CodeListEvent&& event) {
  const uint64_t hash = event.hash;
  if (!code_.Learn(std::move(event))) VoidCode(hash);
}

void Targets::VoidCode(uint64_t hash) {
  for (const auto& [process, target] : table_.targets()) target->ForgetVersion(hash);
  stacks_.known().Distrust(hash);
}

void Targets::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  readers_.Poll();
  if (unasked_.empty()) return;
  const std::vector<ProcessKey> again(unasked_.begin(), unasked_.end());
  unasked_.clear();
  for (const ProcessKey& process : again) {
    if (Target* target = table_.Find(process)) Ask(process, *target);
  }
}

void Targets::GiveUpAll() {
  for (const auto& [process, target] : table_.targets()) {
    const NoUserStack reason = target->is_being_read ? NoUserStack::kTargetStuck : NoUserStack::kOverload;
    while (!target->waiting.empty()) stacks_.Fail(TakeWaiting(*target).cookie, reason);
  }
}

}  // namespace offcpu
