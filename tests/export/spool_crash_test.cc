// Whatever stops the process, and wherever: what was acknowledged is there, what was not is whole or not there, and
// what was lost is counted once.
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "spool_fixture.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kHeader = kSpoolHeaderBytes;

// The directory as a crash leaves it is made by hand, one state for each step of an Append that drops a record:
// temporary file of the losses, losses, removal, temporary file of the record, record.
class SpoolCrashTest : public SpoolTest {
 protected:
  SpoolCrashTest() {
    OpenSpool(kLimits);
    for (const char* body : {"a", "b"}) EXPECT_TRUE(spool_->Append(Window(0, body), At(0)).ok());
    Close();
    before_ = Contents("losses");
    EXPECT_TRUE(OpenSpool(kLimits).Append(Window(0, "c"), At(0)).ok());
    Close();
    // As it was when the record was dropped: the new one had no number yet.
    SpoolLedger ledger = ParseSpoolLedger(Contents("losses")).value();
    ledger.next_number = 3;
    after_ = EncodeSpoolLedger(ledger);
    EXPECT_EQ(ledger.removed_first, 1u);
    EXPECT_EQ(ledger.removed_last, 1u);
    a_ = FileOf(1, Window(0, "a"), At(0));
    b_ = Contents(Record(2));
    c_ = Contents(Record(3));
  }

  void Leave(const std::vector<std::pair<std::string, std::string>>& files) {
    Close();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directory(directory_);
    for (const auto& [name, bytes] : files) Fill(name, bytes);
  }
  // What came to be, got its name, went and was moved away, in order.
  static constexpr uint32_t kSteps = IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM;
  static std::vector<std::string> StepsOf(const OwnedFd& watch) {
    alignas(inotify_event) char events[4096];
    const ssize_t size = read(watch.get(), events, sizeof(events));
    std::vector<std::string> steps;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      const std::string name = event->name;
      if ((event->mask & IN_CREATE) != 0 && name != "refused") steps.push_back("+" + name);
      if ((event->mask & IN_MOVED_TO) != 0) steps.push_back("=" + name);
      if ((event->mask & IN_DELETE) != 0) steps.push_back("-" + name);
      if ((event->mask & IN_MOVED_FROM) != 0 && !name.ends_with(".tmp")) steps.push_back(">" + name);
      at += static_cast<ssize_t>(sizeof(*event) + event->len);
    }
    return steps;
  }
  void ExpectNoLeftovers() {
    for (const std::string& name : Names()) EXPECT_FALSE(name.ends_with(".tmp")) << name;
  }

  static constexpr SpoolLimits kLimits = {.bytes = 2 * (kHeader + 1)};
  std::string before_;  // the losses
  std::string after_;
  std::string a_;
  std::string b_;
  std::string c_;
};

// That these are the steps is what the kernel says.
TEST_F(SpoolCrashTest, TheStepsAreThese) {
  Leave({{Record(1), a_}, {Record(2), b_}, {"losses", before_}});
  OpenSpool(kLimits);
  const OwnedFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(watch.get(), directory_.c_str(), kSteps), 0);
  ASSERT_TRUE(spool_->Append(Window(0, "c"), At(0)).ok());
  EXPECT_THAT(StepsOf(watch),
              ElementsAre("+losses.tmp", "=losses", "-" + Record(1), "+" + Record(3) + ".tmp", "=" + Record(3)));
}

TEST_F(SpoolCrashTest, WhileTheLossesAreWritten) {
  for (size_t size = 0; size <= after_.size(); ++size) {
    SCOPED_TRACE(size);
    Leave({{Record(1), a_}, {Record(2), b_}, {"losses", before_}, {"losses.tmp", after_.substr(0, size)}});
    OpenSpool(kLimits);
    ExpectNoLeftovers();
    EXPECT_EQ(LostRecords(), 0u);
    EXPECT_THAT(Drain(), ElementsAre("a", "b"));
  }
}

TEST_F(SpoolCrashTest, BetweenTheCountAndTheRemoval) {
  Leave({{Record(1), a_}, {Record(2), b_}, {"losses", after_}});
  OpenSpool(kLimits);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(LostRecords(), 1u);
  EXPECT_THAT(Drain(), ElementsAre("b")) << "what is counted as lost is not delivered";
  EXPECT_THAT(Names(), Not(Contains(Record(1))));
}

// The next loss, here of a damaged record, takes the place of the last one in the file.
TEST_F(SpoolCrashTest, BetweenTheCountAndTheRemovalAndAgainAtTheNextStart) {
  SpoolLedger ledger = ParseSpoolLedger(after_).value();
  ledger.removed_first = 2;
  ledger.removed_last = 2;
  Leave({{Record(1), "damaged"}, {Record(2), b_}, {"losses", EncodeSpoolLedger(ledger)}});
  const OwnedFd watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(watch.get(), directory_.c_str(), kSteps), 0);
  OpenSpool(kLimits);
  EXPECT_THAT(StepsOf(watch), ElementsAre("+.offcpud.lock", "-" + Record(2), "+losses.tmp", "=losses", ">" + Record(1),
                                          "+losses.tmp", "=losses"));
  EXPECT_EQ(LostRecords(), 2u);
}

