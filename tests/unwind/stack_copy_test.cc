#include "unwind/stack_copy.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;

class StackCopyTest : public ::testing::Test {
 protected:
  StackCopy Copy() const {
    return {.memory = memory_, .begin = kStack, .end = kStack + sizeof(words_), .more = true, .pieces = pieces_};
  }
  // Where the part begins that an address lies in, or that lies below it; 0: none.
  uint64_t PartAt(uint64_t address) const {
    const std::optional<StackPart> part = Copy().PartAt(address);
    return part.has_value() ? part->begin : 0;
  }

  std::array<uint64_t, 4> words_ = {1, 2, 3, 4};
  SpanMemory memory_{kStack, std::as_bytes(std::span(words_))};
  std::vector<StackPiece> pieces_ = {
      {.begin = kStack + 0x1000, .bytes = std::vector<std::byte>(16, std::byte{0x11}), .unread = true},
      {.begin = kStack - 0x1000, .bytes = std::vector<std::byte>(16, std::byte{0x22}), .more = true}};
};

TEST_F(StackCopyTest, AnAddressBelongsToTheNextPartBelow) {
  EXPECT_EQ(PartAt(kStack - 0x1001), 0u);
  EXPECT_EQ(PartAt(kStack - 0x1000), kStack - 0x1000);
  EXPECT_EQ(PartAt(kStack - 1), kStack - 0x1000);
  EXPECT_EQ(PartAt(kStack), kStack);
  EXPECT_EQ(PartAt(kStack + 0xfff), kStack);
  EXPECT_EQ(PartAt(kStack + 0x1000), kStack + 0x1000);
  EXPECT_EQ(PartAt(UINT64_MAX), kStack + 0x1000);
}

TEST_F(StackCopyTest, WhyAWalkEndsAboveAPart) {
  EXPECT_EQ(Copy().PartAt(kStack - 0x800)->Beyond(EndReason::kBadCfa), EndReason::kStackCopy);
  EXPECT_EQ(Copy().PartAt(kStack + 0x1800)->Beyond(EndReason::kBadCfa), EndReason::kUnread);
  pieces_[0].unread = false;
  EXPECT_EQ(Copy().PartAt(kStack + 0x1800)->Beyond(EndReason::kBadCfa), EndReason::kBadCfa);
}

TEST_F(StackCopyTest, WordsOfPieces) {
  EXPECT_EQ(Copy().WordOfPiece(kStack + 0x1000), 0x1111111111111111u);
  EXPECT_EQ(Copy().WordOfPiece(kStack - 0x1000 + 8), 0x2222222222222222u);
  EXPECT_EQ(Copy().WordOfPiece(kStack + 0x1000 + 9), std::nullopt) << "not all of it is there";
  EXPECT_EQ(Copy().WordOfPiece(kStack), std::nullopt) << "of the copy";
}

}  // namespace
}  // namespace offcpu
