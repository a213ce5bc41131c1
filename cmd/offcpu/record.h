// `offcpu record`: flags, the wait for the end, and what is written then. All the work is the recorder's.
#ifndef OFFCPU_CMD_OFFCPU_RECORD_H_
#define OFFCPU_CMD_OFFCPU_RECORD_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "offcpu/exit_code.h"

namespace offcpu {

struct RecordFlags {
  std::vector<int> pids;
  std::vector<int> tids;
  std::vector<std::string> cgroups;
  std::vector<std::string> containers;
  std::vector<std::string> comms;
  std::string min_wait = "0";
  std::vector<std::string> outputs;
  std::string seconds;  // empty: until a signal, or until what is recorded has ended
  std::vector<std::string> command;
};

void AddRecord(CLI::App& app, RecordFlags* flags);
ExitCode RunRecord(const RecordFlags& flags);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_RECORD_H_
