#include "daemon/service.h"

#include <grp.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classify/idle_patterns.h"
#include "daemon/blocked_times.h"
#include "daemon/control_server.h"
#include "daemon/control_socket.h"
#include "daemon/dumps.h"
#include "daemon/http_server.h"
#include "daemon/log.h"
#include "daemon/requests.h"
#include "daemon/stack_requests.h"
#include "daemon/systemd.h"
#include "daemon/window_export.h"
#include "export/ended_window.h"
#include "recorder/listing.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLastReads(3);  // of targets, from when the service begins to end

std::optional<gid_t> FindGroup(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const group* found = getgrnam(name.c_str());
  if (found == nullptr) {
    Log(LogLevel::kWarning, absl::StrCat("no group is called ", name, ": only root may ask"));
    return std::nullopt;
  }
  return found->gr_gid;
}

ControlLimits ControlLimitsOf(const DaemonConfig& config) {
  return {.group = FindGroup(config.control.group),
          .clients = config.control.max_clients,
          .timeout = std::chrono::nanoseconds(config.control.timeout_ns)};
}

// systemd's socket, or our own.
absl::StatusOr<OwnedFd> OpenSocket(const DaemonConfig& config, const ControlLimits& limits) {
  absl::StatusOr<OwnedFd> inherited = InheritedSocket();
  if (!inherited.ok() || *inherited) return inherited;
  return ListenAt(config.control.socket, limits.group);
}

void LogHttp(const std::string& listen, const HttpAccess& access) {
  Log(LogLevel::kInfo, absl::StrCat(access.tls() == nullptr ? "HTTP at " : "HTTPS at ", listen));
}

// Without HTTP the service is of use too.
std::unique_ptr<HttpServer> OpenHttp(const std::string& listen,
                                     const absl::StatusOr<std::shared_ptr<const HttpAccess>>& access,
                                     const HttpSource& source) {
  if (listen.empty()) return nullptr;
  if (!access.ok()) {
    Log(LogLevel::kError, absl::StrCat("no HTTP: ", std::string(access.status().message())));
    return nullptr;
  }
  absl::StatusOr<std::unique_ptr<HttpServer>> server = HttpServer::Listen(listen, *access, source);
  if (server.ok()) {
    LogHttp(listen, **access);
    return *std::move(server);
  }
  Log(LogLevel::kError, absl::StrCat("no HTTP: ", std::string(server.status().message())));
  return nullptr;
}

// Ends the process within what container runtimes grant, ten seconds, whatever still hangs: a disk, or the kernel. On a
// host whose CPUs are busy the last window takes some of that.
void EndInTime() {
  // Made before it is needed, because a handler may not allocate, and never freed: it may come at the very end.
  static const std::string& message =
      *new std::string(LogPrefix(LogLevel::kError, IsJournal(STDERR_FILENO, getenv("JOURNAL_STREAM"))) +
                       "stopping took too long: what had not been written is lost\n");
  signal(SIGALRM, [](int) {
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
    _exit(EX_OSERR);
  });
  const itimerval once = {.it_interval = {}, .it_value = {.tv_sec = 9, .tv_usec = 0}};
  setitimer(ITIMER_REAL, &once, nullptr);
}

// What a reload makes of a configuration before it is in force.
struct NextConfig {
  DaemonConfig config;
  ExportConfig exporting;
  IdlePatterns idle;
  std::shared_ptr<const HttpAccess> access;
  std::unique_ptr<HttpServer> http;  // null: none, or the one that there is
};

class Service {
 public:
  Service(const ServiceHooks& hooks, Recording& recording, Dumps& dumps, WindowExport& window_export,
          BlockedTimes& blocked, WindowNames& names, ControlServer& server, HttpSource http_source)
      : hooks_(hooks),
        recording_(recording),
        dumps_(dumps),
        window_export_(window_export),
        blocked_(blocked),
        names_(names),
        server_(server),
        http_source_(std::move(http_source)),
        http_listen_(recording.config().http.listen),
        http_(OpenHttp(http_listen_, HttpAccess::Load(recording.config().http), http_source_)),
        watchdog_(WatchdogPeriod()) {}

  void Run(const sigset_t& signals) {
    while (true) {
      switch (NextSignal(signals)) {
        case SIGTERM:
        case SIGINT:
          return;
        case SIGHUP:
          Reload();
          break;
        default:
          break;
      }
      FeedWatchdog();
    }
  }

 private:
  // 0 if none has come for a while.
  int NextSignal(const sigset_t& signals) const {
    const std::chrono::nanoseconds wait =
        std::min<std::chrono::nanoseconds>(std::chrono::seconds(1), watchdog_.value_or(std::chrono::hours(1)) / 3);
    const timespec timeout = {.tv_sec = wait.count() / 1'000'000'000, .tv_nsec = wait.count() % 1'000'000'000};
    return std::max(sigtimedwait(&signals, nullptr, &timeout), 0);
  }

  void FeedWatchdog() {
    if (watchdog_.has_value() && recording_.CheckHealth().ok()) NotifyAlive();
  }

  void Reload() {
    NotifyReloading();
    const absl::Status status = TryReload();
    if (status.ok()) {
      Log(LogLevel::kInfo, "the new configuration is in effect");
    } else {
      Log(LogLevel::kError, absl::StrCat("the old configuration stays in effect: ", std::string(status.message())));
    }
    NotifyReady(status.ok() ? "recording" : "recording; the last reload failed");
  }

  // Whatever can fail does so before anything of the old configuration has given way.
  absl::Status TryReload() {
    absl::StatusOr<NextConfig> next = Prepare();
    if (!next.ok()) return next.status();
    const bool moves = next->config.control.socket != recording_.config().control.socket;
    if (absl::Status status = recording_.Reload(next->config); !status.ok()) return status;
    if (moves) Log(LogLevel::kWarning, "the control socket stays where it is until the service is restarted");
    GoOver(*std::move(next));
    return absl::OkStatus();
  }

