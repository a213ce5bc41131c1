// Waits lie where they were in time: held against a program that waits for us, so that our own clock says when it was
// woken, and against the clock itself, by which a thread that waits throughout a second waits for a second.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "profile/merge.h"
#include "profile/time_buckets.h"
#include "recorder/clocks.h"
#include "tests/harness/harness.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

using std::chrono::milliseconds;

// `cat`, which waits for lines. By CLOCK_BOOTTIME, when it was woken, at the earliest and at the latest.
class Waiter {
 public:
  // Where others have all CPUs, it takes a while until it waits.
  Waiter() {
    EXPECT_TRUE(HoldsWithin(std::chrono::seconds(60), [this] { return IsInRead(); }));
  }

  pid_t pid() const { return program_->pid(); }

  void Wake() {
    const uint64_t before_ns = ReadClocks().boot_ns;
    program_->Write("x\n");
    std::string line;
    ASSERT_TRUE(program_->ReadLine(&line));
    wakes_.emplace_back(before_ns, ReadClocks().boot_ns);
  }
  const std::vector<std::pair<uint64_t, uint64_t>>& wakes() const { return wakes_; }

 private:
  bool IsInRead() const {
    std::ifstream file("/proc/" + std::to_string(pid()) + "/syscall");
    int number = -1;
    file >> number;
    return number == SYS_read && State(pid(), pid()) == 'S';
  }

  const std::unique_ptr<Program> program_ = Program::Start({"cat"});
  std::vector<std::pair<uint64_t, uint64_t>> wakes_;
};

RecordConfig ConfigFor(const Waiter& waiter, uint64_t bucket_ns = kSecond) {
  RecordConfig config = Unthrottled({waiter.pid()});
  config.bucket_ns = bucket_ns;
  return config;
}

// All that a profile has of each bucket.
std::map<uint32_t, TimeBucket> BucketsOf(const Profile& profile) {
  std::map<uint32_t, TimeBucket> buckets;
  for (const ProfileRow& row : profile.rows) {
    const std::vector<TimeBucket> of_row = UnpackTimes(row.times).value();
    TimeBucket all;
    for (const TimeBucket& bucket : of_row) {
      buckets[bucket.number].Add(bucket);
      all.Add(bucket);
    }
    EXPECT_EQ(all.blocked_ns, row.blocked_ns);
    EXPECT_EQ(all.runnable_ns, row.runnable_ns);
    EXPECT_EQ(all.count, row.count);
  }
  return buckets;
}

uint64_t BucketAt(const Profile& profile, uint64_t boot_ns) {
  return (boot_ns - profile.start_boot_ns - static_cast<uint64_t>(profile.times.begin_ns)) / profile.times.bucket_ns;
}

// `ends`: of waits that ended, which are all but those that the recording ended, or its windows.
void ExpectItsTimes(const Profile& profile, const Waiter& waiter, uint64_t ends, uint64_t bucket_ns = kSecond) {
  ASSERT_EQ(profile.times.bucket_ns, bucket_ns);
  EXPECT_LE(profile.times.begin_ns, 0);
  EXPECT_GT(profile.times.begin_ns, -static_cast<int64_t>(bucket_ns));
  const std::map<uint32_t, TimeBucket> buckets = BucketsOf(profile);
  for (const auto& [number, bucket] : buckets) EXPECT_LE(bucket.blocked_ns + bucket.runnable_ns, bucket_ns) << number;
  const uint64_t first_wake = BucketAt(profile, waiter.wakes().front().first);
  ASSERT_GE(first_wake, 2u);
  for (uint32_t number = 1; number < first_wake; ++number) {
    ASSERT_TRUE(buckets.contains(number)) << number;
    EXPECT_EQ(buckets.at(number).blocked_ns, bucket_ns) << number;
  }
  EXPECT_EQ(ends, waiter.wakes().size());
}

// Buckets of a second, and of a 64th of one.
class WhenInBuckets : public ::testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Widths, WhenInBuckets, ::testing::Values(kSecond, kSecond / 64));

TEST_P(WhenInBuckets, AWaitLiesInThoseThatItLasts) {
  Waiter waiter;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(ConfigFor(waiter, GetParam()));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(milliseconds(3300));
  waiter.Wake();
  std::this_thread::sleep_for(milliseconds(1400));
  waiter.Wake();
  const absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();
  std::map<uint64_t, uint64_t> ends;  // by bucket
  uint64_t all_ends = 0;
  for (const ProfileRow& row : profile->rows) {
    if (row.kind != WaitKind::kSleeping) continue;
    const std::vector<TimeBucket> buckets = UnpackTimes(row.times).value();
    for (const TimeBucket& bucket : buckets) ends[bucket.number] += bucket.count;
    all_ends += row.count;
  }
  ExpectItsTimes(*profile, waiter, all_ends, GetParam());
  // A wait ends when the thread runs again, which is some time after it was woken, and before it is woken once more.
  for (size_t i = 0; i < waiter.wakes().size(); ++i) {
    const bool is_last = i + 1 == waiter.wakes().size();
    const auto begin = ends.lower_bound(BucketAt(*profile, waiter.wakes()[i].first));
    const auto end = is_last ? ends.end() : ends.upper_bound(BucketAt(*profile, waiter.wakes()[i + 1].second));
    uint64_t found = 0;
    for (auto number = begin; number != end; ++number) found += number->second;
    EXPECT_GE(found, 1u) << "it was woken before";
  }
}

// A thread that waits thousands of times a second, whose waits the kernel adds up: no bucket has more than it is long,
// so none has the waits of another one.
TEST(When, WaitsThatAreAddedUpLieInTheirBuckets) {
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.bucket_ns = kSecond / 64;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target->Go();
  target->AwaitDone();
  const absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();
  ASSERT_EQ(profile->times.bucket_ns, config.bucket_ns);
  const std::map<uint32_t, TimeBucket> buckets = BucketsOf(*profile);
  EXPECT_GE(buckets.size(), 100u) << "of 128, at the ends of which it may have waited for a CPU";
  for (const auto& [number, bucket] : buckets)
    EXPECT_LE(bucket.blocked_ns + bucket.runnable_ns, config.bucket_ns) << number;
}

TEST(When, WindowsTogetherHaveTheBucketsOfARecording) {
  Waiter waiter;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(ConfigFor(waiter));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::vector<std::shared_ptr<const Profile>> windows;
  const auto keep = [&windows](absl::StatusOr<Profile> window) {
    ASSERT_TRUE(window.ok()) << window.status();
    windows.push_back(std::make_shared<const Profile>(*std::move(window)));
  };
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(milliseconds(700));
    keep((*recorder)->Cut());
  }
  waiter.Wake();
  keep((*recorder)->Stop());
  const Profile merged = MergeProfiles(windows, Everything);
  uint64_t ends = 0;
  for (const ProfileRow& row : merged.rows) ends += row.kind == WaitKind::kSleeping ? row.count : 0;
  ExpectItsTimes(merged, waiter, ends);
}

}  // namespace
}  // namespace offcpu::integration
