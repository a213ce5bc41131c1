#include "export/exporter.h"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "export/export_losses.h"
#include "os/start_thread.h"
#include "otlp/otlp.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

constexpr uint64_t kInMemory = uint64_t{1} << 63;  // in the number of a record that is not on disk
constexpr std::chrono::seconds kPatience(60);      // without anything new, until what waits is looked at for its age

std::string Gzip(std::string_view bytes) {
  std::string compressed;
  const auto append = [&compressed](std::string_view piece) { compressed.append(piece); };
  GzipWriter writer(append);
  writer.Append(bytes);
  writer.Finish();
  return compressed;
}

std::unique_ptr<Spool> OpenSpool(const ExportConfig& config, const Exporter::Say& say) {
  if (config.target.url.empty() || config.spool.empty()) return nullptr;
  absl::StatusOr<std::unique_ptr<Spool>> spool =
      Spool::Open(config.spool, {.bytes = config.spool_bytes, .age_ns = config.spool_age_ns});
  if (spool.ok()) return *std::move(spool);
  say(true, absl::StrCat(std::string(spool.status().message()), ": windows wait in memory"));
  return nullptr;
}

// What is in `now` beyond what is in `before`.
std::vector<Loss> Since(const std::vector<Loss>& before, const std::vector<Loss>& now) {
  std::vector<Loss> since;
  for (Loss loss : now) {
    const auto same = [&](const Loss& known) { return known.reason == loss.reason; };
    const auto known = std::find_if(before.begin(), before.end(), same);
    if (known != before.end()) {
      loss.count -= std::min(loss.count, known->count);
      loss.ns -= std::min(loss.ns, known->ns);
    }
    if (loss.count != 0) since.push_back(std::move(loss));
  }
  return since;
}

bool IsLater(Fate fate) { return fate == Fate::kLater || fate == Fate::kRestLater; }

}  // namespace

Exporter::Exporter(const ExportConfig& config, Say say, const ExporterLimits& limits, std::optional<ExporterPast> past)
    : config_(config),
      say_(std::move(say)),
      limits_(limits),
      spool_(OpenSpool(config, say_)),
      poster_(config.target),
      answers_(config.shown_url, say_) {
  if (past.has_value()) {
    stats_ = std::move(past->stats);
    losses_ = std::exchange(stats_.losses, {});
    files_before_ = stats_.files;
  }
  told_ = past.has_value() ? std::move(past->told) : LossesLocked();
  Begin(
      "export-encode", [this] { EncodeLoop(); }, &encoder_);
  if (!config_.target.url.empty())
    Begin(
        "export-send", [this] { SendLoop(); }, &sender_);
}

void Exporter::Begin(const char* name, std::function<void()> loop, std::thread* thread) const {
  absl::StatusOr<std::thread> started = StartThread(name, std::move(loop));
  if (started.ok()) {
    *thread = *std::move(started);
  } else {
    say_(true, absl::StrCat("windows are not exported: ", std::string(started.status().message())));
  }
}

Exporter::~Exporter() {
  if (encoder_.joinable() || sender_.joinable()) Stop();
}

ExporterPast Exporter::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  poster_.Stop();
  added_.notify_all();
  to_send_.notify_all();
  if (encoder_.joinable()) encoder_.join();
  if (sender_.joinable()) sender_.join();
  sending_ = 0;
  SpoolMemory();
  if (!memory_.empty()) say_(true, absl::StrCat(memory_.size(), " requests in memory that were not sent are lost"));
  while (!memory_.empty()) DropFromMemoryLocked();  // there are no other threads any more
  ExporterPast past = {.stats = stats_, .told = told_};
  past.stats.losses = losses_;
  return past;
}

// The disk may have become well again since they had no place on it. There are no other threads any more.
void Exporter::SpoolMemory() {
  while (spool_ != nullptr && !memory_.empty()) {
    spool_->DeliveredUnwritten(memory_.front());  // it was counted as not written, and may be once more
    if (!IsSpooled(memory_.front())) return;
    memory_bytes_ -= memory_.front().body.size();
    memory_.pop_front();
  }
}

void Exporter::Add(std::shared_ptr<EndedWindow> window) {
  if (window->empty()) return;
  std::shared_ptr<EndedWindow> lost;  // freed without the lock
  const std::lock_guard lock(mutex_);
  ++stats_.windows;
  windows_.push_back(std::move(window));
  if (windows_.size() > limits_.windows) {
    lost = std::move(windows_.front());
    windows_.pop_front();
    LoseLocked(kEncoderBusy, 1, lost->duration_ns());
  }
  added_.notify_one();
}

