#include "daemon/http_profiles.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/start_thread.h"
#include "recorder/clocks.h"

namespace offcpu {
namespace {

constexpr std::chrono::seconds kClientPatience(45);  // of a client, until its profile is made

HttpResponse AnswerOf(const absl::Status& status) {
  return Refusal(HttpStatusOf(status), std::string(status.message()));
}

const char* TypeOf(OutputFormat format) {
  if (format == OutputFormat::kHtml) return "text/html; charset=utf-8";
  return format == OutputFormat::kText ? kTextType : kBytesType;
}

// Beside the page's own policy. Nobody keeps it, and no other page has it in a frame.
void AddPageFields(HttpResponse& answer) {
  answer.fields.emplace_back("Content-Security-Policy", "frame-ancestors 'none'");
  answer.fields.emplace_back("Referrer-Policy", "no-referrer");
  answer.fields.emplace_back("Cache-Control", "no-store");
}

}  // namespace

absl::Status HttpProfiles::Start() {
  for (std::thread& thread : threads_) {
    absl::StatusOr<std::thread> started = StartThread("http-profiles", [this] { Loop(); });
    if (!started.ok()) return started.status();
    thread = *std::move(started);
  }
  return absl::OkStatus();
}

void HttpProfiles::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

bool HttpProfiles::Add(Id id, HttpProfileRequest request) {
  const std::lock_guard lock(mutex_);
  if (jobs_.size() >= kMost) {
    ++refused_;
    return false;
  }
  jobs_.push_back({.id = id, .request = std::move(request), .due = Clock::now()});
  changed_.notify_all();
  return true;
}

void HttpProfiles::Cancel(Id id) {
  const std::lock_guard lock(mutex_);
  const auto job = std::find_if(jobs_.begin(), jobs_.end(), [id](const Job& other) { return other.id == id; });
  if (job == jobs_.end()) return;
  job->is_cancelled = true;
  if (!job->is_running) jobs_.erase(job);
}

uint64_t HttpProfiles::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void HttpProfiles::Loop() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const auto job = NextLocked();
    if (job == jobs_.end()) {
      changed_.wait(lock);
    } else if (const Clock::time_point due = job->due; due > Clock::now()) {
      changed_.wait_until(lock, due);
    } else {
      job->is_running = true;
      lock.unlock();
      std::optional<HttpResponse> answer = Step(*job);
      lock.lock();
      job->is_running = false;
      const bool is_over = answer.has_value() || job->is_cancelled;
      if (answer.has_value() && !job->is_cancelled) on_answer_(job->id, *std::move(answer));
      if (is_over) jobs_.erase(job);
      changed_.notify_all();
    }
  }
}

std::list<HttpProfiles::Job>::iterator HttpProfiles::NextLocked() {
  auto next = jobs_.end();
  for (auto job = jobs_.begin(); job != jobs_.end(); ++job) {
    if (!job->is_running && (next == jobs_.end() || job->due < next->due)) next = job;
  }
  return next;
}

// Nothing: there is more to do later.
std::optional<HttpResponse> HttpProfiles::Step(Job& job) {
  if (job.request.next == std::chrono::seconds(0) || job.is_cut) return Make(job);
  const absl::Status cut = recording_.CutNow(Clock::now() + kClientPatience);
  if (!cut.ok()) return AnswerOf(cut);
  job.is_cut = true;
  job.since_boot_ns = ReadClocks().boot_ns;
  job.boundary = std::make_unique<WindowStore::Boundary>(&recording_.windows(), job.since_boot_ns);
  job.due = Clock::now() + job.request.next;
  return std::nullopt;
}

HttpResponse HttpProfiles::Make(const Job& job) {
  const HttpProfileRequest& request = job.request;
  const auto boot_ns = [this](uint64_t unix_ns) { return unix_ns == 0 ? 0 : dumps_.unix_time().BootOf(unix_ns); };
  const DumpSelection selection = {.since_boot_ns = job.is_cut ? job.since_boot_ns : boot_ns(request.since_unix_ns),
                                   .until_boot_ns = boot_ns(request.until_unix_ns),
                                   .for_browser = request.name.empty()};
  absl::StatusOr<Dumps::Dump> dump = dumps_.Make(selection, request.format, Clock::now() + kClientPatience);
  if (!dump.ok()) return AnswerOf(dump.status());
  HttpResponse answer = {.type = TypeOf(request.format), .body = *std::move(dump)};
  if (request.format == OutputFormat::kHtml) AddPageFields(answer);
  if (!request.name.empty()) {
    const std::string name = absl::StrCat(request.name, job.is_cut ? "-delta" : "");
    answer.fields.emplace_back("Content-Disposition", absl::StrCat("attachment; filename=\"", name, "\""));
  }
  return answer;
}

}  // namespace offcpu
