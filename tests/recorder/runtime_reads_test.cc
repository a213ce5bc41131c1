// Captures of a process with a language runtime that is made up, which wait for readings of it.
#include "recorder/runtime_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/recorder/fake_host.h"
#include "tests/recorder/fake_runtime.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RuntimeReadsTest : public ::testing::Test {
 protected:
  RuntimeReadsTest() { Make(1 << 20, {}); }
  ~RuntimeReadsTest() override { Release(); }

  void Make(size_t max_bytes, const TargetsConfig& config) {
    reads_.reset();
    stacks_ = std::make_unique<Stacks>(Stacks::Limits(), *host_, now_ns_);
    targets_ = std::make_unique<Targets>(config, host_, *stacks_, now_ns_);
    targets_->HearOf(kProcess, kProcess.pid, "java");
    while (!targets_->idle()) Wait();
    reads_ = std::make_unique<RuntimeReads>(*targets_, host_, max_bytes, now_ns_);
  }

  void Add(uint64_t cookie, const ProcessKey& process = kProcess) {
    reads_->Add(
        {.event = ACapture(cookie, kVersion1, process), .code = {.space = SpaceAt(kCode), .runtime = runtime_}});
    Take();
  }
  void Take() {
    for (const ReadyCapture& capture : reads_->TakeReady()) ready_.push_back(capture.event.cookie);
  }
  // As the pipeline does.
  void Tick() {
    targets_->Tick(now_ns_);
    reads_->Tick(now_ns_);
    Take();
  }
  void Wait() {
    std::this_thread::yield();
    targets_->Tick(now_ns_);
  }
  void Settle() {
    do {
      std::this_thread::yield();
      Tick();
    } while (!reads_->idle());
  }
  void Block() { runtime_->Block(released_.get_future().share()); }
  void Release() {
    if (!std::exchange(is_released_, true)) released_.set_value();
  }
  void AwaitReadings(size_t count) {
    while (runtime_->readings().size() < count) std::this_thread::yield();
  }

  uint64_t now_ns_ = 1'000'000'000'000'000;
  std::promise<void> released_;
  bool is_released_ = false;
  std::shared_ptr<FakeRuntime> runtime_ = std::make_shared<FakeRuntime>();
  std::shared_ptr<FakeHost> host_ = std::make_shared<FakeHost>();
  std::unique_ptr<Stacks> stacks_;
  std::unique_ptr<Targets> targets_;
  std::unique_ptr<RuntimeReads> reads_;
  std::vector<uint64_t> ready_;  // cookies, in the order in which they became ready
};

TEST_F(RuntimeReadsTest, CaptureWithoutARuntimeIsReadyAtOnce) {
  runtime_ = nullptr;
  Add(1);
  EXPECT_THAT(ready_, ElementsAre(1));
  EXPECT_TRUE(reads_->idle());
  runtime_ = std::make_shared<FakeRuntime>();
}

TEST_F(RuntimeReadsTest, CaptureWithoutWordsOfItIsReadyAtOnce) {
  runtime_->code = 0x999000;
  runtime_->has_unread = true;
  Add(1);
  EXPECT_THAT(ready_, ElementsAre(1));
  EXPECT_THAT(runtime_->readings(), IsEmpty());
}

TEST_F(RuntimeReadsTest, CaptureWithWordsOfItWaitsForAReading) {
  Add(1);
  EXPECT_THAT(ready_, IsEmpty());
  EXPECT_FALSE(reads_->idle());
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1));
  EXPECT_THAT(runtime_->readings(), ElementsAre(ElementsAre(kCode + 8, kCode + 0x10)));
}

TEST_F(RuntimeReadsTest, OneReadingServesAllThatCameBeforeIt) {
  Block();
  Add(1);
  AwaitReadings(1);
  Add(2);
  Add(3);
  Tick();
  EXPECT_THAT(ready_, IsEmpty());
  Release();
  while (ready_.empty()) Tick();
  // The next one waits for more, as each costs as much.
  now_ns_ += kBetweenRuntimeReadsNs - 1;
  Tick();
  EXPECT_THAT(ready_, ElementsAre(1));
  EXPECT_THAT(runtime_->readings(), SizeIs(1));
  now_ns_ += 1;
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1, 2, 3));
  EXPECT_THAT(runtime_->readings(), ElementsAre(SizeIs(2), SizeIs(4)));
}

// It serves those that came while it hung, too: no other one begins.
TEST_F(RuntimeReadsTest, ReadingThatHangsMakesAllReady) {
  Make(1 << 20, {.deadline = std::chrono::milliseconds(1)});
  runtime_->has_unread = true;
  Block();
  Add(1);
  AwaitReadings(1);
  Add(2);
  while (ready_.empty()) Tick();
  EXPECT_THAT(ready_, ElementsAre(1, 2));
  EXPECT_TRUE(targets_->IsStuck(kProcess));
  EXPECT_TRUE(reads_->idle()) << "the names wait for nothing that may never come";
  now_ns_ += 10 * kReadRuntimeAgainNs;
  Tick();
  Add(3);
  EXPECT_THAT(ready_, ElementsAre(1, 2, 3));
  EXPECT_THAT(runtime_->readings(), SizeIs(1));
  // It was only slow.
  Release();
  while (targets_->IsStuck(kProcess)) Tick();
  now_ns_ += kReadRuntimeAgainNs;
  Tick();
  Add(4);
  EXPECT_THAT(ready_, ElementsAre(1, 2, 3));
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1, 2, 3, 4));
  AwaitReadings(2);  // on a busy host this one, too, may take longer than a millisecond
}

