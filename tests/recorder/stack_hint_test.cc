#include "recorder/stack_hint.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kSp = 0x7ffd00001000;

CaptureEvent ACapture(size_t bytes, const std::vector<uint64_t>& pieces = {}) {
  CaptureEvent capture;
  capture.registers.value[kRsp] = kSp;
  capture.stack.resize(bytes);
  for (const uint64_t begin : pieces) {
    capture.pieces.push_back({.begin = begin, .bytes = std::vector<std::byte>(kMaxStackPieceBytes), .more = true});
  }
  return capture;
}

std::optional<StackHint> After(const CaptureEvent& capture, uint64_t needed, bool guessed = false,
                               EndReason end = EndReason::kStackCopy) {
  return HintAfter(capture, end, {.address = needed, .guessed = guessed});
}

TEST(StackHint, OnlyWhereMoreOfAStackHelps) {
  for (int i = 0; i < kEndReasonCount; ++i) {
    const auto end = static_cast<EndReason>(i);
    const bool helps = end == EndReason::kStackCopy || end == EndReason::kOtherStack || end == EndReason::kUnread;
    EXPECT_EQ(After(ACapture(4096), kSp + 4096, false, end).has_value(), helps) << Name(end);
  }
  EXPECT_EQ(After(ACapture(4096), 0), std::nullopt) << "it is not known what was needed";
}

TEST(StackHint, ACloseWordMakesTheCopyLarger) {
  EXPECT_EQ(After(ACapture(4096), kSp + 4096), (StackHint{.bytes = 16384}));
  EXPECT_EQ(After(ACapture(4096), kSp + 40000), (StackHint{.bytes = 40064})) << "as far as it takes";
  EXPECT_EQ(After(ACapture(32768), kSp + 40000), (StackHint{.bytes = 65536}));
  EXPECT_EQ(After(ACapture(4096), kSp + 65535), (StackHint{.bytes = 65536})) << "the limit";
  EXPECT_EQ(After(ACapture(4096, {0x1000}), kSp + 4096), (StackHint{.bytes = 16384, .pieces = {0x1000}}));
}

TEST(StackHint, AFarWordGetsAPiece) {
  EXPECT_EQ(After(ACapture(4096), kSp + 65536), (StackHint{.bytes = 4096, .pieces = {kSp + 65536 - 64}}));
  EXPECT_EQ(After(ACapture(65536), kSp + 65536), (StackHint{.bytes = 65536, .pieces = {kSp + 65536 - 64}}));
  EXPECT_EQ(After(ACapture(4096), kSp - 4096), (StackHint{.bytes = 4096, .pieces = {kSp - 4096 - 64}}))
      << "of another stack, which lies below";
}

// A frame that is large may have pages that nobody has touched.
TEST(StackHint, BehindAPageThatCouldNotBeRead) {
  CaptureEvent capture = ACapture(4096);
  capture.unread = true;
  const auto after = [&](uint64_t needed) { return After(capture, needed, false, EndReason::kUnread); };
  EXPECT_EQ(after(kSp + 4096 + 8), std::nullopt) << "the page itself";
  EXPECT_EQ(after(kSp + 8192), std::nullopt) << "what is needed ends with it";
  EXPECT_EQ(after(kSp + 8200), (StackHint{.bytes = 4096, .pieces = {kSp + 8200 - 64}}));
  capture.pieces = {{.begin = kSp + 8200 - 64, .bytes = {}, .unread = true}};
  EXPECT_EQ(after(kSp + 8192), std::nullopt);
  EXPECT_EQ(After(capture, kSp + 0x100000, true, EndReason::kUnread), std::nullopt) << "a guess";
}

// With the red zone of what was interrupted, as far as that lies in the same page.
TEST(StackHint, AnotherStackBeginsWhereItWasInterrupted) {
  const auto piece_of = [](uint64_t sp) { return After(ACapture(4096), sp, false, EndReason::kOtherStack); };
  EXPECT_EQ(piece_of(kSp + 200), (StackHint{.bytes = 4096, .pieces = {kSp + 72}}));
  EXPECT_EQ(piece_of(kSp + 128), (StackHint{.bytes = 4096, .pieces = {kSp}}));
  EXPECT_EQ(piece_of(kSp + 64), (StackHint{.bytes = 4096, .pieces = {kSp}}));
  EXPECT_EQ(piece_of(0x5103), (StackHint{.bytes = 4096, .pieces = {0x5080}})) << "words are aligned";
  CaptureEvent capture = ACapture(4096);
  capture.is_32_bit = true;
  EXPECT_EQ(After(capture, kSp + 200, false, EndReason::kOtherStack), (StackHint{.bytes = 4096, .pieces = {kSp + 200}}))
      << "i386 has none";
}

TEST(StackHint, TheRedZoneIsNotCounted) {
  CaptureEvent capture = ACapture(128 + 4096);
  capture.red_zone_bytes = 128;
  EXPECT_EQ(After(capture, kSp + 4096), (StackHint{.bytes = 16384}));
  EXPECT_EQ(After(capture, kSp + 65536), (StackHint{.bytes = 4096, .pieces = {kSp + 65536 - 64}}));
}

TEST(StackHint, AGuessGetsNoPiece) {
  EXPECT_EQ(After(ACapture(4096), kSp + 65536, true), std::nullopt);
  EXPECT_EQ(After(ACapture(4096), kSp + 20000, true), (StackHint{.bytes = 20064}));
}

TEST(StackHint, PiecesComeOneAfterTheOther) {
  const uint64_t far = kSp + 0x100000;
  for (const uint64_t behind : {uint64_t{0}, uint64_t{8}, uint64_t{64}}) {
    EXPECT_EQ(After(ACapture(4096, {far}), far + kMaxStackPieceBytes + behind),
              (StackHint{.bytes = 4096, .pieces = {far, far + kMaxStackPieceBytes}}));
  }
  EXPECT_EQ(After(ACapture(4096, {1 << 20, 2 << 20, 3 << 20, 4 << 20}), far),
            (StackHint{.bytes = 4096, .pieces = {2 << 20, 3 << 20, 4 << 20, far - 64}}))
      << "the oldest one goes";
}

}  // namespace
}  // namespace offcpu
