#include "process/debug_frame.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <span>

namespace offcpu {
namespace {

// Entries of nothing but a length, an id and zeros.
class DebugFrame {
 public:
  static constexpr uint32_t kCie = UINT32_MAX;

  DebugFrame& Entry(uint32_t id, uint32_t length = 8) {
    const uint32_t head[2] = {length, id};
    const auto* begin = reinterpret_cast<const std::byte*>(head);
    bytes.insert(bytes.end(), begin, begin + sizeof(head));
    bytes.resize(bytes.size() + length - sizeof(id));
    return *this;
  }
  uint32_t WordAt(size_t at) const {
    uint32_t word = 0;
    std::memcpy(&word, &bytes.at(at), sizeof(word));
    return word;
  }

  std::vector<std::byte> bytes;
};

TEST(DebugFrameTest, IdsSayTheSameInTheOtherForm) {
  DebugFrame frame;
  frame.Entry(DebugFrame::kCie).Entry(0).Entry(DebugFrame::kCie).Entry(24).Entry(0);
  MakeEhFrame(&frame.bytes);
  ASSERT_EQ(frame.bytes.size(), 60u);
  EXPECT_EQ(frame.WordAt(4), 0u) << "a CIE";
  EXPECT_EQ(frame.WordAt(16), 16u) << "back to the first one";
  EXPECT_EQ(frame.WordAt(28), 0u);
  EXPECT_EQ(frame.WordAt(40), 16u) << "back to the second one";
  EXPECT_EQ(frame.WordAt(52), 52u);
  EXPECT_EQ(frame.WordAt(48), 8u) << "lengths stay";
}

TEST(DebugFrameTest, AnEntryOfALaterCieHasNone) {
  DebugFrame frame;
  frame.Entry(12).Entry(DebugFrame::kCie);
  MakeEhFrame(&frame.bytes);
  EXPECT_GT(frame.WordAt(4), frame.bytes.size());
}

TEST(DebugFrameTest, DamageCutsTheRestOff) {
  for (const uint32_t length : {0u, 3u, 9u, 0xfffffff0u, 0xffffffffu}) {
    DebugFrame frame;
    frame.Entry(DebugFrame::kCie).Entry(0);
    std::memcpy(&frame.bytes[12], &length, sizeof(length));
    MakeEhFrame(&frame.bytes);
    EXPECT_EQ(frame.bytes.size(), 12u) << length;
  }
}

TEST(DebugFrameTest, EveryPrefix) {
  DebugFrame whole;
  whole.Entry(DebugFrame::kCie).Entry(0).Entry(0);
  for (size_t size = 0; size <= whole.bytes.size(); ++size) {
    std::vector<std::byte> bytes(whole.bytes.begin(), whole.bytes.begin() + static_cast<ptrdiff_t>(size));
    MakeEhFrame(&bytes);
    EXPECT_EQ(bytes.size(), size / 12 * 12);
  }
}

}  // namespace
}  // namespace offcpu
