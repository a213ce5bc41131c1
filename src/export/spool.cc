#include "export/spool.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "export/spool_files.h"
#include "export/spool_refused.h"

namespace offcpu {
namespace {

constexpr char kLosses[] = "losses";
constexpr mode_t kFileMode = 0600;

std::string RecordName(uint64_t number) { return SpoolFileName(number, kRecordSuffix); }

bool IsLeftover(std::string_view name) {
  const std::string_view suffix = kTemporarySuffix;
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return name == kLosses || SpoolFileNumber(name, kRecordSuffix) != 0;
}

bool RemoveRegularFile(const OwnedFd& directory, const std::string& name) {
  struct stat st = {};
  return fstatat(directory.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
         unlinkat(directory.get(), name.c_str(), 0) == 0;
}

// Nothing of what never was counted.
void TakeFrom(const SpoolRecord& record, SpoolLost& lost) {
  const uint64_t ns = ShareOfWindowNs(record);
  if (lost.records == 0 || lost.ns < ns) return;
  --lost.records;
  lost.ns -= ns;
}

absl::Status About(const std::string& directory, const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat("cannot use the spool ", directory, ": ", status.message())};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Spool>> Spool::Open(const std::string& directory, const SpoolLimits& limits) {
  absl::StatusOr<LockedDirectory> fd = OpenDirectoryAlone(directory, S_IRWXU);
  if (!fd.ok()) return fd.status();
  std::unique_ptr<Spool> spool(new Spool(directory, *std::move(fd), limits));
  if (absl::Status status = About(directory, spool->ReadLosses()); !status.ok()) return status;
  if (absl::Status status = About(directory, spool->FindRecords()); !status.ok()) return status;
  spool->MakeRoom(0, 0);
  // Without this a spool that cannot be written would look well until the first window is lost.
  const absl::Status saved = About(directory, spool->Save());
  if (!saved.ok() && !absl::IsResourceExhausted(saved)) return saved;
  spool->Publish();
  return spool;
}

Spool::~Spool() {
  if (knows_losses_) Save().IgnoreError();  // for the next number
}

absl::Status Spool::ReadLosses() {
  const FileStart file = ReadWholeFile(directory_, kLosses, kSpoolLedgerBytes);
  if (file.outcome == FileRead::kTryLater) return absl::UnavailableError("cannot read what was lost so far");
  knows_losses_ = true;
  if (file.outcome == FileRead::kGone) return absl::OkStatus();
  absl::StatusOr<SpoolLedger> ledger = ParseSpoolLedger(file.bytes);
  if (ledger.ok()) {
    ledger_ = *ledger;
  } else {
    Count(SpoolLoss::kDamaged, 0);  // the count of losses is itself one
  }
  return absl::OkStatus();
}

absl::Status Spool::FindRecords() {
  std::set<uint64_t> numbers;
  std::vector<std::string> leftovers;
  absl::Status listed = ListDirectory(directory_, [&](const char* name) {
    if (const uint64_t number = SpoolFileNumber(name, kRecordSuffix); number != 0) numbers.insert(number);
    if (IsLeftover(name)) leftovers.emplace_back(name);
  });
  if (!listed.ok()) return listed;
  for (const std::string& name : leftovers) unlinkat(directory_.get(), name.c_str(), 0);
  uint64_t highest = HighestRefused(directory_);
  if (!numbers.empty()) highest = std::max(highest, *numbers.rbegin());
  ledger_.next_number = std::max(ledger_.next_number, highest + 1);
  // First of all, because the next loss is written over the last one.
  const auto end = numbers.upper_bound(ledger_.removed_last);
  for (auto number = numbers.lower_bound(ledger_.removed_first); number != end;) {
    number = RemoveRegularFile(directory_, RecordName(*number)) ? numbers.erase(number) : std::next(number);
  }
  for (const uint64_t number : numbers) {
    if (absl::Status status = FindRecord(number); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Spool::FindRecord(uint64_t number) {
  const std::string name = RecordName(number);
  const FileStart file = ReadFileStart(directory_, name, kSpoolHeaderBytes);
  if (file.outcome == FileRead::kTryLater) return absl::UnavailableError(absl::StrCat("cannot read ", name));
  if (file.outcome == FileRead::kNotRegular || file.outcome == FileRead::kGone) return absl::OkStatus();  // not ours
  const absl::StatusOr<SpoolHeader> header = ParseSpoolHeader(file.bytes);
  const bool is_ours = header.ok() && header->number == number;
  const uint64_t share_ns = is_ours ? ShareOfWindowNs(header->duration_ns, header->part, header->parts) : 0;
  if (!is_ours || header->file_bytes() != file.file_bytes) {
    LoseAside(number, SpoolLoss::kDamaged, share_ns);
    return absl::OkStatus();
  }
  entries_[number] = {.bytes = file.file_bytes,
                      .start_unix_ns = header->start_unix_ns,
                      .share_ns = share_ns,
                      .appended = header->appended};
  bytes_ += file.file_bytes;
  return absl::OkStatus();
}

absl::Status Spool::Append(const SpoolRecord& record, const SpoolTime& now) {
  const std::lock_guard lock(mutex_);
  const absl::Status status = AppendLocked(record, now);
  Publish();
  return About(path_, status);
}

absl::Status Spool::AppendLocked(const SpoolRecord& record, const SpoolTime& now) {
  DropTooOld(now);
  SpoolLoss loss = SpoolLoss::kNotWritten;
  absl::Status status;
  if (const uint64_t bytes = kSpoolHeaderBytes + record.body.size(); bytes > limits_.bytes || limits_.records == 0) {
    loss = SpoolLoss::kOverBytes;
    status =
        absl::ResourceExhaustedError(absl::StrCat("a window of ", bytes, " bytes is larger than the spool may be"));
  } else {
    MakeRoom(bytes, 1);
    status = WriteLocked(record, now);
  }
  if (status.ok()) return status;
  const uint64_t ns = ShareOfWindowNs(record);
  Count(loss, ns);
  Save().IgnoreError();  // Publish tries again
  if (loss == SpoolLoss::kNotWritten) {
    const std::lock_guard lock(stats_mutex_);
    ++unwritten_.records;
    unwritten_.ns += ns;
  }
  return status;
}

absl::Status Spool::WriteLocked(const SpoolRecord& record, const SpoolTime& now) {
  const uint64_t number = ledger_.next_number;
  const absl::StatusOr<SpoolHeader> header = MakeSpoolHeader(record, number, now);
  if (!header.ok()) return header.status();
  const std::string name = RecordName(number);
  absl::Status status = WriteWholeFile(directory_, name, {EncodeSpoolHeader(*header), record.body}, kFileMode);
  if (!status.ok()) {
    // It may be there, but is not known to be on the disk.
    unlinkat(directory_.get(), name.c_str(), 0);
    return status;
  }
  ++ledger_.next_number;
  entries_[number] = {.bytes = header->file_bytes(),
                      .start_unix_ns = header->start_unix_ns,
                      .share_ns = ShareOfWindowNs(header->duration_ns, header->part, header->parts),
                      .appended = now};
  bytes_ += header->file_bytes();
  return absl::OkStatus();
}

std::optional<SpoolRecord> Spool::Oldest(const SpoolTime& now) {
  const std::lock_guard lock(mutex_);
  std::optional<SpoolRecord> record = OldestLocked(now);
  Publish();
  return record;
}

std::optional<SpoolRecord> Spool::OldestLocked(const SpoolTime& now) {
  DecideTaken();
  DropTooOld(now);
  while (!entries_.empty()) {
    const auto [number, entry] = *entries_.begin();
    FileStart file = ReadWholeFile(directory_, RecordName(number), static_cast<size_t>(entry.bytes));
    if (file.outcome == FileRead::kTryLater) return std::nullopt;
    absl::StatusOr<SpoolRecord> record = ParseSpoolRecord(std::move(file.bytes));
    if (file.outcome == FileRead::kRead && record.ok() && record->number == number) {
      taken_ = number;
      return *std::move(record);
    }
    LoseAside(number, SpoolLoss::kDamaged, entry.share_ns);
  }
  return std::nullopt;
}

void Spool::Done(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (undecided_.has_value() && undecided_->number == number) {
    undecided_.reset();
    is_saved_ = false;  // the file has it as lost
  }
  if (const auto entry = entries_.find(number); entry != entries_.end()) {
    unlinkat(directory_.get(), RecordName(number).c_str(), 0);
    Forget(entry);
  }
  if (taken_ == number) taken_ = 0;
  Publish();
}

void Spool::DeliveredUnwritten(const SpoolRecord& record) {
  const std::lock_guard lock(mutex_);
  TakeFrom(record, ledger_.losses[static_cast<size_t>(SpoolLoss::kNotWritten)]);
  is_saved_ = false;
  Save().IgnoreError();  // Publish tries again
  {
    const std::lock_guard stats_lock(stats_mutex_);
    TakeFrom(record, unwritten_);
  }
  Publish();
}

void Spool::LostUnwritten(const SpoolRecord& record) {
  const std::lock_guard lock(stats_mutex_);
  const SpoolLost before = unwritten_;
  TakeFrom(record, unwritten_);
  SpoolLost& told = stats_.lost[static_cast<size_t>(SpoolLoss::kNotWritten)];
  told.records += before.records - unwritten_.records;
  told.ns += before.ns - unwritten_.ns;
}

void Spool::SetAside(uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (undecided_.has_value() && undecided_->number == number) {
    Count(SpoolLoss::kRefused, undecided_->share_ns);
    undecided_.reset();
  }
  if (const auto entry = entries_.find(number); entry != entries_.end()) {
    LoseAside(number, SpoolLoss::kRefused, entry->second.share_ns);
  }
  if (taken_ == number) taken_ = 0;
  Publish();
}

SpoolStats Spool::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

void Spool::Count(SpoolLoss loss, uint64_t ns) {
  SpoolLost& lost = ledger_.losses[static_cast<size_t>(loss)];
  ++lost.records;
  lost.ns += ns;
  is_saved_ = false;
}

// A sender that asks for another record has given up the one before.
void Spool::DecideTaken() {
  taken_ = 0;
  if (!undecided_.has_value()) return;
  const bool was_saved = is_saved_;
  Count(undecided_->loss, undecided_->share_ns);
  undecided_.reset();
  is_saved_ = was_saved;  // the file has counted it all the time
}

void Spool::DropTooOld(const SpoolTime& now) {
  if (!first_boot_ns_.has_value()) first_boot_ns_ = now.boot_ns;
  const auto end = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return WaitedNs(entry.second.appended, now, *first_boot_ns_) <= limits_.age_ns;
  });
  DropUntil(end, SpoolLoss::kTooOld);
}

void Spool::MakeRoom(uint64_t bytes, size_t records) {
  uint64_t held_bytes = bytes_ + bytes;
  size_t held = entries_.size() + records;
  auto end = entries_.begin();
  for (; end != entries_.end() && (held_bytes > limits_.bytes || held > limits_.records); ++end) {
    held_bytes -= end->second.bytes;
    --held;
  }
  DropUntil(end, SpoolLoss::kOverBytes);
}

void Spool::DropUntil(Entries::const_iterator end, SpoolLoss loss) {
  if (end == entries_.begin()) return;
  for (auto entry = entries_.cbegin(); entry != end; ++entry) {
    if (entry->first == taken_) {
      undecided_ = {.number = taken_, .loss = loss, .share_ns = entry->second.share_ns};
      is_saved_ = false;
    } else {
      Count(loss, entry->second.share_ns);
    }
  }
  ledger_.removed_first = entries_.begin()->first;
  ledger_.removed_last = std::prev(end)->first;
  Save().IgnoreError();  // Publish tries again
  while (entries_.cbegin() != end) {
    unlinkat(directory_.get(), RecordName(entries_.begin()->first).c_str(), 0);
    Forget(entries_.cbegin());
  }
}

void Spool::LoseAside(uint64_t number, SpoolLoss loss, uint64_t ns) {
  Count(loss, ns);
  ledger_.removed_first = number;
  ledger_.removed_last = number;
  Save().IgnoreError();  // Publish tries again
  MoveToRefused(directory_, number, loss == SpoolLoss::kDamaged ? kDamagedSuffix : kRecordSuffix);
  if (const auto entry = entries_.find(number); entry != entries_.end()) Forget(entry);
}

void Spool::Forget(Entries::const_iterator entry) {
  bytes_ -= entry->second.bytes;
  entries_.erase(entry);
}

absl::Status Spool::Save() {
  SpoolLedger saved = ledger_;
  if (undecided_.has_value()) {
    SpoolLost& lost = saved.losses[static_cast<size_t>(undecided_->loss)];
    ++lost.records;
    lost.ns += undecided_->share_ns;
  }
  const std::string bytes = EncodeSpoolLedger(saved);
  absl::Status status = WriteWholeFile(directory_, kLosses, {bytes}, kFileMode);
  // A full disk is when things are lost. Written over, the count survives all but a power cut just then.
  if (absl::IsResourceExhausted(status) && OverwriteFile(directory_, kLosses, bytes).ok()) status = absl::OkStatus();
  is_saved_ = status.ok();
  return status;
}

void Spool::Publish() {
  if (!is_saved_) Save().IgnoreError();
  const std::lock_guard lock(stats_mutex_);
  stats_ = {.records = entries_.size(),
            .bytes = bytes_,
            .oldest_start_unix_ns = entries_.empty() ? 0 : entries_.begin()->second.start_unix_ns,
            .lost = ledger_.losses};
  SpoolLost& told = stats_.lost[static_cast<size_t>(SpoolLoss::kNotWritten)];
  told.records -= std::min(told.records, unwritten_.records);
  told.ns -= std::min(told.ns, unwritten_.ns);
}

}  // namespace offcpu
