// A profile made line by line, with the names that a symbolizer would have found.
#ifndef OFFCPU_TESTS_PROFILE_FAKE_PROFILE_H_
#define OFFCPU_TESTS_PROFILE_FAKE_PROFILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/named_profile.h"
#include "tests/profile/frame_lines.h"

namespace offcpu {

struct FakeProfile {
  NamedProfile profile;

  uint32_t Process(int32_t pid, const std::string& name) {
    profile.processes.push_back({.key = {.pid = pid, .start_ns = 1, .exec_id = 0}, .name = name, .container = ""});
    return static_cast<uint32_t>(profile.processes.size() - 1);
  }
  uint32_t Comm(const std::string& name) {
    profile.comms.push_back(name);
    return static_cast<uint32_t>(profile.comms.size() - 1);
  }
  // Names leaf first; addresses are 0x10, 0x11, ...
  uint32_t User(const std::vector<std::string_view>& names, EndReason end = EndReason::kComplete) {
    NamedUserStack& stack = profile.user_stacks.emplace_back();
    stack.end = end;
    for (std::string_view name : names) {
      bool leaf = stack.frames.empty();
      FrameSource source = leaf ? FrameSource::kRegisters : FrameSource::kEhFrame;
      const Frame frame = {nullptr, 0x10 + stack.frames.size(), source, leaf};
      stack.frames.push_back({frame, true, Line(name), "libx.so"});
    }
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  uint32_t Missing(NoUserStack reason) {
    profile.user_stacks.push_back({.missing = reason});
    return static_cast<uint32_t>(profile.user_stacks.size() - 1);
  }
  // Names leaf first; none: the definition was lost.
  uint32_t Kernel(const std::vector<std::string_view>& names) {
    NamedKernelStack& stack = profile.kernel_stacks.emplace_back();
    for (std::string_view name : names) {
      stack.frames.push_back({{.address = 0x20, .exact = false, .kind = FrameKind::kKernel}, true, Line(name)});
    }
    return static_cast<uint32_t>(profile.kernel_stacks.size() - 1);
  }
  // One interval.
  void Row(uint32_t process, uint32_t comm, uint32_t user, uint32_t kernel, uint64_t blocked_ns,
           uint64_t runnable_ns = 0, WaitKind kind = WaitKind::kSleeping) {
    profile.rows.push_back(
        {{{.process = process, .comm = comm, .kernel_stack = kernel, .user_stack = user, .kind = kind},
          {.count = 1, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .max_ns = blocked_ns + runnable_ns}}});
  }
  // The overflow row, as the off-CPU table makes it.
  void OverflowRow(uint64_t blocked_ns) {
    profile.user_stacks.push_back({.overflow = true});
    profile.kernel_stacks.push_back({.overflow = true});
    Row(Process(0, "[other]"), Comm("[other]"), static_cast<uint32_t>(profile.user_stacks.size() - 1),
        static_cast<uint32_t>(profile.kernel_stacks.size() - 1), blocked_ns, 0, WaitKind::kOther);
  }
  // What the rows wait for work in, one by one; none: that is not known.
  void Idle(const std::vector<std::string_view>& idle) {
    profile.idle_is_told = !idle.empty();
    for (size_t i = 0; i < profile.rows.size(); ++i) profile.rows[i].idle = idle.empty() ? "" : idle.at(i);
  }
};

// What each row waits for work in; none: that is not known.
inline std::vector<std::string_view> IdleOf(const NamedProfile& profile) {
  std::vector<std::string_view> idle;
  for (const NamedRow& row : profile.rows) {
    if (profile.idle_is_told) idle.push_back(row.idle);
  }
  return idle;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_FAKE_PROFILE_H_