void Exporter::EncodeLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    added_.wait(lock, [this] { return stop_ || !windows_.empty(); });
    if (windows_.empty()) return;
    std::shared_ptr<EndedWindow> window = std::move(windows_.front());
    windows_.pop_front();
    lock.unlock();
    Encode(window->Named());
    window.reset();
    malloc_trim(0);  // it was much, and the next window is far
    lock.lock();
  }
}

void Exporter::Encode(const NamedProfile& window) {
  if (!config_.files.directory.empty()) WriteFile(window);
  if (config_.target.url.empty()) return;

  OtlpOptions options{.names = config_.names,
                      .types = config_.types,
                      .labels = config_.labels,
                      .service_name = config_.service_name,
                      .resource = config_.resource};
  std::random_device device;
  std::generate(options.window_id.begin(), options.window_id.end(),
                [&device] { return static_cast<uint8_t>(device()); });
  {
    const std::lock_guard lock(mutex_);
    const std::vector<Loss> losses = LossesLocked();
    options.export_losses = Since(told_, losses);
    told_ = losses;
  }
  std::vector<SpoolRecord> records;
  const Loss lost = WriteOtlp(window, options, [&](std::string request) {
    SpoolRecord record{.start_unix_ns = window.start_unix_ns, .duration_ns = window.duration_ns};
    record.part = static_cast<uint32_t>(records.size());
    record.body = config_.gzip ? Gzip(request) : std::move(request);
    records.push_back(std::move(record));
  });
  for (SpoolRecord& record : records) record.parts = static_cast<uint32_t>(records.size());
  Keep(std::move(records));
  const std::lock_guard lock(mutex_);
  if (lost.count != 0) LoseLocked(lost.reason, lost.count, lost.ns);
}

// The directory may be there only later.
void Exporter::WriteFile(const NamedProfile& window) {
  absl::Status status;
  if (files_ == nullptr) {
    absl::StatusOr<std::unique_ptr<PprofFiles>> opened =
        PprofFiles::Open(config_.files.directory, {.files = config_.files.keep, .bytes = config_.files.bytes});
    status = opened.status();
    if (opened.ok()) files_ = *std::move(opened);
  }
  if (files_ != nullptr) status = files_->Write(window);
  if (!status.ok() && status.code() != files_error_) say_(true, std::string(status.message()));
  files_error_ = status.code();
  const std::lock_guard lock(mutex_);
  if (files_ == nullptr) ++files_before_.failed;
  stats_.files = files_ != nullptr ? files_->stats() : PprofFilesStats();
  stats_.files.written += files_before_.written;
  stats_.files.removed += files_before_.removed;
  stats_.files.failed += files_before_.failed;
}

// On disk or, where that fails, in memory.
void Exporter::Keep(std::vector<SpoolRecord> records) {
  if (records.empty()) return;
  for (SpoolRecord& record : records) {
    if (spool_ == nullptr || !IsSpooled(record)) KeepInMemory(std::move(record));
    const std::lock_guard lock(mutex_);
    has_new_ = true;
  }
  to_send_.notify_all();
}

// One that is larger than the spool is lost there, and not small enough for memory either.
bool Exporter::IsSpooled(const SpoolRecord& record) {
  const absl::Status status = spool_->Append(record, SpoolTimeNow());
  if (!status.ok() && status.code() != spool_error_) say_(true, std::string(status.message()));
  spool_error_ = status.code();
  return status.ok() || kSpoolHeaderBytes + record.body.size() > config_.spool_bytes;
}

// The spool has counted it as not written, until it is delivered all the same.
void Exporter::KeepInMemory(SpoolRecord record) {
  const std::lock_guard lock(mutex_);
  record.number = kInMemory | ++memory_records_;
  memory_bytes_ += record.body.size();
  memory_.push_back(std::move(record));
  while (memory_bytes_ > limits_.memory_bytes && memory_.back().number != sending_) DropFromMemoryLocked();
}

// The oldest that is not being sent: that one may be delivered yet.
void Exporter::DropFromMemoryLocked() {
  const auto oldest = memory_.begin() + (memory_.front().number == sending_ ? 1 : 0);
  if (spool_ == nullptr) {
    LoseLocked(kNoRoomInMemory, 1, ShareOfWindowNs(*oldest));
  } else {
    spool_->LostUnwritten(*oldest);
  }
  memory_bytes_ -= oldest->body.size();
  memory_.erase(oldest);
}

std::optional<SpoolRecord> Exporter::Oldest() {
  if (spool_ != nullptr) {
    if (std::optional<SpoolRecord> record = spool_->Oldest(SpoolTimeNow())) return record;
  }
  const std::lock_guard lock(mutex_);
  if (memory_.empty()) return std::nullopt;
  sending_ = memory_.front().number;
  return memory_.front();
}

