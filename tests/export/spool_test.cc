#include "export/spool.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "absl/status/status.h"
#include "export/spool_refused.h"
#include "spool_fixture.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint64_t kHeader = kSpoolHeaderBytes;

TEST_F(SpoolTest, WhatIsAppendedComesInOrder) {
  Spool& spool = OpenSpool();
  for (const char* body : {"a", "b", "c"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  EXPECT_EQ(spool.stats().records, 3u);
  EXPECT_EQ(spool.stats().bytes, 3 * (kHeader + 1));
  const auto record = spool.Oldest(At(1));
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->number, 1u);
  EXPECT_EQ(record->start_unix_ns, kStart);
  EXPECT_EQ(record->duration_ns, 10 * kSecond);
  EXPECT_EQ(record->parts, 1u);
  EXPECT_EQ(spool.Oldest(At(1))->number, 1u) << "it is there until it is done";
  EXPECT_THAT(Drain(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(spool.stats().records, 0u);
  EXPECT_EQ(spool.stats().bytes, 0u);
  EXPECT_EQ(LostRecords(), 0u);
  EXPECT_THAT(Names(), ElementsAre("losses"));
}

TEST_F(SpoolTest, TheOldestStartIsThatOfTheNextWindow) {
  Spool& spool = OpenSpool();
  EXPECT_EQ(spool.stats().oldest_start_unix_ns, 0u);
  ASSERT_TRUE(spool.Append(Window(5, "a"), At(15)).ok());
  ASSERT_TRUE(spool.Append(Window(15, "b"), At(25)).ok());
  EXPECT_EQ(spool.stats().oldest_start_unix_ns, kStart + 5 * kSecond);
  spool.Done(1);
  EXPECT_EQ(spool.stats().oldest_start_unix_ns, kStart + 15 * kSecond);
}

TEST_F(SpoolTest, RecordsAndNumbersGoOnAfterARestart) {
  ASSERT_TRUE(OpenSpool().Append(Window(0, "a"), At(0)).ok());
  ASSERT_TRUE(spool_->Append(Window(10, "b"), At(0)).ok());
  Spool& again = OpenSpool();
  EXPECT_EQ(again.stats().records, 2u);
  EXPECT_EQ(again.stats().bytes, 2 * (kHeader + 1));
  EXPECT_EQ(again.stats().oldest_start_unix_ns, kStart);
  ASSERT_TRUE(again.Append(Window(20, "c"), At(0)).ok());
  EXPECT_THAT(Drain(), ElementsAre("a", "b", "c"));
  ASSERT_TRUE(OpenSpool().Append(Window(30, "d"), At(0)).ok());
  EXPECT_EQ(spool_->Oldest(At(0))->number, 4u) << "though there was none left";
}

TEST_F(SpoolTest, FilesAreForTheOwnerOnly) {
  ASSERT_TRUE(OpenSpool().Append(Window(0, "a"), At(0)).ok());
  struct stat st;
  ASSERT_EQ(stat(directory_.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
  for (const std::string& name : Names()) {
    ASSERT_EQ(stat(Path(name).c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777, 0600u) << name;
  }
}

TEST_F(SpoolTest, OneProcessAtATime) {
  OpenSpool();
  const auto second = Spool::Open(directory_, {});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(directory_));
  Close();
  EXPECT_TRUE(Spool::Open(directory_, {}).ok());
}

// Limits.

TEST_F(SpoolTest, ExactlyFullIsNotTooFull) {
  Spool& spool = OpenSpool({.bytes = 3 * (kHeader + 10)});
  const std::string body(10, 'x');
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  EXPECT_EQ(spool.stats().records, 3u);
  EXPECT_EQ(LostRecords(), 0u);
  ASSERT_TRUE(spool.Append(Window(0, ""), At(0)).ok());
  EXPECT_EQ(spool.stats().records, 3u);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
}

TEST_F(SpoolTest, OneByteOverDropsTheOldest) {
  Spool& spool = OpenSpool({.bytes = 3 * (kHeader + 10)});
  for (const char* body : {"aaaaaaaaaa", "bbbbbbbbbb"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  ASSERT_TRUE(spool.Append(Window(0, "ccccccccccc"), At(0)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  EXPECT_LE(spool.stats().bytes, 3 * (kHeader + 10));
  EXPECT_THAT(Drain(), ElementsAre("bbbbbbbbbb", "ccccccccccc"));
}

TEST_F(SpoolTest, AsManyGoAsMustAndTheirNumberIsBounded) {
  Spool& spool = OpenSpool({.bytes = 10 * kHeader, .records = 4});
  for (const char* body : {"a", "b", "c", "d"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  EXPECT_EQ(LostRecords(), 0u);
  ASSERT_TRUE(spool.Append(Window(0, "e"), At(0)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 1u);
  ASSERT_TRUE(spool.Append(Window(0, std::string(8 * kHeader, 'f')), At(0)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 5u) << "with b, c, d and e";
  EXPECT_EQ(spool.stats().records, 1u);
}

TEST_F(SpoolTest, WhatIsLargerThanTheSpoolCostsNoOtherItsPlace) {
  Spool& spool = OpenSpool({.bytes = 2 * kHeader});
  ASSERT_TRUE(spool.Append(Window(0, "a"), At(0)).ok());
  const absl::Status status = spool.Append(Window(0, std::string(kHeader + 1, 'x')), At(0));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  EXPECT_THAT(Drain(), ElementsAre("a"));
  EXPECT_TRUE(spool.Append(Window(0, std::string(kHeader, 'x')), At(0)).ok());
}

TEST_F(SpoolTest, SmallerLimitsHoldAfterARestart) {
  Spool& spool = OpenSpool();
  for (const char* body : {"a", "b", "c"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  OpenSpool({.bytes = 2 * (kHeader + 1)});
  EXPECT_EQ(spool_->stats().records, 2u);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 1u);
  OpenSpool({.bytes = kHeader + 1});
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 2u);
  EXPECT_THAT(Drain(), ElementsAre("c"));
}

TEST_F(SpoolTest, ExactlyTheAgeIsNotTooOld) {
  Spool& spool = OpenSpool({.age_ns = 60 * kSecond});
  ASSERT_TRUE(spool.Append(Window(0, "a"), At(10)).ok());
  ASSERT_TRUE(spool.Append(Window(10, "b"), At(20)).ok());
  SpoolTime now = At(70);
  EXPECT_EQ(spool.Oldest(now)->body, "a");
  ++now.boot_ns;
  EXPECT_EQ(spool.Oldest(now)->body, "b");
  EXPECT_EQ(Lost(SpoolLoss::kTooOld), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(spool.stats().records, 1u);
}

TEST_F(SpoolTest, WhatIsTooOldGoesWithTheNextAppend) {
  Spool& spool = OpenSpool({.age_ns = 60 * kSecond});
  ASSERT_TRUE(spool.Append(Window(0, "a"), At(10)).ok());
  ASSERT_TRUE(spool.Append(Window(70, "b"), At(80)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kTooOld).records, 1u);
  EXPECT_EQ(spool.stats().records, 1u);
}

TEST_F(SpoolTest, AWallClockThatJumpsMakesNothingOld) {
  Spool& spool = OpenSpool({.age_ns = 60 * kSecond});
  for (const char* body : {"a", "b"}) ASSERT_TRUE(spool.Append(Window(0, body), At(10)).ok());
  SpoolTime now = At(11);
  now.unix_ns += 1'000'000 * kSecond;
  EXPECT_EQ(spool.Oldest(now)->body, "a");
  now.unix_ns -= 2'000'000 * kSecond;
  EXPECT_EQ(spool.Oldest(now)->body, "a");
  OpenSpool({.age_ns = 60 * kSecond});
  EXPECT_THAT(Drain(now), ElementsAre("a", "b"));
  EXPECT_EQ(LostRecords(), 0u);
}

TEST_F(SpoolTest, AfterARebootTheWallClockCountsOnceItIsSet) {
  constexpr SpoolLimits kLimits = {.age_ns = 3600 * kSecond};
  ASSERT_TRUE(OpenSpool(kLimits).Append(Window(0, "a"), At(0)).ok());
  OpenSpool(kLimits);
  SpoolTime now = {.unix_ns = kStart + 7200 * kSecond, .boot_ns = 30 * kSecond, .boot = 2};
  EXPECT_TRUE(spool_->Oldest(now).has_value());
  now.boot_ns += kClockSettlesNs;
  now.unix_ns += kClockSettlesNs;
  EXPECT_FALSE(spool_->Oldest(now).has_value());
  EXPECT_EQ(Lost(SpoolLoss::kTooOld), (SpoolLost{1, 10 * kSecond}));
}

// What is lost.

TEST_F(SpoolTest, AWindowCountsOnceHoweverManyPartsOfItAreLost) {
  Spool& spool = OpenSpool({.bytes = 2 * kHeader});
  for (uint32_t part = 0; part < 3; ++part) ASSERT_TRUE(spool.Append(Window(0, "", part, 3), At(0)).ok());
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 3'333'333'333}));
  const auto record = spool.Oldest(At(0));
  ASSERT_EQ(record->part, 1u);
  spool.SetAside(record->number);
  EXPECT_EQ(Lost(SpoolLoss::kRefused), (SpoolLost{1, 3'333'333'333}));
  OpenSpool({.bytes = 0});
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).records, 2u);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes).ns + Lost(SpoolLoss::kRefused).ns, 10 * kSecond);
}

TEST_F(SpoolTest, LossesAreThereAfterARestart) {
  Spool& spool = OpenSpool({.bytes = kHeader});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spool.Append(Window(0, ""), At(0)).ok());
  spool.SetAside(spool.Oldest(At(0))->number);
  const SpoolLosses lost = spool.stats().lost;
  OpenSpool();
  EXPECT_EQ(spool_->stats().lost, lost);
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{2, 20 * kSecond}));
  EXPECT_EQ(Lost(SpoolLoss::kRefused), (SpoolLost{1, 10 * kSecond}));
}

TEST_F(SpoolTest, AWindowThatCannotBeIsNotWritten) {
  Spool& spool = OpenSpool();
  EXPECT_EQ(spool.Append(Window(0, "a", 3, 3), At(0)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(spool.Append(Window(0, "a", 0, 0), At(0)).code(), absl::StatusCode::kInvalidArgument);
  spool.LostUnwritten(Window(0, "a", 3, 3));
  spool.LostUnwritten(Window(0, "a", 0, 0));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten).records, 2u);
  ASSERT_TRUE(spool.Append(Window(0, "b"), At(0)).ok());
  EXPECT_THAT(Drain(), ElementsAre("b"));
}

TEST_F(SpoolTest, ABodyOfTheLargestSizeIsTakenAndAByteMoreIsNot) {
  Spool& spool = OpenSpool();
  EXPECT_EQ(spool.Append(Window(0, std::string(kMaxSpoolBodyBytes + 1, 'x')), At(0)).code(),
            absl::StatusCode::kInvalidArgument);
  spool.LostUnwritten(Window(0, ""));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), (SpoolLost{1, 10 * kSecond}));
  const std::string body(kMaxSpoolBodyBytes, 'x');
  ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  EXPECT_TRUE(spool.Oldest(At(0))->body == body);
}

// The record that is being sent.

class DroppedWhileSentTest : public SpoolTest {
 protected:
  // The first of two records is being sent and dropped.
  void SetUp() override {
    Spool& spool = OpenSpool({.bytes = kHeader + 1});
    ASSERT_TRUE(spool.Append(Window(0, "a"), At(0)).ok());
    taken_ = spool.Oldest(At(0))->number;
    ASSERT_TRUE(spool.Append(Window(10, "b"), At(0)).ok());
    EXPECT_EQ(spool.stats().records, 1u);
    EXPECT_EQ(LostRecords(), 0u) << "it may be delivered yet";
  }
  uint64_t taken_ = 0;
};

TEST_F(DroppedWhileSentTest, IsNoLossIfItWasDelivered) {
  EXPECT_EQ(ParseSpoolLedger(Contents("losses")).value().losses[0].records, 1u) << "for who starts after a kill";
  spool_->Done(taken_);
  EXPECT_EQ(ParseSpoolLedger(Contents("losses")).value().losses, SpoolLosses());
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_EQ(LostRecords(), 0u);
  OpenSpool();
  EXPECT_EQ(LostRecords(), 0u);
}

TEST_F(DroppedWhileSentTest, IsRefusedIfItWas) {
  spool_->SetAside(taken_);
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_EQ(Lost(SpoolLoss::kRefused), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(LostRecords(), 1u);
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kRefused), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(LostRecords(), 1u);
}

TEST_F(DroppedWhileSentTest, IsDroppedIfTheSenderGaveItUp) {
  EXPECT_EQ(spool_->Oldest(At(0))->body, "b");
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(LostRecords(), 1u);
}

TEST_F(DroppedWhileSentTest, IsDroppedIfNobodyCameToSay) {
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kOverBytes), (SpoolLost{1, 10 * kSecond}));
  EXPECT_EQ(LostRecords(), 1u);
}

TEST_F(SpoolTest, NumbersThatAreGoneAreNoError) {
  Spool& spool = OpenSpool();
  ASSERT_TRUE(spool.Append(Window(0, "a"), At(0)).ok());
  for (const uint64_t number : {0, 1, 1, 77}) spool.Done(number);
  for (const uint64_t number : {0, 1, 77}) spool.SetAside(number);
  EXPECT_EQ(spool.stats().records, 0u);
  EXPECT_EQ(LostRecords(), 0u);
}

// What is refused.

TEST_F(SpoolTest, WhatIsRefusedIsKeptToBeLookedAt) {
  Spool& spool = OpenSpool();
  for (const char* body : {"a", "b"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  const std::string bytes = Contents(Record(1));
  spool.SetAside(1);
  EXPECT_EQ(Contents("refused/" + Record(1)), bytes);
  EXPECT_EQ(spool.stats().records, 1u);
  EXPECT_EQ(spool.stats().bytes, kHeader + 1);
  EXPECT_THAT(Drain(), ElementsAre("b"));
  OpenSpool();
  EXPECT_THAT(Drain(), IsEmpty());
}

TEST_F(SpoolTest, OnlyTheNewestRefusedAreKept) {
  Spool& spool = OpenSpool();
  for (size_t i = 1; i <= kMaxRefusedRecords + 2; ++i) {
    ASSERT_TRUE(spool.Append(Window(0, "a"), At(0)).ok());
    spool.SetAside(i);
    EXPECT_THAT(Names("refused"), SizeIs(std::min(i, kMaxRefusedRecords)));
  }
  EXPECT_EQ(Names("refused").front(), Record(3));
  EXPECT_EQ(Lost(SpoolLoss::kRefused).records, kMaxRefusedRecords + 2);
}

TEST_F(SpoolTest, TheRefusedAreBoundedInBytes) {
  Spool& spool = OpenSpool();
  const std::string third((kMaxRefusedBytes - 3 * kHeader) / 3, 'x');
  for (uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(spool.Append(Window(0, third), At(0)).ok());
    spool.SetAside(i);
  }
  EXPECT_THAT(Names("refused"), SizeIs(3));
  ASSERT_TRUE(spool.Append(Window(0, "more"), At(0)).ok());
  spool.SetAside(4);
  EXPECT_THAT(Names("refused"), ElementsAre(Record(2), Record(3), Record(4)));
}

TEST_F(SpoolTest, StrangersAmongTheRefusedAreLeftAlone) {
  OpenSpool();
  std::filesystem::create_directory(Path("refused"));
  Fill("refused/notes", "look at 12");
  for (size_t i = 1; i <= kMaxRefusedRecords + 2; ++i) {
    ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
    spool_->SetAside(i);
  }
  EXPECT_THAT(Names("refused"), Contains("notes"));
}

TEST_F(SpoolTest, ALinkInsteadOfTheRefusedIsNotFollowed) {
  OpenSpool();
  std::filesystem::create_directory(base_ + "/elsewhere");
  std::filesystem::create_directory_symlink(base_ + "/elsewhere", Path("refused"));
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  spool_->SetAside(1);
  EXPECT_TRUE(std::filesystem::is_empty(base_ + "/elsewhere"));
  EXPECT_THAT(Names(), Not(Contains(Record(1))));
  EXPECT_EQ(Lost(SpoolLoss::kRefused).records, 1u);
}

// What is in the directory.

TEST_F(SpoolTest, StrangersFilesAreLeftAlone) {
  OpenSpool();
  Close();
  const std::set<std::string> strangers = {"1.record",                         // too few digits
                                           "000000000000000000001.record",     // too many
                                           "0000000000000000000x.record",      // no number
                                           "00000000000000000000.record",      // no record has this one
                                           "99999999999999999999.record",      // more than 64 bits hold
                                           "00000000000000000001.record.bak",  // of an editor
                                           "other.tmp",                        // somebody's
                                           "00000000000000000001.tmp",
                                           "lost+found",
                                           ".hidden"};
  for (const std::string& name : strangers) Fill(name, "x");
  OpenSpool();
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  EXPECT_THAT(Drain(), ElementsAre("a"));
  for (const std::string& name : strangers) EXPECT_EQ(Contents(name), "x") << name;
  EXPECT_EQ(LostRecords(), 0u);
}

TEST_F(SpoolTest, WhatIsNoFileIsLeftAloneAndItsNumberNotUsed) {
  OpenSpool();
  Close();
  Fill("target", FileOf(1, Window(0, "a"), At(0)));
  ASSERT_EQ(symlink("target", Path(Record(1)).c_str()), 0);
  std::filesystem::create_directory(Path(Record(2)));
  ASSERT_EQ(mkfifo(Path(Record(3)).c_str(), 0600), 0);
  OpenSpool();
  EXPECT_EQ(spool_->stats().records, 0u);
  EXPECT_EQ(LostRecords(), 0u);
  ASSERT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  EXPECT_EQ(spool_->Oldest(At(0))->number, 4u);
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_TRUE(std::filesystem::is_symlink(Path(Record(1))));
  EXPECT_TRUE(std::filesystem::is_directory(Path(Record(2))));
  EXPECT_TRUE(std::filesystem::is_fifo(Path(Record(3))));
}

TEST_F(SpoolTest, ALinkInPlaceOfARecordIsNotFollowed) {
  OpenSpool();
  for (const char* body : {"a", "b"}) ASSERT_TRUE(spool_->Append(Window(0, body), At(0)).ok());
  std::filesystem::rename(Path(Record(1)), Path("moved"));
  ASSERT_EQ(symlink("moved", Path(Record(1)).c_str()), 0);
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 10 * kSecond}));
  EXPECT_THAT(Names(), Contains("moved"));
}

TEST_F(SpoolTest, ALinkInPlaceOfTheLossesIsNotFollowed) {
  OpenSpool();
  Close();
  std::filesystem::rename(Path("losses"), Path("moved"));
  const std::string bytes = Contents("moved");
  ASSERT_EQ(symlink("moved", Path("losses").c_str()), 0);
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kDamaged).records, 1u);
  EXPECT_FALSE(std::filesystem::is_symlink(Path("losses")));
  EXPECT_EQ(Contents("moved"), bytes);
}

TEST_F(SpoolTest, ARecordThatSomebodyRemovedIsALoss) {
  Spool& spool = OpenSpool();
  for (const char* body : {"a", "b"}) ASSERT_TRUE(spool.Append(Window(0, body), At(0)).ok());
  std::filesystem::remove(Path(Record(1)));
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 10 * kSecond}));
}

