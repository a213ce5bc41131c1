#include "bytes/gzip.h"

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

// What gzip(1) makes of "hello" without a name.
const std::string kHello(
    "\x1f\x8b\x08\x00"          // gzip, deflated, no flags
    "\x00\x00\x00\x00\x00\x03"  // no time, no hint, Unix
    "\x01\x05\x00\xfa\xff"      // the last block, stored, 5 bytes
    "hello"
    "\x86\xa6\x10\x36"   // CRC-32
    "\x05\x00\x00\x00",  // length
    28);

std::string Zipped(const std::string& text, size_t piece) {
  std::string bytes;
  auto sink = [&](std::string_view part) { bytes += part; };
  GzipWriter gzip(sink);
  for (size_t i = 0; i < text.size(); i += piece) gzip.Append(std::string_view(text).substr(i, piece));
  gzip.Finish();
  return bytes;
}

TEST(GzipTest, ReadsWhatOthersWrite) { EXPECT_EQ(Gunzip(kHello, 5).value(), "hello"); }

TEST(GzipTest, ReadsWhatItWritesInAnyPieces) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  for (size_t piece : {size_t{1000}, text.size()}) EXPECT_EQ(Gunzip(Zipped(text, piece), text.size()).value(), text);
  EXPECT_EQ(Gunzip(Zipped("", 1), 0).value(), "");
}

TEST(GzipTest, TheLimitIsKept) {
  const std::string zipped = Zipped(std::string(1 << 20, 'x'), 1 << 20);
  EXPECT_TRUE(Gunzip(zipped, 1 << 20).ok());
  EXPECT_EQ(Gunzip(zipped, (1 << 20) - 1).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(GzipTest, NoMoreIsUnpackedThanItsEndSays) {
  std::string zipped = Zipped(std::string(1 << 20, 'x'), 1 << 20);
  EXPECT_EQ(Gunzip(zipped, 1 << 20).value().capacity(), 1u << 20);
  zipped.replace(zipped.size() - 4, 4, std::string("\x00\x00\x01\x00", 4));  // 64 KiB
  const absl::Status status = Gunzip(zipped, 1 << 20).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(status.message(), "is truncated or damaged: not valid gzip");
}

TEST(GzipTest, DamageIsAnError) {
  for (size_t size = 0; size < kHello.size(); ++size) {
    EXPECT_EQ(Gunzip(kHello.substr(0, size), 5).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  std::string other = kHello;
  other[15] = 'j';  // not what the checksum says
  EXPECT_EQ(Gunzip(other, 5).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Gunzip(kHello + "x", 5).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace offcpu