void Exporter::SendLoop() {
  Backoff backoff(limits_.backoff);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    has_new_ = false;
    lock.unlock();
    const std::optional<SpoolRecord> record = Oldest();
    Judgement judgement;
    if (record.has_value()) {
      judgement = JudgeAnswer(*record, poster_.Post(record->body));
      Settle(*record, judgement);
    }
    lock.lock();
    if (!record.has_value()) {
      to_send_.wait_for(lock, kPatience, [this] { return stop_ || has_new_; });
    } else if (!IsLater(judgement.fate)) {
      backoff.Reset();
    } else {
      const std::chrono::milliseconds own = backoff.Next(std::uniform_real_distribution<double>()(random_));
      const std::chrono::milliseconds wait = judgement.retry_after.has_value() ? *judgement.retry_after : own;
      to_send_.wait_for(lock, wait, [this] { return stop_; });
    }
  }
}

Judgement Exporter::JudgeAnswer(const SpoolRecord& record, const HttpAnswer& answer) {
  Refusals::Verdict verdict = refusals_.OnAnswer(record, answer);
  if (config_.gzip) {
    for (SpoolRecord& part : verdict.parts) part.body = Gzip(part.body);
  }
  Keep(std::move(verdict.parts));
  const std::lock_guard lock(mutex_);
  for (std::string& type : verdict.types) AddLoss({.reason = std::move(type), .count = 1, .ns = 0}, stats_.refused);
  return verdict.judgement;
}

void Exporter::Settle(const SpoolRecord& record, const Judgement& judgement) {
  if (judgement.fate != Fate::kLater) {
    (record.number & kInMemory) != 0 ? SettleInMemory(record, judgement) : SettleInSpool(record, judgement);
  }
  {
    const std::lock_guard lock(mutex_);
    if (stop_ && judgement.fate == Fate::kLater) return;  // it was broken off
    if (IsLater(judgement.fate)) ++stats_.retries;
    if (judgement.fate == Fate::kDelivered) {
      ++stats_.requests_sent;
      stats_.bytes_sent += record.body.size();
    }
    if (judgement.rejected_profiles != 0)
      LoseLocked(kProfilesRejected, judgement.rejected_profiles, judgement.rejected_ns);
    stats_.last_error = ReasonOf(judgement);
  }
  answers_.Add(judgement, AnswerLog::Clock::now());
}

void Exporter::SettleInSpool(const SpoolRecord& record, const Judgement& judgement) {
  judgement.fate == Fate::kRefused ? spool_->SetAside(record.number) : spool_->Done(record.number);
}

void Exporter::SettleInMemory(const SpoolRecord& record, const Judgement& judgement) {
  if (spool_ != nullptr) spool_->DeliveredUnwritten(record);
  const std::lock_guard lock(mutex_);
  if (judgement.fate == Fate::kRefused) LoseLocked(std::string(Name(SpoolLoss::kRefused)), 1, ShareOfWindowNs(record));
  sending_ = 0;
  memory_bytes_ -= memory_.front().body.size();
  memory_.pop_front();
}

void Exporter::LoseLocked(const std::string& reason, uint64_t count, uint64_t ns) {
  AddLoss({.reason = reason, .count = count, .ns = ns}, losses_);
}

std::vector<Loss> Exporter::LossesLocked() const {
  std::vector<Loss> losses = losses_;
  if (spool_ == nullptr) return losses;
  const SpoolLosses lost = spool_->stats().lost;
  for (size_t i = 0; i < lost.size(); ++i) {
    if (lost[i].records == 0) continue;
    AddLoss({.reason = std::string(Name(static_cast<SpoolLoss>(i))), .count = lost[i].records, .ns = lost[i].ns},
            losses);
  }
  return losses;
}

ExporterStats Exporter::stats() const {
  const std::lock_guard lock(mutex_);
  ExporterStats stats = stats_;
  stats.losses = LossesLocked();
  stats.requests_waiting = memory_.size();
  stats.bytes_waiting = memory_bytes_;
  if (!memory_.empty()) stats.oldest_unix_ns = memory_.front().start_unix_ns;
  if (spool_ == nullptr) return stats;
  const SpoolStats spool = spool_->stats();
  stats.requests_waiting += spool.records;
  stats.bytes_waiting += spool.bytes;
  if (spool.oldest_start_unix_ns != 0) stats.oldest_unix_ns = spool.oldest_start_unix_ns;
  return stats;
}

}  // namespace offcpu
