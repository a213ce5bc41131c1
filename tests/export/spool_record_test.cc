#include "export/spool_record.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using std::string_literals::operator""s;

constexpr SpoolTime kAppended = {.unix_ns = 0x21, .boot_ns = 0x22, .boot = 0x23};

SpoolRecord Window() {
  return {.number = 0, .start_unix_ns = 0x1122334455667788, .duration_ns = 10, .part = 1, .parts = 3, .body = "body"};
}

std::string Encoded(const SpoolRecord& record, uint64_t number = 7) {
  return EncodeSpoolHeader(MakeSpoolHeader(record, number, kAppended).value()) + record.body;
}

// The sums are those that Python's zlib.crc32 gives for these bytes.
std::string LiteralHeader() {
  return "OFFCPUSR"s                          // magic
         "\x01\0\0\0"s                        // version
         "\x58\0\0\0"s                        // bytes of the header
         "\x07\0\0\0\0\0\0\0"s                // number
         "\x88\x77\x66\x55\x44\x33\x22\x11"s  // start
         "\x0a\0\0\0\0\0\0\0"s                // duration
         "\x01\0\0\0"s                        // part
         "\x03\0\0\0"s                        // of so many
         "\x21\0\0\0\0\0\0\0"s                // appended, unix time
         "\x22\0\0\0\0\0\0\0"s                // since the boot
         "\x23\0\0\0\0\0\0\0"s                // which boot
         "\x04\0\0\0\0\0\0\0"s                // bytes of the body
         "\xb2\x0b\xa8\xdb"s                  // sum of the body
         "\x1b\x10\x0d\xb1"s;                 // sum of the header
}

TEST(SpoolRecordTest, TheFormIsAsWrittenDown) { EXPECT_EQ(Encoded(Window()), LiteralHeader() + "body"); }

TEST(SpoolRecordTest, WhatWasWrittenIsRead) {
  const auto header = ParseSpoolHeader(Encoded(Window()));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->appended.unix_ns, 0x21u);
  EXPECT_EQ(header->appended.boot_ns, 0x22u);
  EXPECT_EQ(header->appended.boot, 0x23u);
  EXPECT_EQ(header->file_bytes(), 92u);
  const auto record = ParseSpoolRecord(Encoded(Window()));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(record->number, 7u);
  EXPECT_EQ(record->start_unix_ns, 0x1122334455667788u);
  EXPECT_EQ(record->duration_ns, 10u);
  EXPECT_EQ(record->part, 1u);
  EXPECT_EQ(record->parts, 3u);
  EXPECT_EQ(record->body, "body");
}

TEST(SpoolRecordTest, ABodyMayBeEmpty) {
  SpoolRecord record = Window();
  record.body.clear();
  const auto read = ParseSpoolRecord(Encoded(record));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->body, "");
}

TEST(SpoolRecordTest, EveryCutIsSeen) {
  const std::string whole = Encoded(Window());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(ParseSpoolRecord(whole.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_EQ(ParseSpoolHeader(whole.substr(0, size)).ok(), size >= kSpoolHeaderBytes) << size;
  }
  EXPECT_EQ(ParseSpoolRecord(whole + '\0').status().code(), absl::StatusCode::kDataLoss);
}

TEST(SpoolRecordTest, EveryFlippedBitIsSeen) {
  const std::string whole = Encoded(Window());
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_EQ(ParseSpoolRecord(flipped).status().code(), absl::StatusCode::kDataLoss) << bit;
    EXPECT_EQ(ParseSpoolHeader(flipped).ok(), bit / 8 >= kSpoolHeaderBytes) << bit;
  }
}

// A sum proves that bytes are as they were written, not that the writer was right.
TEST(SpoolRecordTest, ValuesAreCheckedBehindTheSum) {
  const SpoolHeader good = MakeSpoolHeader(Window(), 7, kAppended).value();
  const auto is_read = [](const SpoolHeader& header) { return ParseSpoolHeader(EncodeSpoolHeader(header)).ok(); };
  ASSERT_TRUE(is_read(good));
  SpoolHeader header = good;
  header.number = 0;
  EXPECT_FALSE(is_read(header));
  header.number = kMaxSpoolNumber;
  EXPECT_TRUE(is_read(header));
  header.number = kMaxSpoolNumber + 1;
  EXPECT_FALSE(is_read(header));
  header = good;
  header.part = 3;
  EXPECT_FALSE(is_read(header));
  header.part = 0;
  header.parts = 0;
  EXPECT_FALSE(is_read(header));
  header.parts = kMaxSpoolParts;
  EXPECT_TRUE(is_read(header));
  header.parts = kMaxSpoolParts + 1;
  EXPECT_FALSE(is_read(header));
  header = good;
  header.duration_ns = std::numeric_limits<uint64_t>::max() - good.start_unix_ns;
  EXPECT_TRUE(is_read(header));
  ++header.duration_ns;
  EXPECT_FALSE(is_read(header));
  header = good;
  header.body_bytes = kMaxSpoolBodyBytes;
  EXPECT_TRUE(is_read(header));
  ++header.body_bytes;
  EXPECT_FALSE(is_read(header));
}

TEST(SpoolRecordTest, WhatCouldNotBeReadIsNotMade) {
  SpoolRecord record = Window();
  record.part = record.parts;
  EXPECT_EQ(MakeSpoolHeader(record, 7, kAppended).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ShareOfWindowTest, ThePartsOfAWindowAddUpToIt) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  for (const uint64_t duration : {uint64_t{0}, uint64_t{1}, uint64_t{10}, uint64_t{10'000'000'001}, kMost}) {
    for (const uint32_t parts : {1u, 2u, 3u, 7u, 1000u, kMaxSpoolParts}) {
      uint64_t sum = 0;
      for (uint32_t part = 0; part < parts; ++part) {
        const uint64_t share = ShareOfWindowNs(duration, part, parts);
        EXPECT_LE(share - duration / parts, 1u);
        sum += share;
      }
      EXPECT_EQ(sum, duration) << parts;
    }
  }
  EXPECT_EQ(ShareOfWindowNs(10, 0, 3), 3u);
  EXPECT_EQ(ShareOfWindowNs(10, 1, 3), 3u);
  EXPECT_EQ(ShareOfWindowNs(10, 2, 3), 4u);
}

}  // namespace
}  // namespace offcpu
