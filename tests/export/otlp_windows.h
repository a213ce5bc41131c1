// Requests of a window for tests of how they are sent.
#ifndef OFFCPU_TESTS_EXPORT_OTLP_WINDOWS_H_
#define OFFCPU_TESTS_EXPORT_OTLP_WINDOWS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "otlp/otlp.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {

// One request, of `programs` that wait 1, 2, ... ms; named "program-a", "program-b", ...
inline std::string RequestOfPrograms(uint32_t programs, const OtlpOptions& options = {}) {
  RecordedProfile window;
  window.profile.duration_ns = 1'000'000'000;
  const uint32_t comm = window.AddComm("worker");
  const uint32_t kernel = window.AddPipe();
  for (uint32_t i = 0; i < programs; ++i) {
    const std::string name = std::string("program-") + static_cast<char>('a' + i % 26) + std::string(i / 26, '+');
    const std::string function = "function of " + name;
    const uint32_t user = window.AddUser(
        {RecordedProfile::Native({window.app, 0x1000 + i, FrameSource::kRegisters, true}, function, "app")});
    const uint32_t process = window.AddProcess({static_cast<int32_t>(10 + i), 1, 1}, name);
    window.profile.rows.push_back(
        {{{process, 0, comm, kernel, user, WaitKind::kSleeping, 0}, {.count = 1, .blocked_ns = (i + 1) * 1'000'000}}});
  }
  std::string only;
  WriteOtlp(window.profile, options, [&only](std::string request) { only = std::move(request); });
  return only;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_EXPORT_OTLP_WINDOWS_H_
