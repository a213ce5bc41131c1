#include "export/spool_losses.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using std::string_literals::operator""s;

SpoolLedger Some() {
  return {
      .losses = {{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}}, .next_number = 9, .removed_first = 3, .removed_last = 5};
}

TEST(SpoolLossesTest, TheFormIsAsWrittenDown) {
  EXPECT_EQ(EncodeSpoolLedger(Some()),
            "OFFCPUSL"s                              // magic
            "\x01\0\0\0"s                            // version
            "\x05\0\0\0"s                            // kinds of losses
            "\x09\0\0\0\0\0\0\0"s                    // next number
            "\x03\0\0\0\0\0\0\0"s                    // removed from
            "\x05\0\0\0\0\0\0\0"s                    // to
            "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"s  // over bytes: records, ns
            "\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0"s  // too old
            "\x05\0\0\0\0\0\0\0\x06\0\0\0\0\0\0\0"s  // damaged
            "\x07\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0"s  // not written
            "\x09\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0"s  // refused
            "\x08\x1b\x4e\x30"s);                    // sum, as Python's zlib.crc32 gives it
}

TEST(SpoolLossesTest, WhatWasWrittenIsRead) {
  EXPECT_EQ(ParseSpoolLedger(EncodeSpoolLedger(Some())).value(), Some());
  EXPECT_EQ(ParseSpoolLedger(EncodeSpoolLedger({})).value(), SpoolLedger());
}

TEST(SpoolLossesTest, EveryCutIsSeen) {
  const std::string whole = EncodeSpoolLedger(Some());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParseSpoolLedger(whole.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(ParseSpoolLedger(whole + '\0').status().code(), absl::StatusCode::kDataLoss);
}

TEST(SpoolLossesTest, EveryFlippedBitIsSeen) {
  const std::string whole = EncodeSpoolLedger(Some());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(ParseSpoolLedger(flipped).status().code(), absl::StatusCode::kDataLoss) << bit;
  }
}

TEST(SpoolLossesTest, ValuesAreCheckedBehindTheSum) {
  SpoolLedger ledger = Some();
  ledger.next_number = 0;
  EXPECT_FALSE(ParseSpoolLedger(EncodeSpoolLedger(ledger)).ok());
  ledger = Some();
  ledger.removed_last = 9;  // not given to any record yet
  EXPECT_FALSE(ParseSpoolLedger(EncodeSpoolLedger(ledger)).ok());
  ledger = Some();
  ledger.removed_first = 6;
  EXPECT_FALSE(ParseSpoolLedger(EncodeSpoolLedger(ledger)).ok());
}

TEST(SpoolLossesTest, EachLossHasAName) {
  EXPECT_EQ(Name(SpoolLoss::kOverBytes), "over bytes");
  EXPECT_EQ(Name(SpoolLoss::kTooOld), "too old");
  EXPECT_EQ(Name(SpoolLoss::kDamaged), "damaged");
  EXPECT_EQ(Name(SpoolLoss::kNotWritten), "not written");
  EXPECT_EQ(Name(SpoolLoss::kRefused), "refused");
}

}  // namespace
}  // namespace offcpu
