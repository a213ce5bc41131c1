// A profile with a ledger.
#ifndef OFFCPU_TESTS_PROFILE_FAKE_LEDGER_H_
#define OFFCPU_TESTS_PROFILE_FAKE_LEDGER_H_

#include <cstdint>

#include "tests/profile/fake_profile.h"

namespace offcpu {

// Two threads of a server, and a hog that has never waited.
inline FakeProfile FakeWithLedger() {
  constexpr uint64_t kMs = 1'000'000;
  FakeProfile fake;
  const uint32_t server = fake.Process(10, "server");
  const uint32_t hog = fake.Process(20, "hog");
  fake.profile.ledger = {
      {.process = server,
       .tid = 10,
       .comm = "main",
       .wall_ns = 100 * kMs,
       .on_cpu_ns = 10 * kMs,
       .stolen_ns = 1 * kMs,
       .blocked_ns = 50 * kMs,
       .runnable_ns = 30 * kMs,
       .lost_ns = {4 * kMs, 0, 5 * kMs}},
      {.process = server, .tid = 11, .comm = "worker", .wall_ns = 20 * kMs, .blocked_ns = 20 * kMs + 5},
      {.process = hog, .tid = 20, .comm = "hog", .wall_ns = 200 * kMs, .on_cpu_ns = 200 * kMs}};
  return fake;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_FAKE_LEDGER_H_
