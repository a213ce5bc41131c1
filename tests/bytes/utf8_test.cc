#include "bytes/utf8.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

std::string Encode(char32_t c) {
  const auto tail = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), tail(0)};
  if (c < 0x10000) return {static_cast<char>(0xe0 | c >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8Test, DecodesWhatWasEncoded) {
  for (const char32_t c : {0x00u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xd7ffu, 0xe000u, 0xffffu, 0x10000u, 0x10ffffu}) {
    const std::string text = Encode(c);
    ASSERT_EQ(Utf8SequenceLength(text), text.size());
    EXPECT_EQ(DecodeUtf8(text), c);
  }
}

TEST(PrintableTest, WhatATerminalObeysOrHidesIsAQuestionMark) {
  for (char32_t c = 0; c < 0x20; ++c) EXPECT_EQ(Printable(Encode(c)), "?") << static_cast<uint32_t>(c);
  for (char32_t c = 0x7f; c < 0xa0; ++c) EXPECT_EQ(Printable(Encode(c)), "?") << static_cast<uint32_t>(c);
  // All that Unicode calls Bidi_Control.
  for (const char32_t c :
       {0x061cu, 0x200eu, 0x200fu, 0x202au, 0x202bu, 0x202cu, 0x202du, 0x202eu, 0x2066u, 0x2067u, 0x2068u, 0x2069u}) {
    EXPECT_EQ(Printable("a" + Encode(c) + "b"), "a?b") << static_cast<uint32_t>(c);
  }
  // Separators, and what shows nothing.
  for (const char32_t c : {0x2028u, 0x2029u, 0xadu, 0x200bu, 0x200du, 0x2060u, 0xfeffu, 0xe0001u, 0xe007fu})
    EXPECT_EQ(Printable("a" + Encode(c) + "b"), "a?b") << static_cast<uint32_t>(c);
}

TEST(PrintableTest, ItsNeighboursAreKept) {
  for (const char32_t c :
       {0x20u,   0x7eu,   0xa0u,   0xacu,   0xaeu,   0x61bu,  0x61du,  0x180du, 0x180fu,  0x200au, 0x2010u,
        0x2027u, 0x202fu, 0x205fu, 0x2070u, 0xfefeu, 0xff00u, 0xfff8u, 0xfffcu, 0xdffffu, 0xe0080u}) {
    EXPECT_EQ(Printable(Encode(c)), Encode(c)) << static_cast<uint32_t>(c);
  }
}

TEST(PrintableTest, ABareByteIsNoCharacter) {
  EXPECT_EQ(Printable("\x9b"
                      "31mred"),
            "\xef\xbf\xbd"
            "31mred");                                 // CSI to a terminal without UTF-8
  EXPECT_EQ(Printable("caf\xc3"), "caf\xef\xbf\xbd");  // a thread's name is cut at 15 bytes
  EXPECT_EQ(Printable("\xe2\x80"), "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(PrintableTest, WhatIsPrintableStaysAsItIs) {
  for (const std::string& text :
       {std::string(), std::string("std::vector<int>::at(size_t)"), std::string("h\xc3\xa9 \xe6\x97\xa5")}) {
    EXPECT_EQ(Printable(text), text);
    EXPECT_EQ(Printable(Printable(text + '\xff' + '\n')), Printable(text + '\xff' + '\n'));
  }
}

}  // namespace
}  // namespace offcpu
