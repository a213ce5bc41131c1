// Files of the spool that are not as they were written: each cut and each flipped bit is a record that is counted as
// damaged, and never a body that nobody wrote.
#include <unistd.h>

#include <string>
#include <vector>

#include "spool_fixture.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Thousands of spools are opened, and each waits for its disk: one in memory, where there is one.
std::string MemoryDisk() {
  return access("/dev/shm", W_OK | X_OK) == 0 ? std::string("/dev/shm/") : ::testing::TempDir();
}

class SpoolDamageTest : public SpoolTest {
 protected:
  SpoolDamageTest() : SpoolTest(MemoryDisk()) {
    OpenSpool();
    for (const char* body : {"damaged", "whole"}) EXPECT_TRUE(spool_->Append(Window(0, body), At(0)).ok());
    Close();
    record_ = Contents(Record(1));
    other_ = Contents(Record(2));
    losses_ = Contents("losses");
  }

  // As it was before the damage.
  void Restore() {
    Close();
    std::filesystem::remove_all(Path("refused"));
    Fill(Record(1), record_);
    Fill(Record(2), other_);
    Fill("losses", losses_);
  }

  // `is_open`: while the spool was looking the other way; else before it was opened.
  void ExpectCounted(const std::string& bytes, bool is_open, bool header_is_whole) {
    Restore();
    if (is_open) OpenSpool();
    Fill(Record(1), bytes);
    if (!is_open) OpenSpool();
    EXPECT_THAT(Drain(), ElementsAre("whole"));
    const uint64_t ns = is_open || header_is_whole ? 10 * kSecond : 0;
    EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, ns}));
    EXPECT_EQ(LostRecords(), 1u);
    EXPECT_THAT(Names("refused"), SizeIs(1));
    EXPECT_EQ(Contents("refused/" + Names("refused").front()), bytes);
    OpenSpool();
    EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, ns})) << "counted again";
  }

  std::string record_;
  std::string other_;
  std::string losses_;
};

std::string Flipped(std::string bytes, size_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return bytes;
}

TEST_F(SpoolDamageTest, EveryCutOfARecordIsCounted) {
  for (const bool is_open : {false, true}) {
    for (size_t size = 0; size < record_.size(); ++size) {
      SCOPED_TRACE(size);
      ExpectCounted(record_.substr(0, size), is_open, size >= kSpoolHeaderBytes);
    }
  }
}

TEST_F(SpoolDamageTest, WhatIsCutOffIsSeenWhenTheSpoolIsOpened) {
  Fill(Record(1), record_.substr(0, record_.size() - 1));
  OpenSpool();
  EXPECT_EQ(spool_->stats().records, 1u);
  EXPECT_EQ(spool_->stats().bytes, other_.size());
  EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 10 * kSecond}));
}

TEST_F(SpoolDamageTest, BytesBehindARecordAreCounted) {
  for (const bool is_open : {false, true}) ExpectCounted(record_ + "x", is_open, true);
}

TEST_F(SpoolDamageTest, EveryFlippedBitOfARecordIsCounted) {
  for (const bool is_open : {false, true}) {
    for (size_t bit = 0; bit < 8 * record_.size(); ++bit) {
      SCOPED_TRACE(bit);
      ExpectCounted(Flipped(record_, bit), is_open, bit / 8 >= kSpoolHeaderBytes);
    }
  }
}

TEST_F(SpoolDamageTest, EveryCutOfTheLossesIsCountedAndCostsNoRecord) {
  for (size_t size = 0; size < losses_.size(); ++size) {
    SCOPED_TRACE(size);
    Restore();
    Fill("losses", losses_.substr(0, size));
    OpenSpool();
    EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 0}));
    EXPECT_EQ(LostRecords(), 1u);
    EXPECT_THAT(Drain(), ElementsAre("damaged", "whole"));
    OpenSpool();
    EXPECT_EQ(LostRecords(), 1u) << "counted again";
  }
}

TEST_F(SpoolDamageTest, EveryFlippedBitOfTheLossesIsCountedAndCostsNoRecord) {
  for (size_t bit = 0; bit < 8 * losses_.size(); ++bit) {
    SCOPED_TRACE(bit);
    Restore();
    Fill("losses", Flipped(losses_, bit));
    OpenSpool();
    EXPECT_EQ(Lost(SpoolLoss::kDamaged), (SpoolLost{1, 0}));
    EXPECT_EQ(LostRecords(), 1u);
    EXPECT_THAT(Drain(), ElementsAre("damaged", "whole"));
  }
}

TEST_F(SpoolDamageTest, ManyDamagedRecordsAreEachCountedAndOneWholeIsFound) {
  Close();
  for (uint64_t number = 3; number < 50; ++number) Fill(Record(number), record_);
  OpenSpool();
  EXPECT_THAT(Drain(), ElementsAre("damaged", "whole"));
  EXPECT_EQ(Lost(SpoolLoss::kDamaged).records, 47u);
}

}  // namespace
}  // namespace offcpu
