// Lines of frames for tests.
#ifndef OFFCPU_TESTS_PROFILE_FRAME_LINES_H_
#define OFFCPU_TESTS_PROFILE_FRAME_LINES_H_

#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// Lines that are there until the end of the program, innermost first. Any thread.
inline std::span<const FrameLine> Lines(const std::vector<FrameLine>& lines) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static NameStore* const store = new NameStore();
  std::vector<FrameLine> kept;
  for (const FrameLine& line : lines)
    kept.push_back({store->Add(line.function), store->Add(line.file), line.line, line.column, line.start_line});
  return store->Add(std::move(kept));
}

// Those of a frame in one function.
inline std::span<const FrameLine> Line(std::string_view function) { return Lines({{function}}); }

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_FRAME_LINES_H_