TEST_F(SpoolCrashTest, WhileTheRecordIsWritten) {
  for (size_t size = 0; size <= c_.size(); ++size) {
    SCOPED_TRACE(size);
    Leave({{Record(2), b_}, {"losses", after_}, {Record(3) + ".tmp", c_.substr(0, size)}});
    OpenSpool(kLimits);
    ExpectNoLeftovers();
    EXPECT_EQ(LostRecords(), 1u);
    ASSERT_TRUE(spool_->Append(Window(0, "d"), At(0)).ok());
    EXPECT_THAT(Drain(), ElementsAre("b", "d"));
  }
}

TEST_F(SpoolCrashTest, AfterTheRecordHasItsName) {
  Leave({{Record(2), b_}, {Record(3), c_}, {"losses", after_}});
  OpenSpool(kLimits);
  EXPECT_EQ(LostRecords(), 1u);
  EXPECT_THAT(Drain(), ElementsAre("b", "c"));
}

TEST_F(SpoolCrashTest, BeforeThereIsAnything) {
  Leave({});
  OpenSpool(kLimits);
  EXPECT_EQ(LostRecords(), 0u);
  EXPECT_THAT(Drain(), IsEmpty());
}

// A loss that was counted names the records that it took by their numbers: another must not get such a number.
TEST_F(SpoolCrashTest, ANumberThatWasLostIsNotGivenAgain) {
  Leave({{"losses", after_}});
  OpenSpool(kLimits);
  ASSERT_TRUE(spool_->Append(Window(0, "new"), At(0)).ok());
  OpenSpool(kLimits);
  EXPECT_THAT(Drain(), ElementsAre("new"));
}

TEST_F(SpoolCrashTest, WhileOneIsSetAside) {
  OpenSpool();
  const uint64_t number = spool_->Oldest(At(0))->number;
  const std::string record = Contents(Record(number));
  spool_->SetAside(number);
  const std::string losses = Contents("losses");
  Leave({{Record(number), record}, {"losses", losses}});
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kRefused).records, 1u);
  EXPECT_THAT(Drain(), IsEmpty());
}

// A child appends, and tells through a pipe what was acknowledged, until it is killed.
class SpoolKillTest : public SpoolTest {
 protected:
  // Returns how many were acknowledged: at least `least`.
  int KillWhileAppending(const SpoolLimits& limits, int least) {
    Close();
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_ends[0]);
      AppendForEver(limits, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    int acknowledged = 0;
    char byte;
    while (acknowledged < least && read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;
    kill(child, SIGKILL);
    while (read(pipe_ends[0], &byte, 1) == 1) ++acknowledged;  // what it had said before
    close(pipe_ends[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    return acknowledged;
  }

 private:
  [[noreturn]] void AppendForEver(const SpoolLimits& limits, int acknowledge) {
    const auto spool = Spool::Open(directory_, limits);
    if (!spool.ok()) _exit(1);
    for (int i = 0;; ++i) {
      const std::string body = std::to_string(i) + std::string(static_cast<size_t>(i % 7) * 1000, '.');
      if (!(*spool)->Append(Window(0, body), At(0)).ok() || write(acknowledge, "", 1) != 1) _exit(1);
    }
  }
};

TEST_F(SpoolKillTest, WhatWasAcknowledgedIsThere) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(directory_);
    const int acknowledged = KillWhileAppending({}, 5 + round);
    OpenSpool();
    int next = 0;
    for (const std::string& body : Drain()) EXPECT_EQ(std::stoi(body), next++);
    EXPECT_GE(next, acknowledged);
    EXPECT_LE(next, acknowledged + 1) << "one may not have been told of";
    EXPECT_EQ(LostRecords(), 0u);
  }
}

TEST_F(SpoolKillTest, WhatWasDroppedIsCounted) {
  const SpoolLimits limits = {.records = 3};
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(directory_);
    const int acknowledged = KillWhileAppending(limits, 5 + round);
    OpenSpool(limits);
    const std::vector<std::string> bodies = Drain();
    ASSERT_FALSE(bodies.empty());
    const int last = std::stoi(bodies.back());
    EXPECT_GE(last, acknowledged - 1);
    EXPECT_EQ(std::stoi(bodies.front()) + static_cast<int>(bodies.size()), last + 1);
    EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records + bodies.size(), static_cast<size_t>(last) + 1);
    EXPECT_EQ(LostRecords(), Lost(SpoolLoss::kOverBytes).records);
  }
}

}  // namespace
}  // namespace offcpu
