#include "export/ended_window.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/export/windows.h"

namespace offcpu {
namespace {

std::shared_ptr<const Profile> APiece(uint64_t blocked_ns) {
  Profile profile;
  profile.start_unix_ns = 1'790'000'000'000'000'000;
  profile.duration_ns = 10;
  profile.processes = {{.key = {.pid = 1, .start_ns = 2, .exec_id = 3}, .name = "server", .container = ""}};
  profile.comms = {"worker"};
  profile.kernel_stacks = {{.id = 1}};
  profile.user_stacks = {{.missing = NoUserStack::kLost}};
  profile.rows = {{{}, {.count = 1, .blocked_ns = blocked_ns, .runnable_ns = 5}}};
  return std::make_shared<const Profile>(std::move(profile));
}

TEST(EndedWindowTest, ItsPiecesAreOneProfile) {
  const auto window = Ended({APiece(100), APiece(20)});
  EXPECT_FALSE(window->empty());
  EXPECT_EQ(window->duration_ns(), 20u);
  EXPECT_EQ(window->blocked_ns(), 120u);
  const NamedProfile& named = window->Named();
  ASSERT_EQ(named.rows.size(), 1u);
  EXPECT_EQ(named.rows[0].blocked_ns, 120u);
  EXPECT_EQ(named.duration_ns, 20u);
  EXPECT_TRUE(Ended({})->empty());
}

TEST(EndedWindowTest, ItIsNamedOnceForAllThatAsk) {
  const auto window = Ended({APiece(100)});
  std::vector<const NamedProfile*> named(4);
  std::vector<std::thread> threads;
  for (const NamedProfile*& mine : named) threads.emplace_back([&mine, window] { mine = &window->Named(); });
  for (std::thread& thread : threads) thread.join();
  for (const NamedProfile* mine : named) EXPECT_EQ(mine, named[0]);
}

TEST(EndedWindowTest, ItsPiecesAreFreedWhenItIsNamed) {
  std::shared_ptr<const Profile> piece = APiece(100);
  const std::weak_ptr<const Profile> observed = piece;
  const auto window = Ended({std::move(piece)});
  EXPECT_FALSE(observed.expired());
  window->Named();
  EXPECT_TRUE(observed.expired());
  EXPECT_EQ(window->blocked_ns(), 100u);
}

}  // namespace
}  // namespace offcpu
