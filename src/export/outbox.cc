#include "export/outbox.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "export/export_losses.h"
#include "export/spool_time.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

constexpr uint64_t kInMemory = uint64_t{1} << 63;  // in the number of a record that is not on disk

std::unique_ptr<Spool> OpenSpool(const std::string& directory, const SpoolLimits& limits, const Say& say) {
  if (directory.empty()) return nullptr;
  absl::StatusOr<std::unique_ptr<Spool>> spool = Spool::Open(directory, limits);
  if (spool.ok()) return *std::move(spool);
  say(true, absl::StrCat(std::string(spool.status().message()), ": windows wait in memory"));
  return nullptr;
}

}  // namespace

Outbox::Outbox(const std::string& spool, const OutboxLimits& limits, Say say)
    : limits_(limits), say_(std::move(say)), spool_(OpenSpool(spool, limits.spool, say_)) {}

void Outbox::Keep(SpoolRecord record) {
  if (spool_ == nullptr || !IsSpooled(record)) KeepInMemory(std::move(record));
}

// One that is larger than the spool is lost there, and not small enough for memory either. An error is said once: its
// message has a name in it that differs from record to record.
bool Outbox::IsSpooled(const SpoolRecord& record) {
  const absl::Status status = spool_->Append(record, SpoolTimeNow());
  absl::StatusCode before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(spool_error_, status.code());
  }
  if (!status.ok() && status.code() != before) say_(true, std::string(status.message()));
  return status.ok() || kSpoolHeaderBytes + record.body.size() > limits_.spool.bytes;
}

// The spool has counted it as not written, until it is delivered all the same.
void Outbox::KeepInMemory(SpoolRecord record) {
  const std::lock_guard lock(mutex_);
  record.number = kInMemory | ++memory_records_;
  memory_bytes_ += record.body.size();
  memory_.push_back(std::move(record));
  while (memory_bytes_ > limits_.memory_bytes && memory_.back().number != sending_) DropFromMemoryLocked();
}

// The oldest that is not being sent: that one may be delivered yet.
void Outbox::DropFromMemoryLocked() {
  const auto oldest = memory_.cbegin() + (memory_.front().number == sending_ ? 1 : 0);
  if (spool_ == nullptr) {
    AddLoss({.reason = kNoRoomInMemory, .count = 1, .ns = ShareOfWindowNs(*oldest)}, losses_);
  } else {
    spool_->LostUnwritten(*oldest);
  }
  RemoveFromMemoryLocked(oldest);
}

void Outbox::RemoveFromMemoryLocked(std::deque<SpoolRecord>::const_iterator record) {
  memory_bytes_ -= record->body.size();
  memory_.erase(record);
}

std::optional<SpoolRecord> Outbox::Oldest() {
  if (spool_ != nullptr) {
    if (std::optional<SpoolRecord> record = spool_->Oldest(SpoolTimeNow())) return record;
  }
  const std::lock_guard lock(mutex_);
  if (memory_.empty()) return std::nullopt;
  sending_ = memory_.front().number;
  return memory_.front();
}

void Outbox::Settle(const SpoolRecord& record, Fate fate) {
  if (fate == Fate::kLater) return;
  if ((record.number & kInMemory) != 0) return SettleInMemory(record, fate);
  fate == Fate::kRefused ? spool_->SetAside(record.number) : spool_->Done(record.number);
}

void Outbox::SettleInMemory(const SpoolRecord& record, Fate fate) {
  if (spool_ != nullptr) spool_->DeliveredUnwritten(record);
  const std::lock_guard lock(mutex_);
  if (fate == Fate::kRefused) {
    const std::string reason(Name(SpoolLoss::kRefused));
    AddLoss({.reason = reason, .count = 1, .ns = ShareOfWindowNs(record)}, losses_);
  }
  sending_ = 0;
  RemoveFromMemoryLocked(memory_.cbegin());
}

void Outbox::Close() {
  bool is_well = spool_ != nullptr;
  while (is_well && !memory_.empty()) {           // nobody else changes it any more
    spool_->DeliveredUnwritten(memory_.front());  // it was counted as not written, and may be once more
    is_well = IsSpooled(memory_.front());
    const std::lock_guard lock(mutex_);
    if (is_well) RemoveFromMemoryLocked(memory_.cbegin());
  }
  if (!memory_.empty()) say_(true, absl::StrCat(memory_.size(), " unsent requests in memory are lost"));
  const std::lock_guard lock(mutex_);
  sending_ = 0;
  while (!memory_.empty()) DropFromMemoryLocked();
}

OutboxStats Outbox::stats() const {
  const std::lock_guard lock(mutex_);
  OutboxStats stats{.records = memory_.size(), .bytes = memory_bytes_, .memory_losses = losses_};
  if (!memory_.empty()) stats.oldest_start_unix_ns = memory_.front().start_unix_ns;
  if (spool_ == nullptr) return stats;
  const SpoolStats spool = spool_->stats();
  stats.records += spool.records;
  stats.bytes += spool.bytes;
  if (spool.oldest_start_unix_ns != 0) stats.oldest_start_unix_ns = spool.oldest_start_unix_ns;
  for (size_t i = 0; i < spool.lost.size(); ++i) {
    const std::string reason(Name(static_cast<SpoolLoss>(i)));
    const SpoolLost& lost = spool.lost[i];
    if (lost.records != 0) stats.spool_losses.push_back({.reason = reason, .count = lost.records, .ns = lost.ns});
  }
  return stats;
}

}  // namespace offcpu
