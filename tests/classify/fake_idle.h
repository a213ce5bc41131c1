// A profile with waits for work and one that is none.
#ifndef OFFCPU_TESTS_CLASSIFY_FAKE_IDLE_H_
#define OFFCPU_TESTS_CLASSIFY_FAKE_IDLE_H_

#include <cstdint>

#include "tests/profile/fake_profile.h"

namespace offcpu {

// Two waits for work by one pattern, of which one has waited for a CPU too, one by another, and one for a lock.
inline FakeProfile FakeWithIdle() {
  FakeProfile fake;
  const uint32_t server = fake.Process(10, "server");
  const uint32_t pool = fake.Process(11, "pool");
  const uint32_t comm = fake.Comm("worker");
  const uint32_t kernel = fake.Kernel({"schedule", "do_epoll_wait"});
  fake.Row(server, comm, fake.User({"epoll_wait", "loop"}), kernel, 5'000'000, 1'000'000);
  fake.Row(server, comm, fake.User({"lock", "work"}), kernel, 2'000'000, 500'000);
  fake.Row(pool, comm, fake.User({"wait", "pool"}), kernel, 9'000'000);
  fake.Row(server, comm, fake.User({"epoll_wait", "other_loop"}), kernel, 3'000'000);
  fake.profile.rows[3].count = 4;
  fake.profile.duration_ns = 1'000'000'000;
  fake.Idle({"s: loop", "", "p: pool", "s: loop"});
  return fake;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_CLASSIFY_FAKE_IDLE_H_
