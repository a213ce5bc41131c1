// What members of the group can take of the control socket, and what root has whatever they take.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "control_server_fixture.h"
#include "gmock/gmock.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

TEST_F(ControlServerTest, WhoSaysNothingIsNotWaitedFor) {
  Serve({.timeout = std::chrono::hours(1), .silence = std::chrono::milliseconds(100)});
  const OwnedFd silent = Connect();
  EXPECT_EQ(AskOnce("a"), "re: a") << "meanwhile";
  EXPECT_THAT(AnswerTo(silent), HasSubstr("error: timed out"));
  EXPECT_EQ(server_->stats().late_requests, 1u);
  EXPECT_EQ(server_->stats().no_room, 0u);
}

// A client that is slow has said something.
TEST_F(ControlServerTest, WhoHasBegunHasTimeForTheRest) {
  Serve({.timeout = std::chrono::hours(1), .silence = std::chrono::milliseconds(1)});
  OwnedFd slow;
  while (!slow) {  // its first byte may come too late
    slow = Connect();
    if (send(slow.get(), "G", 1, MSG_NOSIGNAL) != 1 || AskOnce("a") != "re: a" || IsAnswered(slow)) slow.reset();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(SendAll(slow.get(), Get("b").substr(1), InTime()).ok());
  EXPECT_EQ(AnswerTo(slow), "re: b");
}

TEST_F(ControlServerTest, SilentConnectionsKeepNobodyOut) {
  Serve({.timeout = std::chrono::hours(1), .silence = std::chrono::hours(1)});
  std::vector<OwnedFd> silent;
  for (int i = 0; i < 400; ++i) {
    silent.push_back(Connect());
    ASSERT_EQ(send(silent.back().get(), "G", i % 2, MSG_NOSIGNAL), i % 2);  // or says no more than a byte
  }
  EXPECT_EQ(AskOnce("a"), "re: a");
  EXPECT_GE(server_->stats().no_room, 400 - kMaxUnanswered);
  EXPECT_LE(server_->stats().no_room, 401 - kMaxUnanswered) << "one made room for who asked";
  EXPECT_TRUE(IsAnswered(silent.front())) << "the oldest goes";
  EXPECT_FALSE(IsAnswered(silent.back()));
}

// Answers that last until they are let go, by who asked: the request.
class LastingAnswers : public ControlServerTest {
 protected:
  LastingAnswers() {
    answer_ = [this](const HttpRequest& request, const IsCancelled& is_cancelled) {
      {
        const std::lock_guard lock(mutex_);
        begun_.push_back(request.path.substr(1));
      }
      while (request.path != "/quick" && !let_go_ && !is_cancelled())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Echo(request);
    };
  }
  std::vector<std::string> begun() {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  // Then the server has read every client that has asked.
  void AwaitReading() {
    const OwnedFd wrong = ConnectAs(0);
    EXPECT_EQ(write(wrong.get(), "?", 1), 1);
    EXPECT_EQ(AnswerTo(wrong), "error: this is not an HTTP request");
  }
  // Then the server is answering every client that has asked and can be answered.
  void AwaitTurn() { EXPECT_EQ(AskOnce("quick"), "re: quick"); }
  size_t BegunOf(const std::string& who) {
    const std::vector<std::string> all = begun();
    return static_cast<size_t>(std::count(all.begin(), all.end(), who));
  }

  std::mutex mutex_;
  std::vector<std::string> begun_;
  std::atomic<bool> let_go_{false};
};

TEST_F(LastingAnswers, AUserHasHalfOfThePlaces) {
  Serve({.group = kGroup, .clients = 4, .timeout = std::chrono::hours(1)});
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(ConnectAs(kStranger, "a"));
  EXPECT_TRUE(Await([&] { return BegunOf("a") == 2; }));
  AwaitTurn();
  EXPECT_EQ(BegunOf("a"), 2u);
  for (int i = 0; i < 3; ++i) clients.push_back(ConnectAs(kStranger + 1, "b"));
  EXPECT_TRUE(Await([&] { return BegunOf("b") == 2; }));
  clients.push_back(ConnectAs(kStranger + 2, "c"));
  AwaitTurn();
  EXPECT_EQ(begun().size(), 4u + 2u) << "all places are taken, and root has been asked twice";
  let_go_ = true;
  for (const OwnedFd& client : clients) EXPECT_THAT(AnswerTo(client), HasSubstr("re: "));
}

TEST_F(LastingAnswers, OfThoseWhoWaitTheOneWithTheFewestAnswersIsNext) {
  Serve({.group = kGroup, .clients = 3, .timeout = std::chrono::hours(1)});
  std::vector<OwnedFd> of_a;
  for (int i = 0; i < 2; ++i) of_a.push_back(ConnectAs(kStranger, "a"));
  EXPECT_TRUE(Await([&] { return BegunOf("a") == 2; }));
  const OwnedFd of_b = ConnectAs(kStranger + 1, "b");
  EXPECT_TRUE(Await([&] { return BegunOf("b") == 1; }));
  const OwnedFd next_of_b = ConnectAs(kStranger + 1, "b");
  AwaitTurn();  // it waits before the next one
  const OwnedFd of_c = ConnectAs(kStranger + 2, "c");
  AwaitTurn();
  of_a.front().reset();
  EXPECT_TRUE(Await([&] { return BegunOf("c") == 1; }));
  EXPECT_EQ(BegunOf("b"), 1u);
  let_go_ = true;
}

TEST_F(LastingAnswers, RootHasPlacesThatNobodyTakes) {
  Serve({.group = kGroup, .clients = 1000, .timeout = std::chrono::hours(1)});
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(ConnectAs(kStranger + static_cast<uid_t>(i % 2), "member"));
  EXPECT_TRUE(Await([&] { return BegunOf("member") == kMaxAnswers - kOurAnswers; }));
  for (size_t i = 0; i < kOurAnswers; ++i) clients.push_back(ConnectAs(0, "root"));
  EXPECT_TRUE(Await([&] { return BegunOf("root") == kOurAnswers; }));
  clients.push_back(ConnectAs(0, "one-more"));
  AwaitReading();
  EXPECT_EQ(BegunOf("member"), kMaxAnswers - kOurAnswers);
  // The next place is root's, who came last.
  clients[0].reset();
  EXPECT_TRUE(Await([&] { return BegunOf("one-more") == 1; }));
  EXPECT_EQ(BegunOf("member"), kMaxAnswers - kOurAnswers);
  let_go_ = true;
  for (size_t i = 1; i < clients.size(); ++i) EXPECT_THAT(AnswerTo(clients[i]), HasSubstr("re: "));
}

// Nothing is made for a client that has gone.
TEST_F(LastingAnswers, WhoHasGoneWaitsNoLonger) {
  Serve({.group = kGroup, .clients = 1, .timeout = std::chrono::hours(1)});
  const OwnedFd first = ConnectAs(kStranger, "first");
  EXPECT_TRUE(Await([&] { return BegunOf("first") == 1; }));
  OwnedFd gone = ConnectAs(kStranger, "gone");
  const OwnedFd stays = ConnectAs(kStranger, "stays");
  AwaitTurn();
  gone.reset();
  AwaitTurn();
  let_go_ = true;
  EXPECT_EQ(AnswerTo(stays), "re: stays");
  EXPECT_EQ(BegunOf("gone"), 0u);
}

TEST_F(LastingAnswers, WhoHasTheMostConnectionsLosesOne) {
  Serve({.group = kGroup, .clients = 1, .timeout = std::chrono::hours(1)});
  const OwnedFd first = ConnectAs(kStranger + 1, "first");
  EXPECT_TRUE(Await([&] { return BegunOf("first") == 1; }));
  const OwnedFd waits = ConnectAs(kStranger + 2, "waits");
  std::vector<OwnedFd> many;
  for (size_t i = 0; i < kMaxUnanswered - 1; ++i) many.push_back(ConnectAs(kStranger, "many"));
  AwaitTurn();
  EXPECT_EQ(server_->stats().no_room, 0u);
  const OwnedFd too_many = ConnectAs(kStranger, "many");
  EXPECT_EQ(AnswerTo(too_many), "error: too many connections of user 54322; try again");
  EXPECT_EQ(server_->stats().no_room, 1u);
  const OwnedFd other = ConnectAs(kStranger + 3, "other");
  EXPECT_EQ(AnswerTo(many.back()), "error: too many connections of user 54322; try again");
  EXPECT_FALSE(IsAnswered(many.front()));
  let_go_ = true;
  EXPECT_EQ(AnswerTo(waits), "re: waits");
  EXPECT_EQ(AnswerTo(other), "re: other");
}

TEST_F(LastingAnswers, MembersLeaveRootItsRoom) {
  Serve({.group = kGroup, .timeout = std::chrono::hours(1), .silence = std::chrono::hours(1)});
  std::vector<OwnedFd> clients;
  for (int i = 0; i < 130; ++i) clients.push_back(ConnectAs(kStranger));
  for (int i = 0; i < 130; ++i) clients.push_back(ConnectAs(kStranger + 1, "member"));
  const OwnedFd root = ConnectAs(0);
  for (int i = 0; i < 130; ++i) clients.push_back(ConnectAs(kStranger));
  AwaitTurn();
  ASSERT_TRUE(SendAll(root.get(), Get("quick"), InTime()).ok());
  EXPECT_EQ(AnswerTo(root), "re: quick");
  let_go_ = true;
}

}  // namespace
}  // namespace offcpu