  absl::StatusOr<NextConfig> Prepare() const {
    NextConfig next;
    absl::StatusOr<DaemonConfig> config = hooks_.read_config();
    if (!config.ok()) return config.status();
    next.config = *std::move(config);
    absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(next.config.idle_patterns);
    if (!idle.ok()) return idle.status();
    next.idle = *std::move(idle);
    absl::StatusOr<ExportConfig> exporting = ExportConfigOf(next.config, http_source_.version);
    if (!exporting.ok()) return exporting.status();
    next.exporting = *std::move(exporting);
    if (absl::Status status = window_export_.Check(next.exporting); !status.ok()) return status;
    absl::StatusOr<std::shared_ptr<const HttpAccess>> access = HttpAccess::Load(next.config.http);
    if (!access.ok()) return access.status();
    next.access = *std::move(access);
    if (next.config.http.listen.empty() || KeepsHttp(next.config)) return next;
    absl::StatusOr<std::unique_ptr<HttpServer>> http =
        HttpServer::Listen(next.config.http.listen, next.access, http_source_, {}, http_.get());
    if (!http.ok()) return http.status();
    next.http = *std::move(http);
    return next;
  }

  void GoOver(NextConfig next) {
    dumps_.SetIdlePatterns(next.idle);
    blocked_.Configure(!next.config.http.listen.empty(), next.idle);
    names_.SetIdlePatterns(std::move(next.idle));
    window_export_.Configure(next.exporting);
    server_.SetLimits(ControlLimitsOf(next.config));
    SetLogLevel(LogLevelOf(next.config.log_level));
    if (KeepsHttp(next.config)) return http_->SetAccess(std::move(next.access));
    if (next.http != nullptr) LogHttp(next.config.http.listen, *next.access);
    http_ = std::move(next.http);
    http_listen_ = next.config.http.listen;
  }

  // Is it the same address? Then the socket stays, with the clients that wait there.
  bool KeepsHttp(const DaemonConfig& config) const { return http_ != nullptr && config.http.listen == http_listen_; }

  const ServiceHooks& hooks_;
  Recording& recording_;
  Dumps& dumps_;
  WindowExport& window_export_;
  BlockedTimes& blocked_;
  WindowNames& names_;
  ControlServer& server_;
  const HttpSource http_source_;
  std::string http_listen_;
  std::unique_ptr<HttpServer> http_;
  const std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace

absl::Status RunService(const ServiceHooks& hooks, const std::string& version) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  const absl::StatusOr<DaemonConfig> config = hooks.read_config();
  if (!config.ok()) return config.status();
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(config->idle_patterns);
  if (!idle.ok()) return idle.status();
  const absl::StatusOr<ExportConfig> exporting = ExportConfigOf(*config, version);
  if (!exporting.ok()) return exporting.status();
  SetLogLevel(LogLevelOf(config->log_level));
  const ControlLimits limits = ControlLimitsOf(*config);
  absl::StatusOr<OwnedFd> socket = OpenSocket(*config, limits);
  if (!socket.ok()) return socket.status();
  const auto names = std::make_shared<WindowNames>(hooks.readers);
  names->SetIdlePatterns(*idle);
  WindowExport window_export;
  const absl::StatusOr<std::unique_ptr<BlockedTimes>> blocked = BlockedTimes::Start();
  if (!blocked.ok()) return blocked.status();
  const auto sink = [names, &window_export, &times = **blocked](WindowPieces pieces) {
    auto window = std::make_shared<EndedWindow>(std::move(pieces), names);
    times.Add(window);
    window_export.Add(std::move(window));
  };
  absl::StatusOr<std::unique_ptr<Recording>> recording = Recording::Start(*config, hooks.start_recorder, sink);
  if (!recording.ok()) return recording.status();
  window_export.Configure(*exporting);
  Dumps dumps(**recording, hooks.readers);
  dumps.SetIdlePatterns(*idle);
  (*blocked)->Configure(!config->http.listen.empty(), *idle);
  StackRequests stacks(hooks.readers, hooks.modules(), LoadListing);
  Requests requests(**recording, dumps, stacks, window_export, version);
  const auto answer = [&requests](const HttpRequest& request, const IsCancelled& is_cancelled) {
    return requests.Answer(request, is_cancelled);
  };
  const absl::StatusOr<std::unique_ptr<ControlServer>> server =
      ControlServer::Start(*std::move(socket), limits, answer);
  if (!server.ok()) return server.status();
  Log(LogLevel::kInfo, absl::StrCat("recording; offcpud ", version));
  NotifyReady("recording");
  const HttpSource http = {.recording = **recording,
                           .dumps = dumps,
                           .window_export = window_export,
                           .blocked = **blocked,
                           .version = version,
                           .check_health = [&recording] { return (*recording)->CheckHealth(); },
                           .control_stats = [&server] { return (*server)->stats(); }};
  Service service(hooks, **recording, dumps, window_export, **blocked, *names, **server, http);
  service.Run(signals);
  NotifyStopping();
  Log(LogLevel::kInfo, "stopping");
  EndInTime();
  hooks.readers->EndAt(Clock::now() + kLastReads);
  dumps.Stop();
  (*recording)->Interrupt();
  return absl::OkStatus();
}

absl::Status CheckNamed(const DaemonConfig& config, const std::string& version) {
  if (absl::Status status = ReadIdlePatterns(config.idle_patterns).status(); !status.ok()) return status;
  return ExportConfigOf(config, version).status();
}

}  // namespace offcpu