TEST_F(SpoolTest, ARecordUnderAnotherNumberIsDamaged) {
  OpenSpool();
  Close();
  Fill(Record(9), FileOf(8, Window(0, "a"), At(0)));
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 0}));
  EXPECT_EQ(spool_->stats().records, 0u);
}

TEST_F(SpoolTest, RecordsThatSomebodySwappedAreDamaged) {
  OpenSpool();
  for (const char* body : {"a", "b"}) ASSERT_TRUE(spool_->Append(Window(0, body), At(0)).ok());
  std::filesystem::rename(Path(Record(1)), Path("swapped"));
  std::filesystem::rename(Path(Record(2)), Path(Record(1)));
  std::filesystem::rename(Path("swapped"), Path(Record(2)));
  EXPECT_THAT(Drain(), IsEmpty());
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{2, 20 * kSecond}));
}

TEST_F(SpoolTest, AHugeFileIsNotRead) {
  OpenSpool();
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  ASSERT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  std::filesystem::resize_file(Path(Record(1)), uint64_t{1} << 40);  // a hole: more than there is memory
  EXPECT_THAT(Drain(), ElementsAre("b"));
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 10 * kSecond}));
  EXPECT_THAT(Names("refused"), IsEmpty()) << "more than may be kept";
  Close();
  Fill(Record(9), "");
  std::filesystem::resize_file(Path(Record(9)), uint64_t{1} << 40);
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{2, 10 * kSecond}));
}

