#include "daemon/requests.h"

#include <unistd.h>

#include <utility>

#include "profile/merge.h"
#include "proto/control.pb.h"
#include "recorder/self_usage.h"

namespace offcpu {
namespace {

constexpr size_t kChunkBytes = 256u << 10;
constexpr std::chrono::seconds kReplyPatience(45);  // of a client, until its answer begins

void AddCount(std::string_view name, uint64_t count, google::protobuf::RepeatedPtrField<control::NamedCount>* to) {
  if (count == 0) return;
  control::NamedCount* added = to->Add();
  added->set_name(std::string(name));
  added->set_count(count);
}

void AddDrops(const std::vector<Drop>& drops, google::protobuf::RepeatedPtrField<control::NamedCount>* to) {
  for (const Drop& drop : drops) {
    control::NamedCount* added = to->Add();
    added->set_name(drop.reason);
    added->set_count(drop.count);
    added->set_ns(drop.ns);
  }
}

void SetStats(const Profile& sums, control::Status* status) {
  status->set_recorded_ns(sums.duration_ns);
  status->set_processes(sums.stats.processes);
  status->set_intervals(sums.stats.intervals);
  status->set_walks(sums.stats.walks);
  for (size_t i = 0; i < sums.stats.walk_ends.size(); ++i)
    AddCount(Name(static_cast<EndReason>(i)), sums.stats.walk_ends[i], status->mutable_walk_ends());
  for (size_t i = 0; i < sums.stats.complete_walks_by_source.size(); ++i) {
    AddCount(Name(static_cast<FrameSource>(i)), sums.stats.complete_walks_by_source[i],
             status->mutable_complete_walks_by_source());
  }
  AddDrops(sums.stats.drops, status->mutable_drops());
}

void SetSwitchWalks(const ProfileStats& stats, control::SwitchWalks* to) {
  to->set_walked(stats.walked_at_switch);
  to->set_summed(stats.summed_at_switch);
  to->set_proven(stats.proven_walks);
  for (size_t i = 0; i < stats.walk_misses.size(); ++i)
    AddCount(Name(static_cast<WalkMiss>(i)), stats.walk_misses[i], to->mutable_misses());
  to->set_told_rows(stats.told_rows);
  to->set_told_stacks(stats.told_stacks);
}

void SetCost(const ProfileStats& stats, const RecordingTotals& totals, uint64_t budget_ppm, control::Cost* to) {
  to->set_programs_ns(stats.own_programs_ns);
  to->set_captures_ns(stats.capture_ns);
  to->set_process_ns(stats.own_process_ns);
  to->set_host_cpu_ns(stats.host_cpu_ns);
  to->set_budget_ppm(totals.adapts_sample ? budget_ppm : 0);
  to->set_threshold_ns(totals.threshold_ns);
}

void SetExport(const ExporterStats& stats, control::Export* to) {
  to->set_windows(stats.windows);
  to->set_requests_sent(stats.requests_sent);
  to->set_bytes_sent(stats.bytes_sent);
  to->set_retries(stats.retries);
  to->set_requests_waiting(stats.requests_waiting);
  to->set_bytes_waiting(stats.bytes_waiting);
  to->set_oldest_unix_ns(stats.oldest_unix_ns);
  to->set_files_written(stats.files.written);
  to->set_files_failed(stats.files.failed);
  to->set_last_error(stats.last_error);
  AddDrops(stats.losses, to->mutable_losses());
}

}  // namespace

std::string ErrorReply(const absl::Status& status) {
  control::Reply reply;
  reply.mutable_error()->set_code(static_cast<uint32_t>(status.code()));
  reply.mutable_error()->set_message(std::string(status.message()));
  return reply.SerializeAsString();
}

Requests::Requests(Recording& recording, Dumps& dumps, StackRequests& stacks, const WindowExport& window_export,
                   std::string version)
    : recording_(recording),
      dumps_(dumps),
      stacks_(stacks),
      window_export_(window_export),
      version_(std::move(version)) {}

void Requests::Answer(std::string_view request, const SendReply& send, const IsCancelled& is_cancelled) {
  control::Request parsed;
  absl::Status error;
  if (!parsed.ParseFromArray(request.data(), static_cast<int>(request.size()))) {
    error = absl::InvalidArgumentError("this is no request");
  } else if (parsed.version() != kControlVersion) {
    error = absl::UnimplementedError("the request is of another version than this offcpud");
  } else if (parsed.what_case() == control::Request::WHAT_NOT_SET) {
    error = absl::UnimplementedError("this offcpud does not know the request");
  }
  if (!error.ok()) {
    send(ErrorReply(error)).IgnoreError();
  } else if (parsed.has_status()) {
    send(StatusReply()).IgnoreError();
  } else if (parsed.has_dump()) {
    const control::DumpRequest& dump = parsed.dump();
    SendDump({.since_boot_ns = BootOf(dump.since_unix_ns()),
              .until_boot_ns = BootOf(dump.until_unix_ns()),
              .pids = {dump.pids().begin(), dump.pids().end()},
              .comms = {dump.comms().begin(), dump.comms().end()}},
             send, is_cancelled);
  } else {
    SendStacks(parsed.stacks(), send, is_cancelled);
  }
}

std::string Requests::StatusReply() const {
  control::Reply reply;
  control::Status* status = reply.mutable_status();
  const DaemonConfig config = recording_.config();
  const WindowStoreStats windows = recording_.windows().stats();
  status->set_version(version_);
  status->set_pid(getpid());
  status->set_uptime_ns(
      static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count()));
  const SelfUsage self = MeasureSelf();
  status->set_cpu_ns(self.cpu_ns);
  status->set_memory_bytes(self.resident_bytes);
  status->set_memory_limit_bytes(config.memory_bytes);
  status->set_window_ns(config.windows.length_ns);
  status->set_windows(windows.windows);
  status->set_windows_limit(config.windows.keep);
  status->set_windows_ended(windows.ended);
  status->set_windows_over_memory(windows.over_bytes);
  status->set_windows_bytes(windows.bytes);
  if (windows.oldest_boot_ns != 0) status->set_oldest_unix_ns(dumps_.unix_time().UnixOf(windows.oldest_boot_ns));
  status->set_last_error(recording_.last_error());
  if (const std::optional<ExporterStats> stats = window_export_.stats()) SetExport(*stats, status->mutable_export_());
  const auto no_rows = [](const ProcessInfo&, const std::string&) { return false; };
  const Profile sums = MergeProfiles(recording_.windows().Between(0, 0), no_rows);
  SetStats(sums, status);
  SetSwitchWalks(sums.stats, status->mutable_walks_at_switch());
  SetCost(sums.stats, recording_.totals(), config.record.cpu_budget_ppm, status->mutable_cost());
  return reply.SerializeAsString();
}

