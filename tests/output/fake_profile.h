// A profile made line by line, with the names that a symbolizer would have found.
#ifndef OFFCPU_TESTS_OUTPUT_FAKE_PROFILE_H_
#define OFFCPU_TESTS_OUTPUT_FAKE_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

struct FakeProfile {
  Profile profile;
  SymbolizedProfile symbols;

  uint32_t Process(int32_t pid, const std::string& name) {
    profile.processes.push_back({.key = {.pid = pid, .start_ns = 1, .exec_id = 0}, .name = name, .container = ""});
    return static_cast<uint32_t>(profile.processes.size() - 1);
  }
  uint32_t Comm(const std::string& name) {
    profile.comms.push_back(name);
    return static_cast<uint32_t>(profile.comms.size() - 1);
  }
  // Names leaf first. The names of frames must outlive this; addresses are 0x10, 0x11, ...
  uint32_t User(const std::vector<std::string_view>& names, EndReason end = EndReason::kComplete) {
    UserStackEntry entry;
    entry.stack.end = end;
    symbols.user_stacks.emplace_back();
    for (std::string_view name : names) {
      bool leaf = entry.stack.frames.empty();
      FrameSource source = leaf ? FrameSource::kRegisters : FrameSource::kEhFrame;
      entry.stack.frames.push_back({nullptr, 0x10 + entry.stack.frames.size(), source, leaf});
      symbols.user_stacks.back().push_back({.name = name, .module = "libx.so", .named = true});
    }
    profile.user_stacks.push_back(entry);
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  uint32_t Missing(NoUserStack reason) {
    profile.user_stacks.push_back({.stack = {}, .missing = reason});
    symbols.user_stacks.emplace_back();
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  // Names leaf first; none: the definition was lost.
  uint32_t Kernel(const std::vector<std::string_view>& names) {
    profile.kernel_stacks.push_back({.id = 1, .addresses = std::vector<uint64_t>(names.size(), 0x20)});
    symbols.kernel_stacks.push_back(names);
    return static_cast<uint32_t>(profile.kernel_stacks.size() - 1);
  }
  // One interval.
  void Row(uint32_t process, uint32_t comm, uint32_t user, uint32_t kernel, uint64_t blocked_ns,
           uint64_t runnable_ns = 0, WaitKind kind = WaitKind::kSleeping) {
    profile.rows.push_back(
        {{.process = process, .comm = comm, .kernel_stack = kernel, .user_stack = user, .kind = kind},
         {.count = 1, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .max_ns = blocked_ns + runnable_ns}});
  }
  // The overflow row, as the off-CPU table makes it.
  void OverflowRow(uint64_t blocked_ns) {
    profile.user_stacks.push_back({.stack = {}, .missing = NoUserStack::kNone, .overflow = true});
    symbols.user_stacks.emplace_back();
    profile.kernel_stacks.push_back({.id = 0, .addresses = {}, .overflow = true});
    symbols.kernel_stacks.emplace_back();
    Row(Process(0, "[other]"), Comm("[other]"), static_cast<uint32_t>(profile.user_stacks.size() - 1),
        static_cast<uint32_t>(profile.kernel_stacks.size() - 1), blocked_ns, 0, WaitKind::kOther);
  }
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OUTPUT_FAKE_PROFILE_H_
