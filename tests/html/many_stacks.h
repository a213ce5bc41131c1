// A profile of many stacks of which no two are the same, of few callers and many callees, as large recordings have
// them.
#ifndef OFFCPU_TESTS_HTML_MANY_STACKS_H_
#define OFFCPU_TESTS_HTML_MANY_STACKS_H_

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/profile/fake_profile.h"

namespace offcpu {

class ManyStacks {
 public:
  ManyStacks(int count, uint64_t seed) {
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
      fake_.Row(process, comm, fake_.User(stack), kernel, random() % 1'000'000'000);
    }
    fake_.profile.duration_ns = 1'000'000'000;
  }

  const NamedProfile& profile() const { return fake_.profile; }

 private:
  std::vector<std::string> names_;
  FakeProfile fake_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_HTML_MANY_STACKS_H_
