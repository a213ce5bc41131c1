#include "recorder/ledger_maker.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_set.h"
#include "profile/losses.h"

namespace offcpu {
namespace {

// The indices of `profile.processes`, to which those that have no rows are added, and the names that they lack.
class ProcessIndex {
 public:
  explicit ProcessIndex(Profile& profile) : profile_(profile) {
    for (uint32_t i = 0; i < profile.processes.size(); ++i) index_.emplace(profile.processes[i].key, i);
  }
  uint32_t FindOrAdd(const ThreadAccount& account) {
    const ProcessKey& key = account.process;
    const auto [it, inserted] = index_.try_emplace(key, static_cast<uint32_t>(profile_.processes.size()));
    if (inserted) profile_.processes.push_back({.key = key, .name = {}, .container = {}});
    std::string& name = profile_.processes[it->second].name;
    if (name.empty() && account.tid == key.pid) name = account.comm;
    return it->second;
  }

 private:
  Profile& profile_;
  absl::flat_hash_map<ProcessKey, uint32_t> index_;
};

// A thread that calls execve takes the number of the first one, and for a while both have been threads of one program.
void MergeSame(std::vector<LedgerEntry>& sorted) {
  size_t kept = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].process == sorted[kept].process && sorted[i].tid == sorted[kept].tid) {
      AddTimes(sorted[i], sorted[kept]);
    } else if (++kept != i) {
      sorted[kept] = std::move(sorted[i]);
    }
  }
  if (!sorted.empty()) sorted.resize(kept + 1);
}

// Losses second accounts: a thread that ended after it had been listed has sent one more.
void LossToldTwice(std::vector<ThreadAccount>& accounts) {
  absl::flat_hash_set<std::tuple<ProcessKey, int32_t, uint64_t>> open;
  std::erase_if(accounts, [&open](const ThreadAccount& account) {
    return account.until_ns == 0 && !open.emplace(account.process, account.tid, account.since_ns).second;
  });
}

void Move(uint64_t ns, uint64_t& from, uint64_t& to) {
  ns = std::min(ns, from);
  from -= ns;
  to += ns;
}

}  // namespace

void LedgerMaker::Add(ThreadAccount account) {
  if (accounts_.size() < max_threads_) {
    accounts_.push_back(std::move(account));
  } else {
    ++over_limit_;
  }
}

void LedgerMaker::AddWaits(const std::vector<WaitingThread>& threads, const OpenWaitsConfig& config) {
  for (const WaitingThread& thread : threads) {
    if (!thread.open.has_value()) continue;
    waits_.insert_or_assign({thread.process, thread.tid},
                            {.wait = *thread.open, .loss = WhyLeftOut(*thread.open, config)});
  }
}

void LedgerMaker::AddDropped(const EventQueueStats& queue) { dropped_ = queue.dropped; }

// On the CPU it may have been charged beyond the end, and was charged before the start if it had come by then.
void LedgerMaker::BookLastStretch(const ThreadAccount& account, const RecordedSpan& span, LedgerEntry& entry) const {
  const uint64_t begin = std::max(account.is_new ? span.end_ns : account.out_ns, span.start_ns);
  const uint64_t length = span.end_ns > begin ? span.end_ns - begin : 0;
  const auto wait = waits_.find({account.process, account.tid});
  if (wait != waits_.end()) {
    const auto& [last, loss] = wait->second;
    if (account.is_new) entry.wall_ns = last.blocked_ns + last.runnable_ns;
    if (loss.has_value()) {
      entry.lost_ns[static_cast<size_t>(*loss)] += last.blocked_ns + last.runnable_ns;
    } else {
      entry.blocked_ns += last.blocked_ns;
      entry.runnable_ns += last.runnable_ns;
    }
  } else if (account.out_ns != 0 || account.arrived_ns == 0) {
    // It waited. But it was dead when waits were listed, or had slept throughout and has run more than once since.
    entry.lost_ns[static_cast<size_t>(LostTime::kGoneAtEnd)] += length;
  } else if (account.arrived_ns < span.end_ns) {
    const uint64_t before = account.arrived_ns < span.start_ns ? span.start_ns - account.arrived_ns : 0;
    const uint64_t most = span.end_ns - std::max(account.arrived_ns, span.start_ns);
    entry.on_cpu_ns += std::min(account.not_booked_ns - std::min(before, account.not_booked_ns), most);
  }
}

void LedgerMaker::MoveDropped(const ThreadKey& thread, LedgerEntry& entry) const {
  const auto dropped = dropped_.find(thread);
  if (dropped == dropped_.end()) return;
  uint64_t& lost = entry.lost_ns[static_cast<size_t>(LostTime::kQueueFull)];
  Move(dropped->second.blocked_ns, entry.blocked_ns, lost);
  Move(dropped->second.runnable_ns, entry.runnable_ns, lost);
}

LedgerEntry LedgerMaker::EntryOf(const ThreadAccount& account, const RecordedSpan& span) const {
  LedgerEntry entry{.tid = account.tid,
                    .comm = account.comm,
                    .on_cpu_ns = account.on_cpu_ns,
                    .stolen_ns = account.stolen_ns,
                    .blocked_ns = account.blocked_ns,
                    .runnable_ns = account.runnable_ns,
                    .lost_ns = account.lost_ns};
  const uint64_t since = std::max(account.since_ns, span.start_ns);
  const uint64_t until = account.until_ns == 0 ? span.end_ns : std::min(account.until_ns, span.end_ns);
  if (!account.is_new) entry.wall_ns = until > since ? until - since : 0;
  // A program that began before the end may have booked what came after it.
  if (account.out_ns > span.end_ns) entry.on_cpu_ns -= std::min(account.out_ns - span.end_ns, entry.on_cpu_ns);
  if (account.until_ns == 0) BookLastStretch(account, span, entry);
  MoveDropped({account.process, account.tid}, entry);
  return entry;
}

void LedgerMaker::Finish(const RecordedSpan& span, Profile& profile) {
  ProcessIndex index(profile);
  LossToldTwice(accounts_);
  for (const ThreadAccount& account : accounts_) {
    LedgerEntry entry = EntryOf(account, span);
    if (entry.wall_ns == 0) continue;  // made at the very end
    entry.process = index.FindOrAdd(account);
    profile.ledger.push_back(std::move(entry));
  }
  std::sort(profile.ledger.begin(), profile.ledger.end(), [](const LedgerEntry& a, const LedgerEntry& b) {
    return std::tie(a.process, a.tid) < std::tie(b.process, b.tid);
  });
  MergeSame(profile.ledger);
  if (over_limit_ != 0) profile.stats.losses.push_back(LossOf(LossId::kLedgerFull, over_limit_));
}

}  // namespace offcpu
