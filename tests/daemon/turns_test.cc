#include "daemon/turns.h"

#include <atomic>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

class TurnsTest : public ::testing::Test {
 protected:
  // Returns when it has asked, and has to wait.
  std::future<absl::StatusCode> Queue(int number, Turns::Clock::duration patience = std::chrono::hours(1)) {
    const auto asked = std::make_shared<std::atomic<bool>>(false);
    std::future<absl::StatusCode> ended = std::async(std::launch::async, [this, number, patience, asked] {
      const IsCancelled is_cancelled = [this, number, asked] {
        *asked = true;  // it is asked about while it waits
        return called_off_ == number;
      };
      const absl::StatusOr<Turns::Turn> turn = turns_.Await("tests", Turns::Clock::now() + patience, is_cancelled);
      *asked = true;
      if (turn.ok()) served_.push_back(number);
      return turn.status().code();
    });
    while (!*asked) std::this_thread::yield();
    return ended;
  }
  std::optional<Turns::Turn> Take() {
    absl::StatusOr<Turns::Turn> turn =
        turns_.Await("tests", Turns::Clock::now() + std::chrono::hours(1), [] { return false; });
    EXPECT_TRUE(turn.ok()) << turn.status();
    return turn.ok() ? std::optional(*std::move(turn)) : std::nullopt;
  }

  std::atomic<int> called_off_ = 0;
  std::vector<int> served_;  // of who has a turn
  Turns turns_{1};
};

TEST_F(TurnsTest, ComeInTheOrderInWhichTheyWereAskedFor) {
  std::optional<Turns::Turn> first = Take();
  std::vector<std::future<absl::StatusCode>> asked;
  for (int i = 1; i <= 8; ++i) asked.push_back(Queue(i));
  first.reset();
  for (auto& one : asked) EXPECT_EQ(one.get(), absl::StatusCode::kOk);
  EXPECT_THAT(served_, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_F(TurnsTest, WhoGoesHoldsUpNobody) {
  std::optional<Turns::Turn> first = Take();
  std::future<absl::StatusCode> hasty = Queue(1, std::chrono::milliseconds(1));
  std::future<absl::StatusCode> gone = Queue(2);
  std::future<absl::StatusCode> patient = Queue(3);
  EXPECT_EQ(hasty.get(), absl::StatusCode::kResourceExhausted);
  called_off_ = 2;
  EXPECT_EQ(gone.get(), absl::StatusCode::kCancelled);
  first.reset();
  EXPECT_EQ(patient.get(), absl::StatusCode::kOk);
  EXPECT_THAT(served_, ElementsAre(3));
}

TEST_F(TurnsTest, WaitForRoom) {
  std::atomic<bool> has_room = false;
  std::atomic<int> asked = 0;
  std::future<bool> served = std::async(std::launch::async, [&] {
    return turns_
        .Await(
            "tests", Turns::Clock::now() + std::chrono::hours(1), [] { return false; },
            [&] {
              ++asked;
              return has_room.load();
            })
        .ok();
  });
  while (asked < 2) std::this_thread::yield();  // it is asked again
  has_room = true;
  EXPECT_TRUE(served.get());
}

TEST(TurnsOfTwoTest, AreHadAtATime) {
  Turns turns(2);
  const auto take = [&turns](Turns::Clock::duration patience) {
    return turns.Await("tests", Turns::Clock::now() + patience, [] { return false; });
  };
  const auto first = take(std::chrono::hours(1));
  const auto second = take(std::chrono::hours(1));
  EXPECT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(take(std::chrono::milliseconds(1)).status(),
            absl::ResourceExhaustedError("too many tests are wanted at the same time; try again"));
}

}  // namespace
}  // namespace offcpu
