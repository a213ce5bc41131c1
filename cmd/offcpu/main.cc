// The command line tool: lists its verbs.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "offcpu/command_line.h"
#include "offcpu/verb.h"

namespace {

// Puts a file that cannot be written to where the standard input, output or error is closed: else what is opened next
// would be taken for it.
void HoldStandardFiles() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int held = open("/dev/null", O_RDONLY);  // it gets the lowest number that is free
  }
}

}  // namespace

int main(int argc, char** argv) {
  HoldStandardFiles();
  // Captured stacks hold other programs' secrets: no core dump, no ptrace by the same user.
  prctl(PR_SET_DUMPABLE, 0);
  return offcpu::RunCommandLine(
      std::vector<std::string>(argv + 1, argv + argc),
      {offcpu::RecordVerb(), offcpu::TopVerb(), offcpu::StacksVerb(), offcpu::ReportVerb(), offcpu::DiffVerb(),
       offcpu::DumpVerb(), offcpu::StatusVerb(), offcpu::DoctorVerb(), offcpu::SFrameVerb()});
}
