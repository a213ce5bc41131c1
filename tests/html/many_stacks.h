// A profile of many stacks of which no two are the same, of few callers and many callees, as large recordings have
// them, and of waits that lie in two seconds each of a minute.
#ifndef OFFCPU_TESTS_HTML_MANY_STACKS_H_
#define OFFCPU_TESTS_HTML_MANY_STACKS_H_

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "profile/time_buckets.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {

class ManyStacks {
 public:
  // With places, each function is at up to four lines of its file.
  ManyStacks(int count, uint64_t seed, bool has_places = false) {
    for (int i = 0; i < 2000; ++i)
      names_.push_back("server::Handler<std::vector<int>>::Step" + std::to_string(i) + "(int)");
    std::mt19937_64 random(seed);
    const uint32_t kernel = fake_.Kernel({"schedule", "futex_wait", "do_syscall_64"});
    const uint32_t process = fake_.Process(10, "server");
    const uint32_t comm = fake_.Comm("worker");
    for (int i = 0; i < count; ++i) {
      std::vector<std::string_view> stack;  // leaf first
      for (size_t depth = 30; depth > 0; --depth)
        stack.push_back(names_[50 * depth + random() % (depth < 20 ? 2 : 50)]);
      const std::array<uint64_t, 2> parts = {random() % kSecond, random() % kSecond};
      const uint32_t user = fake_.User(stack);
      if (has_places) AddPlaces(random, fake_.profile.user_stacks[user]);
      fake_.Row(process, comm, user, kernel, parts[0] + parts[1]);
      const auto number = static_cast<uint32_t>(random() % (kSeconds - 1));
      TimeBuckets times;
      times.Add({.number = number, .blocked_ns = parts[0]});
      times.Add({.number = number + 1, .blocked_ns = parts[1], .count = 1});
      fake_.profile.rows.back().times = PackTimes(times, 0, 0);
    }
    fake_.profile.times = {.bucket_ns = kSecond, .begin_ns = 0};
    fake_.profile.duration_ns = kSeconds * kSecond;
  }

  const NamedProfile& profile() const { return fake_.profile; }

 private:
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint64_t kSeconds = 60;

  void AddPlaces(std::mt19937_64& random, NamedUserStack& stack) {
    for (NamedFrame& frame : stack.frames) {
      const auto first = static_cast<uint32_t>(frame.name().size());
      frame.lines = fake_.profile.names->Add({{.function = frame.name(),
                                               .file = "/src/server/handler.cc",
                                               .line = first + static_cast<uint32_t>(random() % 4),
                                               .start_line = first}});
    }
  }

  std::vector<std::string> names_;
  FakeProfile fake_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_HTML_MANY_STACKS_H_
