// Modules and stacks for tests that need no ELF.
#ifndef OFFCPU_TESTS_PROFILE_FAKE_MODULES_H_
#define OFFCPU_TESTS_PROFILE_FAKE_MODULES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

#include "process/module.h"
#include "unwind/user_stack.h"

namespace offcpu {

inline std::shared_ptr<const Module> FakeModule(const std::string& path) {
  auto module = std::make_shared<Module>();
  module->path = path;
  return module;
}

// Frames of one module, leaf first: the leaf exact, its callers return addresses found by SFrame.
inline UserStack FakeStack(const Module* module, std::initializer_list<uint64_t> addresses,
                           EndReason end = EndReason::kComplete) {
  UserStack stack;
  for (uint64_t address : addresses) {
    bool leaf = stack.frames.empty();
    stack.frames.push_back({module, address, leaf ? FrameSource::kRegisters : FrameSource::kSFrame, leaf});
  }
  stack.end = end;
  return stack;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_FAKE_MODULES_H_
