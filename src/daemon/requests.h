// What clients of the control socket ask for (proto/control.proto), answered from a recording. Any thread.
#ifndef OFFCPU_DAEMON_REQUESTS_H_
#define OFFCPU_DAEMON_REQUESTS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "daemon/control_server.h"
#include "daemon/dumps.h"
#include "daemon/recording.h"
#include "daemon/stack_requests.h"
#include "daemon/window_export.h"

namespace offcpu {

inline constexpr uint32_t kControlVersion = 1;

// A Reply with an Error in it.
std::string ErrorReply(const absl::Status& status);

class Requests {
 public:
  // What it is made of must outlive it.
  Requests(Recording& recording, Dumps& dumps, StackRequests& stacks, const WindowExport& window_export,
           std::string version);

  void Answer(std::string_view request, const SendReply& send, const IsCancelled& is_cancelled);

 private:
  std::string StatusReply() const;
  uint64_t BootOf(uint64_t unix_ns) const;
  void SendDump(const DumpSelection& selection, const SendReply& send, const IsCancelled& is_cancelled);
  void SendStacks(const control::StacksRequest& request, const SendReply& send, const IsCancelled& is_cancelled);
  static absl::Status SendChunks(std::string_view bytes, const SendReply& send);

  Recording& recording_;
  Dumps& dumps_;
  StackRequests& stacks_;
  const WindowExport& window_export_;
  const std::string version_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_REQUESTS_H_
