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
#include "daemon/window_export.h"

namespace offcpu {

namespace control {
class StacksRequest;
}  // namespace control

inline constexpr uint32_t kControlVersion = 1;

// A Reply with an Error in it.
std::string ErrorReply(const absl::Status& status);

class Requests {
 public:
  // What it is made of must outlive it.
  Requests(Recording& recording, Dumps& dumps, const WindowExport& window_export, std::string version);

  void Answer(std::string_view request, const SendReply& send);

 private:
  std::string StatusReply() const;
  void SendDump(const DumpSelection& selection, const SendReply& send);
  static void SendStacks(const control::StacksRequest& request, const SendReply& send);
  static absl::Status SendChunks(std::string_view bytes, const SendReply& send);

  Recording& recording_;
  Dumps& dumps_;
  const WindowExport& window_export_;
  const std::string version_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_REQUESTS_H_