// Errors.

TEST_F(SpoolTest, ErrorsNameTheDirectory) {
  const auto absent = Spool::Open(base_ + "/absent/spool", {});
  EXPECT_EQ(absent.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(absent.status().message()), HasSubstr(base_ + "/absent/spool"));
  std::ofstream(directory_) << "a file";
  const auto file = Spool::Open(directory_, {});
  EXPECT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(directory_));
}

TEST_F(SpoolTest, WithoutDescriptorsNothingIsTakenForDamaged) {
  OpenSpool();
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  struct rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool was_given = spool_->Oldest(At(0)).has_value();
  const absl::Status appended = spool_->Append(Window(0, "b"), At(0));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_FALSE(was_given);
  EXPECT_FALSE(appended.ok());
  EXPECT_THAT(std::string(appended.message()), HasSubstr(directory_));
  EXPECT_EQ(Lost(SpoolLoss::kDamaged).records, 0u);
  spool_->LostUnwritten(Window(0, "b"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten).records, 1u);
  EXPECT_THAT(Drain(), ElementsAre("a"));
  EXPECT_EQ(ParseSpoolLedger(Contents("losses")).value().losses, spool_->stats().lost) << "written when it could be";
}

// In a file system of its own.
class SpoolDiskTest : public SpoolTest {
 protected:
  void SetUp() override {
    if (mount("tmpfs", base_.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=64k") != 0) GTEST_SKIP() << "needs root";
    mounted_ = true;
  }
  void TearDown() override {
    Close();
    if (mounted_) umount(base_.c_str());
  }
  // Takes all room that there is.
  void FillDisk() const {
    std::ofstream file(base_ + "/filler", std::ios::binary);
    file << std::string(1 << 20, 'x') << std::flush;
  }
  bool mounted_ = false;
};

TEST_F(SpoolDiskTest, AFullDiskCostsTheWindowThatFindsNoRoom) {
  OpenSpool();
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  FillDisk();
  const absl::Status status = spool_->Append(Window(0, "b"), At(0));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), SpoolLost()) << "its owner has it";
  spool_->LostUnwritten(Window(0, "b"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), (SpoolLost{1, 10 * kSecond}));
  EXPECT_THAT(Names(), ElementsAre(Record(1), "losses"));
  SpoolLedger saved = ParseSpoolLedger(Contents("losses")).value();
  EXPECT_EQ(saved.losses, spool_->stats().lost) << "the count is on the disk, full as it is";
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), (SpoolLost{1, 10 * kSecond}));
  EXPECT_THAT(Drain(), ElementsAre("a"));
}

