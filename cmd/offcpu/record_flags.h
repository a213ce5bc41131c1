// The flags of `offcpu record`, and what they ask the recorder for. Every error is found before anything is loaded.
#ifndef OFFCPU_CMD_OFFCPU_RECORD_FLAGS_H_
#define OFFCPU_CMD_OFFCPU_RECORD_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "offcpu/filter_flags.h"
#include "offcpu/flag.h"
#include "offcpu/outputs.h"
#include "recorder/recorder.h"

namespace offcpu {

struct RecordFlags {
  std::vector<int> pids;
  std::vector<int> tids;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;
  std::vector<std::string> comms;
  std::vector<std::string> uids;  // or names of users
  std::string min_wait = "0";
  std::string max_wait = "0";  // any length
  std::vector<std::string> states;
  std::string sample = "auto";
  std::string cpu_budget = "1%";
  bool kernel_threads = false;
  std::string unwind = "sframe,eh_frame,fp";
  uint32_t max_frames = kMaxFrames;
  bool ledger = false;
  bool wakers = false;
  uint32_t oncpu_hz = 0;
  bool debuginfod = false;
  OutputFlags outputs;
  FilterFlags filter;   // of what is recorded, what is shown; only --only
  std::string seconds;  // empty: until a signal, or until what is recorded has ended
  std::vector<std::string> command;
};

// All of them, and where their values go.
std::vector<Flag> RecordFlagsOf(RecordFlags* values);

bool IsWholeHost(const RecordFlags& flags);
// What is recorded, as flags: "--comm nosuch*"; empty: the whole host, or a command.
std::string SelectionOf(const RecordFlags& flags);
// Does a thread have a name that one of `globs` matches, now?
bool HasThreadCalled(const std::vector<std::string>& globs);
absl::StatusOr<RecordConfig> RecordConfigOf(const RecordFlags& flags);
// In nanoseconds; 0: until a signal, or until what is recorded has ended.
absl::StatusOr<uint64_t> RecordLength(const RecordFlags& flags);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_RECORD_FLAGS_H_
