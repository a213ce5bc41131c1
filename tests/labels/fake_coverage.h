// A profile whose walks have gone through several modules.
#ifndef OFFCPU_TESTS_LABELS_FAKE_COVERAGE_H_
#define OFFCPU_TESTS_LABELS_FAKE_COVERAGE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/profile/fake_profile.h"

namespace offcpu {

// Walks that end early in node and in code without a file, and one that is complete.
inline FakeProfile FakeWithCoverage() {
  FakeProfile fake;
  for (const char* path : {"/usr/bin/node", "/usr/lib/libc.so.6", "/usr/lib/libs\n.so"}) {
    auto module = std::make_shared<Module>();
    module->path = path;
    fake.profile.code.push_back(std::move(module));
  }
  const auto add = [&fake](const std::vector<Frame>& frames, EndReason end, uint64_t count) {
    NamedUserStack& stack = fake.profile.user_stacks.emplace_back();
    for (const Frame& frame : frames) stack.frames.push_back({frame});
    stack.end = end;
    fake.profile.rows.push_back(
        {{{.user_stack = static_cast<uint32_t>(fake.profile.user_stacks.size() - 1)}, {.count = count}}});
  };
  const CodeObject* node = fake.profile.code[0].get();
  const CodeObject* libc = fake.profile.code[1].get();
  const CodeObject* odd = fake.profile.code[2].get();
  add({{libc, 1, FrameSource::kRegisters}, {node, 2, FrameSource::kSFrame}}, EndReason::kNoRow, 7);
  add({{libc, 1, FrameSource::kRegisters}, {nullptr, 2, FrameSource::kSFrame}}, EndReason::kBadCfa, 2);
  add({{odd, 1, FrameSource::kRegisters}, {odd, 2, FrameSource::kFramePointer}}, EndReason::kComplete, 1);
  return fake;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_LABELS_FAKE_COVERAGE_H_
