// The unwind tables of an ELF object of any machine, for tests.
#ifndef OFFCPU_TESTS_UNWIND_SFRAME_OBJECT_H_
#define OFFCPU_TESTS_UNWIND_SFRAME_OBJECT_H_

#include <string>
#include <vector>

#include "process/module.h"

namespace offcpu {

struct SFrameObject {
  ModuleTable table;     // .sframe
  ModuleTable eh_frame;  // as a target has it in memory
  std::vector<CodeRange> code;
  bool relocatable = false;  // its functions have no addresses yet
};

// Without a table where there is no such section.
SFrameObject ReadSFrameObject(const std::string& path);

// The path of an object that is checked in.
std::string SFrameFixture(const std::string& name);
// The path of a program that is checked in to be recorded.
std::string SFrameProgram(const std::string& name);

}  // namespace offcpu

#endif  // OFFCPU_TESTS_UNWIND_SFRAME_OBJECT_H_
