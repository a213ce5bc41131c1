#include "process/piecewise_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kPiece = PiecewiseMemory::kPieceBytes;

// Its bytes say where they are. Counts what is read.
class Counted final : public Memory {
 public:
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    if (address > end || end - address < out.size()) return false;
    ++reads;
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((address + i) % 251);
    return true;
  }
  uint64_t end = 100 * kPiece;
  mutable int reads = 0;
};

std::byte ByteAt(uint64_t address) { return static_cast<std::byte>(address % 251); }

TEST(PiecewiseMemoryTest, ShowsAPartFromZeroOn) {
  const Counted memory;
  const PiecewiseMemory part(memory, 1000, 2 * kPiece);
  EXPECT_EQ(part.bytes(), 2 * kPiece);
  EXPECT_EQ(part.ReadValue<std::byte>(0), ByteAt(1000));
  EXPECT_EQ(part.ReadValue<std::byte>(2 * kPiece - 1), ByteAt(1000 + 2 * kPiece - 1));
  EXPECT_FALSE(part.ReadValue<std::byte>(2 * kPiece).has_value());
  EXPECT_FALSE(part.ReadValue<uint16_t>(2 * kPiece - 1).has_value());
  EXPECT_FALSE(part.ReadValue<std::byte>(UINT64_MAX).has_value());
}

TEST(PiecewiseMemoryTest, ReadsAcrossPieces) {
  const Counted memory;
  const PiecewiseMemory part(memory, 0, 4 * kPiece);
  std::vector<std::byte> bytes(2 * kPiece);
  ASSERT_TRUE(part.Read(kPiece - 3, bytes));
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], ByteAt(kPiece - 3 + i)) << i;
}

TEST(PiecewiseMemoryTest, KeepsAsManyPiecesAsPlaces) {
  const Counted memory;
  const PiecewiseMemory part(memory, 0, 100 * kPiece);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < PiecewiseMemory::kPieces; ++i) EXPECT_TRUE(part.ReadValue<uint64_t>(i * kPiece + 8));
  }
  EXPECT_EQ(memory.reads, static_cast<int>(PiecewiseMemory::kPieces));
  EXPECT_TRUE(part.ReadValue<uint64_t>(PiecewiseMemory::kPieces * kPiece)) << "in the place of the first one";
  EXPECT_EQ(part.ReadValue<std::byte>(0), ByteAt(0));
  EXPECT_EQ(memory.reads, static_cast<int>(PiecewiseMemory::kPieces) + 2);
}

TEST(PiecewiseMemoryTest, WhatIsNotThereIsNotRead) {
  Counted memory;
  memory.end = kPiece + 10;
  const PiecewiseMemory part(memory, 0, 3 * kPiece);
  EXPECT_TRUE(part.ReadValue<uint64_t>(kPiece - 8).has_value());
  EXPECT_FALSE(part.ReadValue<uint64_t>(kPiece).has_value()) << "the piece is not all there";
  EXPECT_EQ(PiecewiseMemory(memory, UINT64_MAX - 1, 2).bytes(), 0u);
}

}  // namespace
}  // namespace offcpu