// 0 stays what it is.
uint64_t Requests::BootOf(uint64_t unix_ns) const { return unix_ns == 0 ? 0 : dumps_.unix_time().BootOf(unix_ns); }

void Requests::SendDump(const DumpSelection& selection, const SendReply& send, const IsCancelled& is_cancelled) {
  const absl::StatusOr<Dumps::Dump> dump =
      dumps_.Make(selection, OutputFormat::kPprof, std::chrono::steady_clock::now() + kReplyPatience, is_cancelled);
  const absl::Status sent = dump.ok() ? SendChunks(**dump, send) : send(ErrorReply(dump.status()));
  sent.IgnoreError();  // a client that has gone wants nothing more
}

void Requests::SendStacks(const control::StacksRequest& request, const SendReply& send,
                          const IsCancelled& is_cancelled) {
  const absl::StatusOr<std::string> text =
      stacks_.Format(request, std::chrono::steady_clock::now() + kReplyPatience, is_cancelled);
  const absl::Status sent = text.ok() ? SendChunks(*text, send) : send(ErrorReply(text.status()));
  sent.IgnoreError();
}

absl::Status Requests::SendChunks(std::string_view bytes, const SendReply& send) {
  absl::Status status;
  bool is_last = false;
  while (status.ok() && !is_last) {
    const std::string_view data = bytes.substr(0, kChunkBytes);
    bytes.remove_prefix(data.size());
    is_last = bytes.empty();
    control::Reply reply;
    reply.mutable_chunk()->set_data(std::string(data));
    reply.mutable_chunk()->set_last(is_last);
    status = send(reply.SerializeAsString());
  }
  return status;
}

}  // namespace offcpu