TEST_F(SpoolDiskTest, WhatIsDeliveredAllTheSameIsNoLoss) {
  OpenSpool();
  FillDisk();
  EXPECT_FALSE(spool_->Append(Window(0, "a"), At(0)).ok());
  EXPECT_FALSE(spool_->Append(Window(0, "b"), At(0)).ok());
  spool_->DeliveredUnwritten(Window(0, "a"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), SpoolLost()) << "a figure that is told never falls";
  OpenSpool();
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), (SpoolLost{1, 10 * kSecond})) << "nobody has it any more";
  spool_->DeliveredUnwritten(Window(0, "b"));
  spool_->DeliveredUnwritten(Window(0, "c"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten), SpoolLost()) << "never less than nothing";
}

TEST_F(SpoolDiskTest, ANewSpoolOnAFullDiskWorksOnceThereIsRoom) {
  std::filesystem::create_directory(directory_);
  FillDisk();
  OpenSpool();
  EXPECT_FALSE(spool_->Append(Window(0, "a"), At(0)).ok());
  spool_->LostUnwritten(Window(0, "a"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten).records, 1u);
  std::filesystem::remove(base_ + "/filler");
  EXPECT_TRUE(spool_->Append(Window(0, "b"), At(0)).ok());
  EXPECT_EQ(ParseSpoolLedger(Contents("losses")).value().losses, spool_->stats().lost);
  EXPECT_THAT(Drain(), ElementsAre("b"));
}

