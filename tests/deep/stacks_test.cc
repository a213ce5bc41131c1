// Stacks are whole and right: compared with what the recorded program's own unwinder says of it.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "tests/deep/sampler.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

std::vector<std::string> Levels(const std::string& prefix, int count) {
  std::vector<std::string> names;
  for (int i = 1; i <= count; ++i) {
    std::array<char, 16> name = {};
    std::snprintf(name.data(), name.size(), "%s_%02d", prefix.c_str(), i);
    names.emplace_back(name.data());
  }
  names.emplace_back("deep_sleep");
  return names;
}

// "module 0xoffset" of every frame beyond deep_sleep, as the target prints its chain.
std::vector<std::string> FramesBeyondSleep(const StackRow& row) {
  std::vector<std::string> chain;
  bool beyond = false;
  for (size_t i = 0; i < row.user->frames.size(); ++i) {
    if (beyond) {
      std::array<char, 32> offset = {};
      std::snprintf(offset.data(), offset.size(), " %#llx",
                    static_cast<unsigned long long>(row.user->frames[i].address));
      chain.push_back(std::string(row.user->frames[i].module_name) + offset.data());
    }
    beyond = beyond || row.user->frames[i].name() == "deep_sleep";
  }
  return chain;
}

std::vector<std::string> PrintedChain(const Target& target, const std::string& thread) {
  std::vector<std::string> chain;
  for (const std::string& line : target.Lines("chain")) {
    if (line.rfind(thread + " ", 0) == 0) chain.push_back(line.substr(thread.size() + 1));
  }
  return chain;
}

// At least 99 % of a thread's intervals have the whole chain; none has a part of it that is wrong. `least_share` of its
// sleeps are recorded.
void ExpectWholeChains(const Recording& recording, const Target& target, const std::string& thread,
                       const std::string& comm, const std::vector<std::string>& levels, double least_share) {
  const std::vector<std::string> expected = PrintedChain(target, thread);
  ASSERT_GE(expected.size(), levels.size()) << "the target's own unwinder did not get through";
  uint64_t whole = 0;
  uint64_t all = 0;
  for (const StackRow& row : recording.Rows([&](const StackRow& r) { return r.comm == comm; })) {
    // Before and after the run the thread waits elsewhere.
    if (row.complete() && !row.Has("deep_sleep")) continue;
    all += row.row->count;
    if (!row.complete()) continue;
    EXPECT_EQ(FramesBeyondSleep(row), expected) << row.Text();
    EXPECT_TRUE(row.Calls(levels)) << row.Text();
    whole += row.row->count;
  }
  std::printf("%s: %llu of %llu intervals with the whole chain of %zu frames\n", comm.c_str(),
              static_cast<unsigned long long>(whole), static_cast<unsigned long long>(all), expected.size());
  EXPECT_GT(static_cast<double>(all), least_share * static_cast<double>(target.Measured(thread, "deep_sleep").count));
  EXPECT_GE(static_cast<double>(whole), 0.99 * static_cast<double>(all)) << recording.LossesText();
}

void ExpectDeep(const Recording& recording, const Target& target, const std::vector<std::string>& levels,
                double least_share = 0.9) {
  std::vector<std::string> from_start = {"_start", "main"};
  from_start.insert(from_start.end(), levels.begin(), levels.end());
  ExpectWholeChains(recording, target, "main", "deep", from_start, least_share);
  ExpectWholeChains(recording, target, "deep_thread", "deep_thread", levels, least_share);
}

void RecordDeep(const std::vector<std::string>& words, const std::vector<std::string>& levels) {
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  ExpectDeep(Record(Unthrottled({target->pid()}), *target), *target, levels);
}

TEST(DeepStack, SixtyFramesFromStartAndFromClone) { RecordDeep({"deep", "--seconds", "2"}, Levels("deep", 60)); }

// Captures hold enough of so large a stack once the recorder has seen the first ones, after some rounds of reading.
// These are in a window of their own.
TEST(DeepStack, FortyFramesOfOneKilobyteEach) {
  const std::unique_ptr<Target> target = Target::Start({"deep", "--big", "--seconds", "4"});
  ASSERT_NE(target, nullptr);
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({target->pid()}));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target->Go();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  ASSERT_TRUE((*recorder)->Cut().ok());
  target->AwaitDone();
  const Recording recording = MustStop(**recorder);
  ExpectDeep(recording, *target, Levels("big", 40), 0.6);
}

TEST(DeepStack, IsTheSameBesideTenThousandSamplesASecond) {
  const Sampler sampler(10'000);
  RecordDeep({"deep", "--seconds", "2"}, Levels("deep", 60));
  EXPECT_GT(sampler.samples(), 1000u);
}

void RecordTwoCallers() {
  const std::unique_ptr<Target> target = Target::Start({"two_callers", "--rounds", "3000"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  ASSERT_EQ(target->Value("differing_layouts"), 0u) << "the callers can be told apart by registers: no test";

  const auto waits = [](const StackRow& row) { return row.Has("shared_wait"); };
  for (const StackRow& row : recording.Rows(waits)) {
    EXPECT_FALSE(row.Has("caller_a") && row.Has("caller_b")) << row.Text();
    EXPECT_TRUE(!row.complete() || row.Has("caller_a") || row.Has("caller_b")) << row.Text();
  }
  for (const char* caller : {"caller_a", "caller_b"}) {
    const Measure measured = target->Measured("main", caller);
    const Measure got = recording.Sum([&](const StackRow& row) {
      return row.Calls({"_start", "main", caller, "shared_wait"});
    });
    std::printf("%s: %.2f %% of the measured time\n", caller,
                100.0 * static_cast<double>(got.ns) / static_cast<double>(measured.ns));
    EXPECT_TRUE(Within(got.ns, measured.ns, 0.02, target->stolen_ns()))
        << caller << ": " << got.ns << " ns, measured " << measured.ns << "\n"
        << recording.LossesText();
  }
}

TEST(TwoCallers, OfOneFunctionAreToldApart) { RecordTwoCallers(); }

TEST(TwoCallers, AreToldApartBesideTenThousandSamplesASecond) {
  const Sampler sampler(10'000);
  RecordTwoCallers();
  EXPECT_GT(sampler.samples(), 1000u);
}

}  // namespace
}  // namespace offcpu::integration