TEST_F(RuntimeReadsTest, ProcessThatCannotBeReadIsTriedAgainLater) {
  runtime_->can_be_read = false;
  runtime_->has_unread = runtime_->leaves_unread = true;
  Add(1);
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1));
  now_ns_ += kReadRuntimeAgainNs - 1;
  Tick();
  Add(2);
  EXPECT_THAT(ready_, ElementsAre(1, 2));
  EXPECT_TRUE(reads_->idle());
  EXPECT_THAT(runtime_->readings(), SizeIs(1));
  runtime_->can_be_read = true;
  runtime_->leaves_unread = false;
  now_ns_ += 1;
  Tick();
  Settle();
  EXPECT_THAT(runtime_->readings(), SizeIs(2));
}

TEST_F(RuntimeReadsTest, StacksAndWordsOfSoManyBytesWait) {
  constexpr size_t kBytes = 4 * 8 + 2 * 8;  // the words of a stack, and those that may be code
  Make(kBytes, {});
  Block();
  Add(1);
  EXPECT_THAT(ready_, IsEmpty());
  Add(2);
  EXPECT_THAT(ready_, ElementsAre(2));
  Release();
  Settle();
  EXPECT_THAT(ready_, ElementsAre(2, 1));
  Make(kBytes - 1, {});
  Add(3);
  EXPECT_THAT(ready_, ElementsAre(2, 1, 3));
}

TEST_F(RuntimeReadsTest, SoManyProcessesAreRead) {
  Block();
  ProcessKey process = kOther;
  for (size_t i = 0; i < kMaxRuntimeProcesses; ++i, ++process.pid) Add(1, process);
  EXPECT_THAT(ready_, IsEmpty());
  Add(2, process);
  EXPECT_THAT(ready_, ElementsAre(2));
  Add(3, kOther);
  EXPECT_THAT(ready_, ElementsAre(2)) << "it is one of them";
}

TEST_F(RuntimeReadsTest, AtTheEndAllAreReadyOnce) {
  Block();
  Add(1);
  AwaitReadings(1);
  Add(2);
  reads_->EndWaiting();
  Take();
  EXPECT_THAT(ready_, ElementsAre(1, 2));
  Release();
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1, 2));
}

// Walks come behind the reading, and meet functions.
TEST_F(RuntimeReadsTest, NamesAreReadBehindTheWalks) {
  Add(1);
  Settle();
  runtime_->has_unread = true;
  EXPECT_FALSE(reads_->idle());
  now_ns_ += kRuntimeRememberedNs;
  Settle();
  EXPECT_FALSE(runtime_->has_unread);
  EXPECT_THAT(runtime_->readings(), ElementsAre(SizeIs(2), IsEmpty()));
}

// What a program makes readings take, it waits for itself: the next one is a second later.
TEST_F(RuntimeReadsTest, ReadingsTakeAPartOfACpu) {
  runtime_->cpu_ns = kRuntimeRate.at_once_ns + ReadingPace::kLongestPauseNs / kRuntimeRate.part;
  runtime_->leaves_unread = true;
  Add(1);
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1));
  EXPECT_TRUE(reads_->idle()) << "nothing waits for names that there is no time for";
  Add(2);
  now_ns_ += ReadingPace::kLongestPauseNs - 1;
  Tick();
  EXPECT_THAT(runtime_->readings(), SizeIs(1));
  EXPECT_FALSE(reads_->idle());
  now_ns_ += 1;
  Tick();
  AwaitReadings(2);
  Settle();
  EXPECT_THAT(ready_, ElementsAre(1, 2));
}

// There is no later for the names of the last stacks.
TEST_F(RuntimeReadsTest, AtTheEndEachProcessIsReadOnceMoreAtOnce) {
  runtime_->cpu_ns = kRuntimeRate.at_once_ns + ReadingPace::kLongestPauseNs / kRuntimeRate.part;
  runtime_->leaves_unread = true;
  Add(1);
  Settle();
  now_ns_ += kBetweenRuntimeReadsNs;
  Tick();
  EXPECT_TRUE(reads_->idle());
  reads_->BeginEnd();
  EXPECT_FALSE(reads_->idle());
  Settle();
  EXPECT_THAT(runtime_->readings(), SizeIs(2)) << "and no more than it may take";
}

TEST_F(RuntimeReadsTest, QuietProcessIsForgotten) {
  Add(1);
  Settle();
  EXPECT_EQ(reads_->processes(), 1u);
  now_ns_ += kRuntimeRate.at_once_ns * kRuntimeRate.part + ReadingPace::kLongestPauseNs + kRuntimeRememberedNs;
  Tick();
  EXPECT_EQ(reads_->processes(), 0u);
}

}  // namespace
}  // namespace offcpu