TEST_F(SpoolDiskTest, ADiskThatCannotBeWrittenIsAnError) {
  OpenSpool();
  Close();
  ASSERT_EQ(mount("none", base_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  const auto spool = Spool::Open(directory_, {});
  EXPECT_FALSE(spool.ok());
  EXPECT_THAT(std::string(spool.status().message()), HasSubstr(directory_));
  EXPECT_THAT(std::string(spool.status().message()), HasSubstr("Read-only"));
}

TEST_F(SpoolDiskTest, ADiskThatBecomesReadOnlyCostsNoCrash) {
  OpenSpool();
  ASSERT_TRUE(spool_->Append(Window(0, "a"), At(0)).ok());
  ASSERT_EQ(mount("none", base_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_FALSE(spool_->Append(Window(0, "b"), At(0)).ok());
  spool_->LostUnwritten(Window(0, "b"));
  EXPECT_EQ(Lost(SpoolLoss::kNotWritten).records, 1u);
  EXPECT_THAT(Drain(), ElementsAre("a"));
}

// Threads.

TEST_F(SpoolTest, OneAppendsWhileOneSends) {
  constexpr int kRecords = 200;
  Spool& spool = OpenSpool({.bytes = 20 * (kHeader + 8)});
  std::atomic<bool> is_done = false;
  std::thread encoder([&] {
    for (int i = 0; i < kRecords; ++i) EXPECT_TRUE(spool.Append(Window(0, std::to_string(i)), At(0)).ok());
    is_done = true;
  });
  uint64_t delivered = 0;
  int last = -1;
  for (bool is_last = false; !is_last;) {
    is_last = is_done;
    while (const auto record = spool.Oldest(At(0))) {
      EXPECT_GT(std::stoi(record->body), last);
      last = std::stoi(record->body);
      spool.Done(record->number);
      ++delivered;
      EXPECT_LE(spool.stats().bytes, 20 * (kHeader + 8));
    }
  }
  encoder.join();
  EXPECT_EQ(last, kRecords - 1);
  EXPECT_EQ(delivered + LostRecords(), static_cast<uint64_t>(kRecords));
}

}  // namespace
}  // namespace offcpu
