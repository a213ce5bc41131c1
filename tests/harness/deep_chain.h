// The chain of callers of the targets that are called deep: as it was recorded, and as a target prints it. Pure.
#ifndef OFFCPU_TESTS_HARNESS_DEEP_CHAIN_H_
#define OFFCPU_TESTS_HARNESS_DEEP_CHAIN_H_

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {

// "module 0xoffset" of every frame beyond deep_sleep, as the target prints its chain.
inline std::vector<std::string> FramesBeyondSleep(const std::vector<NamedFrame>& frames) {
  std::vector<std::string> chain;
  bool beyond = false;
  for (const NamedFrame& frame : frames) {
    if (beyond) {
      std::array<char, 32> offset = {};
      std::snprintf(offset.data(), offset.size(), " %#llx", static_cast<unsigned long long>(frame.address));
      chain.push_back(std::string(frame.module_name) + offset.data());
    }
    beyond = beyond || frame.name() == "deep_sleep";
  }
  return chain;
}

// What libgcc's unwinder has found in the target.
inline std::vector<std::string> PrintedChain(const Target& target, const std::string& thread) {
  std::vector<std::string> chain;
  for (const std::string& line : target.Lines("chain")) {
    if (line.starts_with(thread + " ")) chain.push_back(line.substr(thread.size() + 1));
  }
  return chain;
}

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_DEEP_CHAIN_H_
