// What the command line of a Java virtual machine says of the code that it will compile. Pure functions of the text;
// safe from any thread. The text is the target's own, and may say anything: only about its own stacks.
#ifndef OFFCPU_PROCESS_JAVA_OPTIONS_H_
#define OFFCPU_PROCESS_JAVA_OPTIONS_H_

#include <string_view>

namespace offcpu {

// Does all of its code keep a frame pointer? `command_line`: as in /proc/PID/cmdline, a 0 behind each argument. Options
// that come from files or the environment are not seen. What is behind the name of the program is the program's.
bool KeepsFramePointers(std::string_view command_line);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_JAVA_OPTIONS_H_
