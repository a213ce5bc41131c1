// A profile of two processes, made line by line, in which waits below 100 us are a sample: two rows that are exact, one
// of 400 sampled waits and one of a single wait.
#ifndef OFFCPU_TESTS_PROFILE_SAMPLED_PROFILE_H_
#define OFFCPU_TESTS_PROFILE_SAMPLED_PROFILE_H_

#include <cstdint>

#include "tests/profile/fake_profile.h"

namespace offcpu {

inline constexpr uint64_t kSampleNs = 100'000;

// So many waits of 25 us, of which 15 us are blocked, as they come out if each was sampled with a quarter's
// probability: each stands for 4, and the variance of what it adds to a figure is 3/4 of its square.
inline RowSums SampledWaits(uint64_t sampled) {
  RowSums sums;
  for (uint64_t i = 0; i < sampled; ++i) sums.Add(RowSums::OfWait(15'000, 10'000, 0, kSampleNs));
  sums.count += static_cast<uint64_t>(sums.count_excess);
  sums.count_excess = 0;
  return sums;
}

inline FakeProfile SampledProfile() {
  FakeProfile fake;
  const uint32_t server = fake.Process(10, "server");
  const uint32_t client = fake.Process(20, "client");
  const uint32_t comm = fake.Comm("worker");
  const uint32_t kernel = fake.Kernel({"schedule", "pipe_read"});
  fake.Row(server, comm, fake.User({"read", "main"}), kernel, 50'000'000, 10'000'000);  // exact
  fake.Row(client, comm, fake.User({"poll", "main"}), kernel, 20'000'000);              // exact
  fake.Row(server, comm, fake.User({"sip", "main"}), kernel, 0);
  static_cast<RowSums&>(fake.profile.rows.back()) = SampledWaits(300);  // 30 ms +- 1.5 ms
  fake.Row(client, comm, fake.User({"peek", "main"}), kernel, 0);
  static_cast<RowSums&>(fake.profile.rows.back()) = SampledWaits(1);  // 100 us +- 86.6 us
  fake.profile.duration_ns = 1'000'000'000;
  fake.profile.stats.sample_most_ns = kSampleNs;
  fake.profile.stats.not_sampled = 900;
  return fake;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROFILE_SAMPLED_PROFILE_H_
