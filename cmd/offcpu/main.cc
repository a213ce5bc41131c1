// The command line tool: lists its verbs.
#include <sys/prctl.h>

#include <string>
#include <vector>

#include "offcpu/command_line.h"
#include "offcpu/verb.h"

int main(int argc, char** argv) {
  // Captured stacks hold other programs' secrets: no core dump, no ptrace by the same user.
  prctl(PR_SET_DUMPABLE, 0);
  return offcpu::RunCommandLine(
      std::vector<std::string>(argv + 1, argv + argc),
      {offcpu::RecordVerb(), offcpu::TopVerb(), offcpu::StacksVerb(), offcpu::ReportVerb(), offcpu::DiffVerb(),
       offcpu::DumpVerb(), offcpu::StatusVerb(), offcpu::DoctorVerb(), offcpu::SFrameVerb()});
}
