#include "daemon/requests.h"

#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

constexpr std::chrono::seconds kReplyPatience(45);  // of a client, until its answer begins

std::chrono::steady_clock::time_point ReplyDeadline() { return std::chrono::steady_clock::now() + kReplyPatience; }

absl::Status CheckNames(const HttpRequest& request, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return absl::UnimplementedError(
          absl::StrCat("this offcpud does not know the parameter ", Printable(name), " of ", request.path));
  }
  return absl::OkStatus();
}

template <typename Number>
absl::StatusOr<Number> NumberOf(std::string_view name, const std::string& text) {
  Number number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(absl::StrCat(std::string(name), " must be a number"));
}

bool WantsJson(const HttpRequest& request) { return request.Query("json").value_or("0") != "0"; }

const char* TypeOfText(const HttpRequest& request) { return WantsJson(request) ? "application/json" : kTextType; }

}  // namespace

Requests::Requests(Recording& recording, Dumps& dumps, StackRequests& stacks, const WindowExport& window_export,
                   std::string version)
    : recording_(recording),
      dumps_(dumps),
      stacks_(stacks),
      window_export_(window_export),
      version_(std::move(version)) {}

HttpResponse Requests::Answer(const HttpRequest& request, const IsCancelled& is_cancelled) {
  absl::StatusOr<HttpResponse> answer = TryAnswer(request, is_cancelled);
  return answer.ok() ? *std::move(answer) : ErrorAnswer(answer.status());
}

absl::StatusOr<HttpResponse> Requests::TryAnswer(const HttpRequest& request, const IsCancelled& is_cancelled) {
  if (request.method != "GET") return absl::UnimplementedError("only GET is supported");
  if (request.path == "/status") return StatusAnswer(request);
  if (request.path == "/healthz") return HealthAnswer(request);
  if (request.path == "/dump") return Dump(request, is_cancelled);
  if (request.path == "/stacks") return Stacks(request, is_cancelled);
  return absl::UnimplementedError(absl::StrCat("this offcpud does not serve ", Printable(request.path),
                                               "; it serves /status, /healthz, /dump and /stacks"));
}

absl::StatusOr<HttpResponse> Requests::HealthAnswer(const HttpRequest& request) const {
  if (absl::Status known = CheckNames(request, {}); !known.ok()) return known;
  if (absl::Status health = recording_.CheckHealth(); !health.ok()) return health;
  return WholeAnswer(kTextType, "ok\n");
}

absl::StatusOr<HttpResponse> Requests::StatusAnswer(const HttpRequest& request) const {
  if (absl::Status known = CheckNames(request, {"json"}); !known.ok()) return known;
  std::string text;
  const auto write = WantsJson(request) ? WriteStatusJson : WriteStatusText;
  write(Status(), [&text](std::string_view piece) { text += piece; });
  return WholeAnswer(TypeOfText(request), std::move(text));
}

ServiceStatus Requests::Status() const {
  const DaemonConfig config = recording_.config();
  const RecordingTotals totals = recording_.totals();
  const auto no_rows = [](const ProcessInfo&, const std::string&) { return false; };
  Profile sums = MergeProfiles(recording_.windows().Between(0, 0), no_rows);
  sums.stats.cpu_budget_ppm = totals.adapts_sample ? config.record.cpu_budget_ppm : 0;
  ServiceStatus status = {
      .version = version_,
      .pid = getpid(),
      .uptime_ns = static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count()),
      .used = MeasureSelf(),
      .memory_limit_bytes = config.memory_bytes,
      .window_ns = config.windows.length_ns,
      .windows_limit = config.windows.keep,
      .windows = recording_.windows().stats(),
      .recorded_ns = sums.duration_ns,
      .sums = std::move(sums.stats),
      .threshold_ns = totals.threshold_ns,
      .exporting = window_export_.stats(),
      .last_error = recording_.last_error()};
  const uint64_t oldest_boot_ns = status.windows.oldest_boot_ns;
  if (oldest_boot_ns != 0) status.oldest_unix_ns = dumps_.unix_time().UnixOf(oldest_boot_ns);
  return status;
}

absl::StatusOr<HttpResponse> Requests::Dump(const HttpRequest& request, const IsCancelled& is_cancelled) {
  const absl::StatusOr<DumpSelection> selection = SelectionOf(request);
  if (!selection.ok()) return selection.status();
  absl::StatusOr<Dumps::Dump> dump = dumps_.Make(*selection, OutputFormat::kPprof, ReplyDeadline(), is_cancelled);
  if (!dump.ok()) return dump.status();
  return HttpResponse{.type = kBytesType, .fields = {}, .body = *std::move(dump)};
}

absl::StatusOr<DumpSelection> Requests::SelectionOf(const HttpRequest& request) {
  if (absl::Status known = CheckNames(request, {"since_ns", "until_ns", "pid", "comm"}); !known.ok()) return known;
  const auto boot_ns = [&](std::string_view name) -> absl::StatusOr<uint64_t> {
    const absl::StatusOr<uint64_t> unix_ns = NumberOf<uint64_t>(name, request.Query(name).value_or("0"));
    if (!unix_ns.ok() || *unix_ns == 0) return unix_ns;
    return dumps_.unix_time().BootOf(*unix_ns);
  };
  DumpSelection selection;
  const absl::StatusOr<uint64_t> since = boot_ns("since_ns");
  if (!since.ok()) return since.status();
  const absl::StatusOr<uint64_t> until = boot_ns("until_ns");
  if (!until.ok()) return until.status();
  selection.since_boot_ns = *since;
  selection.until_boot_ns = *until;
  for (const auto& [name, value] : request.query) {
    if (name == "comm") selection.comms.push_back(value);
    if (name != "pid") continue;
    const absl::StatusOr<int32_t> pid = NumberOf<int32_t>(name, value);
    if (!pid.ok()) return pid.status();
    selection.pids.push_back(*pid);
  }
  return selection;
}

absl::StatusOr<HttpResponse> Requests::Stacks(const HttpRequest& request, const IsCancelled& is_cancelled) {
  if (absl::Status known = CheckNames(request, {"pid", "unwind", "json"}); !known.ok()) return known;
  const absl::StatusOr<int> pid = NumberOf<int>("pid", request.Query("pid").value_or(""));
  if (!pid.ok()) return pid.status();
  StacksWanted wanted = {.pid = *pid, .unwind = {}, .json = WantsJson(request)};
  if (const std::optional<std::string> text = request.Query("unwind"); text.has_value()) {
    absl::StatusOr<UnwindOrder> order = ParseUnwindOrder(*text);
    if (!order.ok()) return order.status();
    wanted.unwind = *std::move(order);
  }
  absl::StatusOr<std::string> text = stacks_.Format(wanted, ReplyDeadline(), is_cancelled);
  if (!text.ok()) return text.status();
  return WholeAnswer(TypeOfText(request), *std::move(text));
}

}  // namespace offcpu
