// One verb of the command line: `offcpu record`, `offcpu report`, ... Each has a file of its own that says what it is
// called with and runs it; main only lists them.
#ifndef OFFCPU_CMD_OFFCPU_VERB_H_
#define OFFCPU_CMD_OFFCPU_VERB_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "offcpu/exit_code.h"
#include "offcpu/flag.h"

namespace offcpu {

struct Verb {
  std::string name;
  std::string help;
  std::string footer;
  std::vector<Flag> flags;
  std::function<ExitCode()> run;                // after parsing; owns the values of the flags
  std::vector<std::string>* command = nullptr;  // what followed a lone "--"; null: nothing may
};

Verb RecordVerb();
Verb TopVerb();
Verb StacksVerb();
Verb ReportVerb();
Verb DiffVerb();
Verb DoctorVerb();
Verb DumpVerb();
Verb StatusVerb();
Verb SFrameVerb();

// Says in one line on the standard error what went wrong, and returns the exit code for it.
ExitCode Fail(const absl::Status& status);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_VERB_H_
