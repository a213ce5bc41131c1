#include "export/outbox.h"

#include <stdlib.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr size_t kBody = 100;

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() {
    std::string name = testing::TempDir() + "/outbox.XXXXXX";
    directory_ = mkdtemp(name.data());
    spool_ = directory_ + "/spool";
  }
  ~OutboxTest() override {
    outbox_.reset();
    if (is_mounted_) umount2(directory_.c_str(), MNT_DETACH);
    std::filesystem::remove_all(directory_);
  }

  Outbox& Open() {
    outbox_.reset();
    outbox_ = std::make_unique<Outbox>(spool_, limits_, [this](bool is_bad, const std::string& line) {
      const std::lock_guard lock(mutex_);
      said_.push_back((is_bad ? "bad: " : "good: ") + line);
    });
    return *outbox_;
  }
  // The `number`th window of a second each.
  static SpoolRecord Window(uint64_t number, size_t bytes = kBody) {
    SpoolRecord record{.start_unix_ns = StartOf(number), .duration_ns = kSecond, .parts = 1};
    record.body = std::string(bytes, static_cast<char>('0' + number));
    return record;
  }
  static uint64_t StartOf(uint64_t number) { return 1'790'000'000 * kSecond + number * kSecond; }
  // Numbers of the windows that come, each settled so.
  std::vector<int> Drain(Fate fate = Fate::kDelivered) {
    std::vector<int> numbers;
    while (const std::optional<SpoolRecord> record = outbox_->Oldest()) {
      numbers.push_back(record->body[0] - '0');
      outbox_->Settle(*record, fate);
    }
    return numbers;
  }
  // "REASON COUNT SECONDS" each.
  static std::vector<std::string> Shown(const std::vector<Loss>& losses) {
    std::vector<std::string> shown;
    for (const Loss& loss : losses)
      shown.push_back(loss.reason + " " + std::to_string(loss.count) + " " + std::to_string(loss.ns / kSecond));
    return shown;
  }

  // The disk is small from now on, if the test may mount one.
  bool HasSmallDisk() {
    is_mounted_ = mount("tmpfs", directory_.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") == 0;
    return is_mounted_;
  }
  void FillDisk() const { std::ofstream(directory_ + "/filler") << std::string(1 << 20, 'x') << std::flush; }
  void EmptyDisk() const { std::filesystem::remove(directory_ + "/filler"); }

  std::string directory_;
  std::string spool_;
  bool is_mounted_ = false;
  OutboxLimits limits_;
  std::mutex mutex_;
  std::vector<std::string> said_;
  std::unique_ptr<Outbox> outbox_;
};

TEST_F(OutboxTest, ARequestWaitsUntilItIsDelivered) {
  for (const std::string& spool : {spool_, std::string()}) {
    spool_ = spool;
    Outbox& outbox = Open();
    for (int i = 1; i <= 3; ++i) outbox.Keep(Window(i));
    OutboxStats stats = outbox.stats();
    EXPECT_EQ(stats.records, 3u);
    EXPECT_EQ(stats.bytes, 3 * (kBody + (spool.empty() ? 0 : kSpoolHeaderBytes)));
    EXPECT_EQ(stats.oldest_start_unix_ns, StartOf(1));
    outbox.Settle(*outbox.Oldest(), Fate::kLater);
    EXPECT_EQ(outbox.stats().records, 3u);
    EXPECT_THAT(Drain(), ElementsAre(1, 2, 3));
    stats = outbox.stats();
    EXPECT_EQ(stats.records, 0u);
    EXPECT_EQ(stats.bytes, 0u);
    EXPECT_EQ(stats.oldest_start_unix_ns, 0u);
    EXPECT_THAT(stats.memory_losses, IsEmpty());
    EXPECT_THAT(stats.spool_losses, IsEmpty());
    EXPECT_THAT(said_, IsEmpty());
  }
}

TEST_F(OutboxTest, OnlyARefusalIsALoss) {
  for (const Fate fate : {Fate::kDelivered, Fate::kDivided, Fate::kRestLater, Fate::kRefused}) {
    const std::vector<std::string> lost =
        fate == Fate::kRefused ? std::vector<std::string>{"refused 2 2"} : std::vector<std::string>();
    for (const std::string& spool : {directory_ + "/spool", std::string()}) {
      spool_ = spool;
      Outbox& outbox = Open();
      outbox.Keep(Window(1));
      outbox.Keep(Window(2));
      EXPECT_THAT(Drain(fate), ElementsAre(1, 2));
      EXPECT_EQ(Shown(spool.empty() ? outbox.stats().memory_losses : outbox.stats().spool_losses), lost);
      EXPECT_THAT(spool.empty() ? outbox.stats().spool_losses : outbox.stats().memory_losses, IsEmpty());
    }
  }
}

TEST_F(OutboxTest, TheOldestInMemoryGoesForWantOfRoomButNotTheOneThatIsBeingSent) {
  spool_ = "";
  limits_.memory_bytes = 3 * kBody;
  Outbox& outbox = Open();
  for (int i = 1; i <= 3; ++i) outbox.Keep(Window(i));
  EXPECT_THAT(outbox.stats().memory_losses, IsEmpty()) << "at the limit";
  const SpoolRecord sent = *outbox.Oldest();
  EXPECT_EQ(sent.body, Window(1).body);
  outbox.Keep(Window(4));
  outbox.Keep(Window(5));
  EXPECT_THAT(Shown(outbox.stats().memory_losses), ElementsAre("no room in memory 2 2"));
  EXPECT_EQ(outbox.stats().bytes, limits_.memory_bytes);
  outbox.Settle(sent, Fate::kLater);
  outbox.Keep(Window(6));
  EXPECT_THAT(Drain(), ElementsAre(1, 5, 6)) << "it may have arrived, and is the first again";
  outbox.Keep(Window(7, limits_.memory_bytes + 1));
  EXPECT_THAT(Shown(outbox.stats().memory_losses), ElementsAre("no room in memory 4 4"));
  EXPECT_EQ(outbox.stats().records, 0u);
}

TEST_F(OutboxTest, WhereTheSpoolCannotBeMemoryServes) {
  std::ofstream(spool_) << "a file where the directory should be";
  Outbox& outbox = Open();
  EXPECT_THAT(said_, ElementsAre(HasSubstr("windows wait in memory")));
  outbox.Keep(Window(6));
  EXPECT_THAT(Drain(), ElementsAre(6));
}

TEST_F(OutboxTest, WhatIsLargerThanTheSpoolIsLostThereAndDoesNotFillMemory) {
  limits_.spool.bytes = kSpoolHeaderBytes + kBody;
  Outbox& outbox = Open();
  outbox.Keep(Window(1));
  outbox.Keep(Window(2, kBody + 1));
  EXPECT_THAT(Drain(), ElementsAre(1));
  EXPECT_THAT(Shown(outbox.stats().spool_losses), ElementsAre("over bytes 1 1"));
  EXPECT_THAT(outbox.stats().memory_losses, IsEmpty());
}

TEST_F(OutboxTest, AFullDiskCostsNothingThatIsDelivered) {
  if (!HasSmallDisk()) GTEST_SKIP() << "needs root";
  Outbox& outbox = Open();
  FillDisk();
  for (int i = 1; i <= 3; ++i) outbox.Keep(Window(i));
  EXPECT_EQ(outbox.stats().records, 3u);
  EXPECT_EQ(outbox.stats().bytes, 3 * kBody) << "in memory";
  EXPECT_THAT(said_, ElementsAre(HasSubstr("cannot use the spool"))) << "though each file has a name of its own";
  EXPECT_THAT(outbox.stats().spool_losses, IsEmpty()) << "they may be delivered, and a figure of losses never falls";
  EXPECT_THAT(Drain(), ElementsAre(1, 2, 3));
  EXPECT_THAT(outbox.stats().spool_losses, IsEmpty());
  outbox.Keep(Window(4));
  EXPECT_THAT(Drain(Fate::kRefused), ElementsAre(4));
  EXPECT_THAT(outbox.stats().spool_losses, IsEmpty());
  EXPECT_THAT(Shown(outbox.stats().memory_losses), ElementsAre("refused 1 1"));
}

TEST_F(OutboxTest, WhatIsOnDiskComesBeforeWhatIsInMemory) {
  if (!HasSmallDisk()) GTEST_SKIP() << "needs root";
  Outbox& outbox = Open();
  outbox.Keep(Window(1));
  FillDisk();
  outbox.Keep(Window(2));
  EXPECT_EQ(outbox.stats().bytes, kSpoolHeaderBytes + 2 * kBody);
  EXPECT_EQ(outbox.stats().oldest_start_unix_ns, StartOf(1));
  EXPECT_THAT(Drain(), ElementsAre(1, 2));
}

TEST_F(OutboxTest, BesideASpoolWhatFindsNoRoomInMemoryIsNotWritten) {
  if (!HasSmallDisk()) GTEST_SKIP() << "needs root";
  limits_.memory_bytes = kBody;
  Outbox& outbox = Open();
  FillDisk();
  outbox.Keep(Window(1));
  outbox.Keep(Window(2));
  EXPECT_THAT(Shown(outbox.stats().spool_losses), ElementsAre("not written 1 1"));
  EXPECT_THAT(Drain(), ElementsAre(2));
  EXPECT_THAT(Shown(outbox.stats().spool_losses), ElementsAre("not written 1 1"));
  EXPECT_THAT(outbox.stats().memory_losses, IsEmpty());
}

TEST_F(OutboxTest, WhatWaitsInMemoryAtTheEndIsWrittenIfTheDiskIsWellAgain) {
  if (!HasSmallDisk()) GTEST_SKIP() << "needs root";
  Open();
  FillDisk();
  for (int i = 1; i <= 3; ++i) outbox_->Keep(Window(i));
  EmptyDisk();
  outbox_->Close();
  EXPECT_EQ(outbox_->stats().bytes, 3 * (kSpoolHeaderBytes + kBody)) << "on disk";
  EXPECT_THAT(outbox_->stats().spool_losses, IsEmpty());
  EXPECT_THAT(outbox_->stats().memory_losses, IsEmpty());
  EXPECT_EQ(said_.size(), 1u) << "of the full disk";
  Open();
  EXPECT_THAT(Drain(), ElementsAre(1, 2, 3));
  EXPECT_THAT(outbox_->stats().spool_losses, IsEmpty());
}

TEST_F(OutboxTest, WhatWaitsInMemoryAtTheEndIsLostOnceEach) {
  if (!HasSmallDisk()) GTEST_SKIP() << "needs root";
  Open();
  FillDisk();
  for (int i = 1; i <= 3; ++i) outbox_->Keep(Window(i));
  outbox_->Close();
  EXPECT_EQ(outbox_->stats().records, 0u);
  EXPECT_THAT(said_, ElementsAre(HasSubstr("cannot use the spool"), "bad: 3 unsent requests in memory are lost"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Shown(outbox_->stats().spool_losses), ElementsAre("not written 3 3"));
    EXPECT_THAT(outbox_->stats().memory_losses, IsEmpty());
    Open();
  }
}

TEST_F(OutboxTest, WithoutASpoolWhatWaitsAtTheEndIsLost) {
  spool_ = "";
  Outbox& outbox = Open();
  outbox.Keep(Window(1));
  ASSERT_TRUE(outbox.Oldest().has_value());  // and it was not settled
  outbox.Keep(Window(2));
  outbox.Close();
  EXPECT_THAT(said_, ElementsAre("bad: 2 unsent requests in memory are lost"));
  EXPECT_THAT(Shown(outbox.stats().memory_losses), ElementsAre("no room in memory 2 2"));
}

}  // namespace
}  // namespace offcpu
