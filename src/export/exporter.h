// Takes windows that have ended off the host: as OTLP profiles to a collector, and as pprof files into a directory.
//
// A window is named and encoded, and put into the outbox (export/outbox.h), by one thread; another sends what is there,
// the oldest first, again and again until the collector has it or it is too old. So adding a window waits neither for a
// slow collector nor for a slow disk; what cannot be kept is counted, and the counts are part of what is exported next.
// Every request arrives or is counted as lost; one whose answer was lost arrives twice.
//
// Threads: any. The program ignores SIGPIPE.
#ifndef OFFCPU_EXPORT_EXPORTER_H_
#define OFFCPU_EXPORT_EXPORTER_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "export/answer_log.h"
#include "export/answer_meaning.h"
#include "export/ended_window.h"
#include "export/export_config.h"
#include "export/http_poster.h"
#include "export/outbox.h"
#include "export/pprof_files.h"
#include "export/refusals.h"
#include "export/say.h"
#include "export/spool_record.h"
#include "export/window_files.h"
#include "profile/named_profile.h"
#include "profile/profile.h"

namespace offcpu {

struct ExporterLimits {
  size_t windows = 2;               // that wait to be encoded; with one more the oldest is lost
  size_t memory_bytes = 16u << 20;  // of requests, where there is no disk to put them on
  BackoffLimits backoff;
};

struct ExporterStats {
  uint64_t windows = 0;  // that were added
  uint64_t requests_sent = 0;
  uint64_t bytes_sent = 0;  // of their bodies, as they were sent
  uint64_t retries = 0;
  uint64_t requests_waiting = 0;
  uint64_t bytes_waiting = 0;
  uint64_t oldest_unix_ns = 0;  // start of the oldest window that waits; 0: none does
  PprofFilesStats files;
  // Requests with their share of their windows' time, by reason, and whole windows that were not encoded. Those of the
  // spool since it was made, others since the service started.
  std::vector<Loss> losses;
  std::vector<Loss> refused;  // profiles, by type: those that the collector took nothing of
  std::string last_error;     // of sending; empty: the last try went well
};

// What an exporter leaves to the next one, so that counters go on.
struct ExporterPast {
  ExporterStats stats;     // `losses`: without those of the spool
  std::vector<Loss> told;  // losses that windows have carried, all of them
};

class Exporter {
 public:
  // What cannot be used is said: where the spool's directory cannot, what waits is in memory; where a thread cannot be
  // started, windows or requests wait, and are lost.
  Exporter(const ExportConfig& config, Say say, const ExporterLimits& limits = {},
           std::optional<ExporterPast> past = std::nullopt);
  // Stops.
  ~Exporter();
  Exporter(const Exporter&) = delete;
  Exporter& operator=(const Exporter&) = delete;

  // At once, whatever the state of disk and collector.
  void Add(std::shared_ptr<EndedWindow> window);
  // Windows that were added are on disk when it returns, within seconds, and sending ends; what the disk does not take
  // even now is lost. One call; none of the others after it.
  ExporterPast Stop();

  ExporterStats stats() const;

 private:
  void Begin(const char* name, std::function<void()> loop, std::thread* thread) const;
  void EncodeLoop();
  void Encode(const NamedProfile& window);
  void Keep(std::vector<SpoolRecord> records);
  void SendLoop();
  Judgement JudgeAnswer(const SpoolRecord& record, const HttpAnswer& answer);
  void Settle(const SpoolRecord& record, const Judgement& judgement);
  void LoseLocked(const std::string& reason, uint64_t count, uint64_t ns);

  const ExportConfig config_;
  const Say say_;
  const ExporterLimits limits_;
  Outbox outbox_;
  HttpPoster poster_;  // of the sender, as the next two are
  Refusals refusals_;
  AnswerLog answers_;
  WindowFiles files_;  // of the encoder, as told_ is
  std::vector<Loss> told_;

  mutable std::mutex mutex_;
  std::condition_variable added_;                     // to windows_
  std::condition_variable to_send_;                   // or stop_
  std::deque<std::shared_ptr<EndedWindow>> windows_;  // guarded by mutex_, as what follows is
  bool has_new_ = false;                              // to be sent
  bool stop_ = false;
  ExporterStats stats_;
  std::vector<Loss> losses_;  // beside those of outbox_

  std::thread encoder_;  // last: they use all of the above
  std::thread sender_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_EXPORTER_H_
