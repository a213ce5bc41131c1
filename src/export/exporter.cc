#include "export/exporter.h"

#include <malloc.h>

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "export/export_losses.h"
#include "os/start_thread.h"
#include "otlp/otlp.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

constexpr std::chrono::seconds kPatience(60);  // without anything new, until what waits is looked at for its age

std::string Gzip(std::string_view bytes) {
  std::string compressed;
  const auto append = [&compressed](std::string_view piece) { compressed.append(piece); };
  GzipWriter writer(append);
  writer.Append(bytes);
  writer.Finish();
  return compressed;
}

OutboxLimits OutboxLimitsOf(const ExportConfig& config, const ExporterLimits& limits) {
  return {.spool = {.bytes = config.spool_bytes, .age_ns = config.spool_age_ns}, .memory_bytes = limits.memory_bytes};
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
      outbox_(config.target.url.empty() ? "" : config.spool, OutboxLimitsOf(config, limits), say_),
      poster_(config.target),
      answers_(config.shown_url, say_),
      files_(config.files.directory, {.files = config.files.keep, .bytes = config.files.bytes},
             past.has_value() ? past->stats.files : PprofFilesStats(), say_) {
  if (past.has_value()) {
    stats_ = std::move(past->stats);
    losses_ = std::exchange(stats_.losses, {});
  }
  told_ = past.has_value() ? std::move(past->told) : stats().losses;
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
  outbox_.Close();
  ExporterPast past = {.stats = stats(), .told = told_};
  past.stats.losses = losses_;
  AddLosses(outbox_.stats().memory_losses, past.stats.losses);
  return past;
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
  files_.Write(window);
  if (config_.target.url.empty()) return;

  OtlpOptions options{.names = config_.names,
                      .types = config_.types,
                      .labels = config_.labels,
                      .service_name = config_.service_name,
                      .resource = config_.resource};
  std::random_device device;
  std::generate(options.window_id.begin(), options.window_id.end(),
                [&device] { return static_cast<uint8_t>(device()); });
  const std::vector<Loss> losses = stats().losses;
  options.export_losses = Since(told_, losses);
  told_ = losses;
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

void Exporter::Keep(std::vector<SpoolRecord> records) {
  if (records.empty()) return;
  for (SpoolRecord& record : records) {
    outbox_.Keep(std::move(record));
    const std::lock_guard lock(mutex_);
    has_new_ = true;
  }
  to_send_.notify_all();
}

void Exporter::SendLoop() {
  Backoff backoff(limits_.backoff);
  std::mt19937_64 random{std::random_device()()};
  std::unique_lock lock(mutex_);
  while (!stop_) {
    has_new_ = false;
    lock.unlock();
    const std::optional<SpoolRecord> record = outbox_.Oldest();
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
      const std::chrono::milliseconds own = backoff.Next(std::uniform_real_distribution<double>()(random));
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
  outbox_.Settle(record, judgement.fate);
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

void Exporter::LoseLocked(const std::string& reason, uint64_t count, uint64_t ns) {
  AddLoss({.reason = reason, .count = count, .ns = ns}, losses_);
}

ExporterStats Exporter::stats() const {
  const std::lock_guard lock(mutex_);
  const OutboxStats waiting = outbox_.stats();
  ExporterStats stats = stats_;
  stats.losses = losses_;
  AddLosses(waiting.memory_losses, stats.losses);
  AddLosses(waiting.spool_losses, stats.losses);
  stats.requests_waiting = waiting.records;
  stats.bytes_waiting = waiting.bytes;
  stats.oldest_unix_ns = waiting.oldest_start_unix_ns;
  stats.files = files_.stats();
  return stats;
}

}  // namespace offcpu
