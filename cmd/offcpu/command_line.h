// Reads the command line by what the verbs say that they take.
#ifndef OFFCPU_CMD_OFFCPU_COMMAND_LINE_H_
#define OFFCPU_CMD_OFFCPU_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "offcpu/verb.h"

namespace offcpu {

// Fills the values of the chosen verb's flags, runs it and returns its exit code. Prints the help or the version where
// that is asked for. A wrong use is said in one line on the standard error. `arguments`: without the program's name.
int RunCommandLine(std::vector<std::string> arguments, const std::vector<Verb>& verbs);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_COMMAND_LINE_H_
