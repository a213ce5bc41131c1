// One verb of the command line: `offcpu record`, `offcpu report`, ... Each has a file of its own that adds it to the
// parser and runs it; main only chooses.
#ifndef OFFCPU_CMD_OFFCPU_VERB_H_
#define OFFCPU_CMD_OFFCPU_VERB_H_

#include <functional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "offcpu/exit_code.h"

namespace offcpu {

struct Verb {
  CLI::App* app = nullptr;
  std::function<ExitCode()> run;  // after parsing; owns the values of the flags
};

// `command`: what followed a lone "--"; read when the verb is run.
Verb AddRecord(CLI::App& offcpu, const std::vector<std::string>& command);
Verb AddTop(CLI::App& offcpu);
Verb AddStacks(CLI::App& offcpu);
Verb AddReport(CLI::App& offcpu);
Verb AddDoctor(CLI::App& offcpu);
Verb AddDump(CLI::App& offcpu);
Verb AddStatus(CLI::App& offcpu);
Verb AddSFrame(CLI::App& offcpu);

// Says in one line on the standard error what went wrong, and returns the exit code for it.
ExitCode Fail(const absl::Status& status);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_VERB_H_
