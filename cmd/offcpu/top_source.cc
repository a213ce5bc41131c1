#include "offcpu/top_source.h"

#include <cstdint>
#include <utility>

#include "offcpu/daemon.h"
#include "offcpu/record_flags.h"
#include "pprof/pprof_reader.h"
#include "recorder/clocks.h"
#include "recorder/recorder.h"
#include "symbolize/symbolizer.h"

namespace offcpu {
namespace {

constexpr int kNobody = -1;  // a pid that no process has

class ServiceSource : public TopSource {
 public:
  ServiceSource(std::string socket, TopSelection selection)
      : socket_(std::move(socket)), selection_(std::move(selection)) {}

  // A dump ends the running window, so that the next one begins here.
  absl::Status Begin() {
    since_boot_ns_ = unix_time_.BootNow();
    return Ask({.pids = {kNobody}, .comms = {}}).status();
  }

  std::string name() const override { return "offcpud"; }
  absl::StatusOr<NamedProfile> Next() override { return Ask(selection_); }

 private:
  absl::StatusOr<NamedProfile> Ask(const TopSelection& selection) {
    const absl::StatusOr<std::string> bytes =
        AskDaemon(socket_, DumpTarget({.since_unix_ns = unix_time_.UnixOf(since_boot_ns_),
                                       .until_unix_ns = 0,
                                       .pids = selection.pids,
                                       .comms = selection.comms}));
    if (!bytes.ok()) return bytes.status();
    absl::StatusOr<NamedProfile> profile = ParsePprof(*bytes);
    if (!profile.ok() || profile->duration_ns == 0) return profile;
    // By the service's own clock: windows that have ended by then do not come twice.
    since_boot_ns_ = unix_time_.BootOf(profile->start_unix_ns + profile->duration_ns + profile->stats.suspended_ns);
    return profile;
  }

  const std::string socket_;
  const TopSelection selection_;
  UnixTime unix_time_;
  uint64_t since_boot_ns_ = 0;
};

class OwnSource : public TopSource {
 public:
  explicit OwnSource(std::unique_ptr<Recorder> recorder) : recorder_(std::move(recorder)) {}

  std::string name() const override { return "itself"; }
  absl::StatusOr<NamedProfile> Next() override {
    absl::StatusOr<Profile> profile = recorder_->Cut();
    if (!profile.ok()) return profile.status();
    return Symbolize(*std::move(profile));
  }

 private:
  std::unique_ptr<Recorder> recorder_;
};

absl::StatusOr<std::unique_ptr<TopSource>> Record(const TopSelection& selection) {
  RecordFlags flags;
  flags.pids = selection.pids;
  flags.comms = selection.comms;
  const absl::StatusOr<RecordConfig> config = RecordConfigOf(flags);
  if (!config.ok()) return config.status();
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(*config);
  if (!recorder.ok()) return recorder.status();
  return std::make_unique<OwnSource>(*std::move(recorder));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TopSource>> TopSource::Open(const std::string& socket, const TopSelection& selection) {
  auto service = std::make_unique<ServiceSource>(socket, selection);
  const absl::Status begun = service->Begin();
  if (begun.ok()) return service;
  if (!IsWorthDoingWithout(begun)) return begun;
  absl::StatusOr<std::unique_ptr<TopSource>> own = Record(selection);
  return own.ok() ? std::move(own) : WithoutDaemon(own.status(), begun);
}

}  // namespace offcpu
