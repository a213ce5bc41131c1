#include "unwind/sframe_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tests/unwind/sframe_builder.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

constexpr SFrameRule kNoRule = {};

SFrameRule AtCfa(int64_t offset) { return {SFrameRule::Base::kCfa, true, 0, offset}; }
SFrameRule OfRegister(uint32_t reg, int64_t offset) { return {SFrameRule::Base::kRegister, false, reg, offset}; }
SFrameRule AtRegister(uint32_t reg, int64_t offset) { return {SFrameRule::Base::kRegister, true, reg, offset}; }

absl::StatusOr<SFrameSection> Parse(const std::vector<uint8_t>& bytes) {
  return SFrameSection::Parse(std::as_bytes(std::span(bytes)), SFrameBuilder::kAddress);
}

absl::StatusCode CodeOf(const std::vector<uint8_t>& bytes) { return Parse(bytes).status().code(); }

// The rows of the only function, up to a damaged one.
struct RowsRead {
  std::vector<SFrameRow> rows;
  bool damaged = false;
};

RowsRead ReadRows(const SFrameBuilder& bytes) {
  const std::vector<uint8_t> all = bytes.Bytes();
  absl::StatusOr<SFrameSection> section = Parse(all);
  EXPECT_TRUE(section.ok()) << section.status();
  RowsRead result;
  const SFrameFunction function = section->Function(0);
  SFrameSection::Rows rows(*section, function);
  while (std::optional<SFrameRow> row = rows.Next()) result.rows.push_back(*row);
  result.damaged = rows.damaged();
  return result;
}

// One row of one function with these data words, of a byte each.
RowsRead ReadWords(const Machine& machine, bool flexible, const std::vector<uint8_t>& words, uint8_t info = 1) {
  SFrameBuilder bytes(machine);
  std::vector<uint8_t> row = {0, static_cast<uint8_t>(info | words.size() << 1)};
  row.insert(row.end(), words.begin(), words.end());
  bytes.Function(0x1000, 16, SFrameBuilder::kStart1, {row}, flexible);
  return ReadRows(bytes);
}

TEST(SFrameVersionTest, ByTheFirstBytes) {
  auto version_of = [](std::vector<uint8_t> bytes) { return SFrameVersionOf(std::as_bytes(std::span(bytes))); };
  EXPECT_EQ(version_of({0xe2, 0xde, 1, 0}), SFrameVersion::kV1);
  EXPECT_EQ(version_of({0xe2, 0xde, 2, 0}), SFrameVersion::kV2);
  EXPECT_EQ(version_of({0xe2, 0xde, 3, 0}), SFrameVersion::kV3);
  EXPECT_EQ(version_of({0xde, 0xe2, 3, 0}), SFrameVersion::kBigEndian);
  EXPECT_EQ(version_of({0xe2, 0xde, 4, 0}), SFrameVersion::kUnknown);
  EXPECT_EQ(version_of({0xe2, 0xde, 0, 0}), SFrameVersion::kUnknown);
  EXPECT_EQ(version_of({0xe2, 0xe2, 3, 0}), SFrameVersion::kNone);
  EXPECT_EQ(version_of({0, 0, 0, 0}), SFrameVersion::kNone);
  EXPECT_EQ(version_of({0xe2, 0xde, 3}), SFrameVersion::kNone);
  EXPECT_EQ(version_of({}), SFrameVersion::kNone);
}

// All that there is, written by hand.
const std::vector<uint8_t>& Example() {
  static const std::vector<uint8_t> bytes = {
      0xe2, 0xde,                                      // magic
      3,                                               // version
      0x05,                                            // sorted, starts relative to their field
      3,                                               // x86-64
      0,                                               // no fixed place of the frame pointer
      0xf8,                                            // the return address is at CFA - 8
      0,                                               // no auxiliary header
      1,    0,    0,    0,                             // functions
      2,    0,    0,    0,                             // rows
      14,   0,    0,    0,                             // bytes of rows
      0,    0,    0,    0,                             // the index is behind the header
      16,   0,    0,    0,                             // the rows are behind the index
      0xe4, 0x8f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // 0x1000 - 0x801c
      0x20, 0,    0,    0,                             // size
      0,    0,    0,    0,                             // offset of the attributes
      2,    0,                                         // rows
      0,                                               // starts of one byte
      0,                                               // rows of the default kind
      0,                                               // no blocks
      0,    0x03, 8,                                   // at 0: one word, base rsp; CFA = rsp + 8
      1,    0x25, 0x10, 0,    0xf0, 0xff};             // at 1: two words of two bytes; rsp + 16, rbp at CFA - 16
  return bytes;
}

TEST(SFrameSectionTest, EveryField) {
  absl::StatusOr<SFrameSection> section = Parse(Example());
  ASSERT_TRUE(section.ok()) << section.status();
  EXPECT_EQ(section->header().machine, &kX86_64);
  EXPECT_TRUE(section->header().sorted);
  EXPECT_EQ(section->header().fixed_ra, -8);
  EXPECT_EQ(section->header().functions, 1u);
  EXPECT_EQ(section->header().rows, 2u);
  EXPECT_EQ(section->size(), Example().size());
  const SFrameFunction function = section->Function(0);
  EXPECT_EQ(function, (SFrameFunction{.begin = 0x1000, .size = 0x20, .rows_at = 5, .rows = 2, .start_size = 1}));
  SFrameSection::Rows rows(*section, function);
  EXPECT_EQ(rows.Next(), (SFrameRow{.start = 0, .cfa = OfRegister(7, 8), .ra = AtCfa(-8), .fp = kNoRule}));
  EXPECT_EQ(rows.Next(), (SFrameRow{.start = 1, .cfa = OfRegister(7, 16), .ra = AtCfa(-8), .fp = AtCfa(-16)}));
  EXPECT_EQ(rows.Next(), std::nullopt);
  EXPECT_FALSE(rows.damaged());
}

TEST(SFrameSectionTest, EveryPrefixIsTooShort) {
  for (size_t size = 0; size < Example().size(); ++size) {
    EXPECT_EQ(CodeOf({Example().begin(), Example().begin() + static_cast<ptrdiff_t>(size)}),
              absl::StatusCode::kInvalidArgument)
        << size;
  }
}

TEST(SFrameSectionTest, TheEndIsWhereTheHeaderSays) {
  std::vector<uint8_t> longer = Example();
  longer.resize(longer.size() + 100);
  absl::StatusOr<SFrameSection> section = Parse(longer);
  ASSERT_TRUE(section.ok()) << section.status();
  EXPECT_EQ(section->size(), Example().size());
}

struct HeaderCase {
  const char* name;
  size_t at;
  std::vector<uint8_t> bytes;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

TEST(SFrameSectionTest, HeadersThatAreRefused) {
  const HeaderCase cases[] = {
      {"magic", 0, {0xe3}},
      {"big-endian", 0, {0xde, 0xe2}, absl::StatusCode::kUnimplemented},
      {"version 1", 2, {1}, absl::StatusCode::kUnimplemented},
      {"version 2", 2, {2}, absl::StatusCode::kUnimplemented},
      {"version 4", 2, {4}, absl::StatusCode::kUnimplemented},
      {"not pc-relative", 3, {0x01}},
      {"flag of version 2", 3, {0x06}},
      {"unknown flag", 3, {0x84}},
      {"no ABI", 4, {0}},
      {"unknown ABI", 4, {5}},
      {"ABI of big-endian AArch64", 4, {1}},
      {"ABI of s390x", 4, {4}},
      {"fixed return address of another ABI", 4, {2}},
      {"return address in rows", 6, {0}},
      {"return address elsewhere", 6, {0xf0}},
      {"auxiliary header behind the end", 7, {255}},
      {"auxiliary header that moves all", 7, {1}},
      {"functions beyond the rows", 8, {2}},
      {"all functions that can be said", 8, {0xff, 0xff, 0xff, 0xff}},
      {"bytes of rows behind the end", 16, {15}},
      {"all bytes that can be said", 16, {0xff, 0xff, 0xff, 0xff}},
      {"index over the rows", 20, {1}},
      {"index behind the end", 20, {0xff, 0xff, 0xff, 0xff}},
      {"rows over the index", 24, {15}},
      {"rows behind the end", 24, {17}},
      {"rows far behind the end", 24, {0xff, 0xff, 0xff, 0xff}},
  };
  for (const HeaderCase& c : cases) {
    std::vector<uint8_t> bytes = Example();
    std::copy(c.bytes.begin(), c.bytes.end(), bytes.begin() + static_cast<ptrdiff_t>(c.at));
    EXPECT_EQ(CodeOf(bytes), c.code) << c.name;
  }
}

TEST(SFrameSectionTest, AnAuxiliaryHeaderIsPassedOver) {
  std::vector<uint8_t> bytes = Example();
  bytes[7] = 3;
  bytes.insert(bytes.begin() + 28, {1, 2, 3});
  absl::StatusOr<SFrameSection> section = Parse(bytes);
  ASSERT_TRUE(section.ok()) << section.status();
  EXPECT_EQ(section->Function(0).begin, 0x1003u) << "starts are relative to their field";
  EXPECT_EQ(section->Function(0).rows, 2);
}

struct AttributeCase {
  const char* name;
  size_t at;
  uint8_t value;
};

TEST(SFrameSectionTest, AttributesThatCostTheFunction) {
  const AttributeCase cases[] = {
      {"attributes behind the end", 28 + 12, 10},
      {"attributes far behind the end", 28 + 15, 0xff},
      {"more rows than bytes", 44, 5},
      {"far more rows than bytes", 45, 0xff},
      {"unknown width of starts", 46, 3},
      {"blocks of size 0", 46, 0x10},
      {"key of another ABI", 46, 0x20},
      {"unknown bit", 46, 0x40},
      {"unknown kind of rows", 47, 2},
      {"unknown bit", 47, 0x20},
      {"size of blocks without blocks", 48, 16},
  };
  for (const AttributeCase& c : cases) {
    std::vector<uint8_t> bytes = Example();
    bytes[c.at] = c.value;
    absl::StatusOr<SFrameSection> section = Parse(bytes);
    ASSERT_TRUE(section.ok()) << section.status();
    SFrameFunction function = section->Function(0);
    EXPECT_EQ(function, (SFrameFunction{.begin = 0x1000, .size = 0x20, .damaged = true})) << c.name;
    SFrameSection::Rows rows(*section, function);
    EXPECT_EQ(rows.Next(), std::nullopt);
    EXPECT_TRUE(rows.damaged());
  }
}

struct RowCase {
  const char* name;
  uint8_t info = 0;  // of the function
  std::vector<uint8_t> row;
  uint8_t block_size = 0;
};

TEST(SFrameSectionTest, RowsThatAreDamaged) {
  const RowCase cases[] = {
      {"words of an unknown size", 0, {0, 0x63, 8}},
      {"words behind the end", 0, {0, 0x05, 8}},
      {"words far behind the end", 0, {0, 0x5f, 8}},
      {"words left over", 0, {0, 0x07, 8, 0xf0, 0xe0}},
      {"fifteen words", 0, {0, 0x1f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
      {"a signed return address", 0, {0, 0x83, 8}},
      {"a start behind the function", 0, {17, 0x03, 8}},
      {"a start behind the block", SFrameBuilder::kBlocks, {8, 0x03, 8}, 8},
      {"a start behind the function, of four bytes", SFrameBuilder::kStart4, {0, 0, 0, 0x80, 0x03, 8}},
  };
  for (const RowCase& c : cases) {
    SFrameBuilder bytes;
    bytes.Function(0x1000, 16, c.info, {c.row}, false, c.block_size);
    const RowsRead read = ReadRows(bytes);
    EXPECT_TRUE(read.rows.empty()) << c.name;
    EXPECT_TRUE(read.damaged) << c.name;
  }
}

TEST(SFrameSectionTest, ARowMayStartWhereTheFunctionEnds) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 16, SFrameBuilder::kStart1, {{0, 0x03, 8}, {16, 0x03, 16}});
  EXPECT_EQ(ReadRows(bytes).rows.size(), 2u);
}

TEST(SFrameSectionTest, StartsThatFallEndTheRows) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 16, SFrameBuilder::kStart1, {{4, 0x03, 8}, {4, 0x03, 16}, {3, 0x03, 24}});
  const RowsRead read = ReadRows(bytes);
  EXPECT_EQ(read.rows.size(), 2u) << "they may stay";
  EXPECT_TRUE(read.damaged);
}

TEST(SFrameSectionTest, WidthsOfStartsAndWords) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 0x1000, SFrameBuilder::kStart2,
                 {
                     {0x34, 0x02, 0x23, 0x00, 0x10},                            // two bytes
                     {0x35, 0x02, 0x43, 0x78, 0x56, 0x34, 0x12},                // four bytes
                     {0x36, 0x02, 0x45, 0x10, 0, 0, 0, 0x00, 0x00, 0x00, 0x80}  // the least that there is
                 });
  const std::vector<SFrameRow> rows = ReadRows(bytes).rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].start, 0x234u);
  EXPECT_EQ(rows[0].cfa, OfRegister(7, 0x1000));
  EXPECT_EQ(rows[1].cfa, OfRegister(7, 0x12345678));
  EXPECT_EQ(rows[2].fp, AtCfa(INT32_MIN));
}

struct RuleCase {
  const char* name;
  const Machine* machine;
  bool flexible;
  std::vector<uint8_t> words;
  SFrameRule cfa;
  SFrameRule ra;
  SFrameRule fp;
};

TEST(SFrameSectionTest, RulesOfEveryAbi) {
  constexpr const Machine* kAmd64 = &kX86_64;
  constexpr const Machine* kArm = &kAArch64;
  const RuleCase cases[] = {
      {"CFA", kAmd64, false, {8}, OfRegister(7, 8), AtCfa(-8), kNoRule},
      {"CFA, FP", kAmd64, false, {16, 0xf0}, OfRegister(7, 16), AtCfa(-8), AtCfa(-16)},
      {"CFA", kArm, false, {0}, OfRegister(31, 0), kNoRule, kNoRule},
      {"CFA, RA", kArm, false, {16, 0xf0}, OfRegister(31, 16), AtCfa(-16), kNoRule},
      {"CFA, RA, FP", kArm, false, {32, 0xe8, 0xe0}, OfRegister(31, 32), AtCfa(-24), AtCfa(-32)},
      {"RA not saved", kArm, false, {16, 0, 0xf0}, OfRegister(31, 16), kNoRule, AtCfa(-16)},
      {"rsp + 8", kAmd64, true, {0x39, 0x08}, OfRegister(7, 8), AtCfa(-8), kNoRule},
      {"r10", kAmd64, true, {0x51, 0x00}, OfRegister(10, 0), AtCfa(-8), kNoRule},
      {"*(rbp-8), *(rbp)", kAmd64, true, {0x33, 0xf8, 0, 0x33, 0}, AtRegister(6, -8), AtCfa(-8), AtRegister(6, 0)},
      {"RA in rcx", kAmd64, true, {0x39, 0, 0x11, 0}, OfRegister(7, 0), OfRegister(2, 0), kNoRule},
      {"FP in r11", kAmd64, true, {0x39, 8, 0, 0x59, 0}, OfRegister(7, 8), AtCfa(-8), OfRegister(11, 0)},
      {"all", kAmd64, true, {0x39, 16, 0x02, 0xf0, 0x02, 0xf8}, OfRegister(7, 16), AtCfa(-16), AtCfa(-8)},
      {"a register that does not exist", kAmd64, true, {0xf9, 8}, OfRegister(31, 8), AtCfa(-8), kNoRule},
  };
  for (const RuleCase& c : cases) {
    const RowsRead read = ReadWords(*c.machine, c.flexible, c.words);
    EXPECT_FALSE(read.damaged) << c.name;
    ASSERT_EQ(read.rows.size(), 1u) << c.name;
    const bool doubtful = c.flexible && c.words.size() > 2 && c.words[2] == 0x02;
    EXPECT_EQ(read.rows[0], (SFrameRow{.start = 0, .doubtful_ra = doubtful, .cfa = c.cfa, .ra = c.ra, .fp = c.fp}))
        << c.name;
  }
}

TEST(SFrameSectionTest, FlexibleRowsThatAreDamaged) {
  const std::vector<uint8_t> cases[] = {
      {0x39},                              // a control word alone
      {0x39, 8, 0x02},                     // again
      {0x39, 8, 0},                        // padding at the end
      {0x39, 8, 0, 0},                     // and two of them
      {0x39, 8, 0x02, 0xf0, 0},            // behind a rule
      {0, 0x39},                           // no CFA
      {0x02, 8},                           // a CFA on itself
      {0x3d, 8},                           // the bit without a meaning
      {0x39, 8, 0x06, 0xf0},               // again
      {0x3a, 8},                           // a register that is not asked for
      {0x39, 8, 0x0a, 0xf0},               // again
      {0x39, 8, 0x04, 0xf0},               // a control word that says nothing
      {0x39, 16, 0x80, 0xf0, 0x02, 0xf8},  // a register, but not asked for
  };
  for (const std::vector<uint8_t>& words : cases) {
    const RowsRead read = ReadWords(kX86_64, true, words);
    EXPECT_TRUE(read.damaged) << ::testing::PrintToString(words);
    EXPECT_TRUE(read.rows.empty());
  }
}

TEST(SFrameSectionTest, BaseRegisterOfDefaultRows) {
  EXPECT_EQ(ReadWords(kX86_64, false, {16}, 0).rows.at(0).cfa, OfRegister(6, 16));
  EXPECT_EQ(ReadWords(kAArch64, false, {16}, 0).rows.at(0).cfa, OfRegister(29, 16));
}

TEST(SFrameSectionTest, SignedReturnAddresses) {
  const SFrameRow row = ReadWords(kAArch64, false, {16, 0xf8, 0xf0}, 0x81).rows.at(0);
  EXPECT_TRUE(row.mangled_ra);
  EXPECT_EQ(row.ra, AtCfa(-8));
}

TEST(SFrameSectionTest, TheOutermostFrame) {
  const RowsRead read = ReadWords(kX86_64, false, {}, 0);
  ASSERT_EQ(read.rows.size(), 1u);
  EXPECT_EQ(read.rows[0], (SFrameRow{.start = 0, .outermost = true}));
}

TEST(SFrameSectionTest, APlaceOfTheFramePointerInTheHeader) {
  SFrameBuilder bytes;
  bytes.Function(0x1000, 16, SFrameBuilder::kStart1, {{0, 0x03, 16}, {1, 0x05, 16, 0xe0}});
  std::vector<uint8_t> all = bytes.Bytes();
  all[5] = 0xf0;  // CFA - 16
  absl::StatusOr<SFrameSection> section = Parse(all);
  ASSERT_TRUE(section.ok()) << section.status();
  const SFrameFunction function = section->Function(0);
  SFrameSection::Rows rows(*section, function);
  EXPECT_EQ(rows.Next(), (SFrameRow{.start = 0, .cfa = OfRegister(7, 16), .ra = AtCfa(-8), .fp = AtCfa(-16)}));
  EXPECT_EQ(rows.Next(), std::nullopt) << "a second place is left over";
  EXPECT_TRUE(rows.damaged());
}

// How many rows all functions have that are not damaged.
uint64_t RowsOfAll(const SFrameSection& section) {
  uint64_t rows = 0;
  section.ForEach([&](uint32_t, const SFrameFunction& function) {
    SFrameSection::Rows reader(section, function);
    while (reader.Next()) ++rows;
  });
  return rows;
}

TEST(SFrameSectionTest, SharedRowsAreReadNoMoreOftenThanTheHeaderSays) {
  SFrameBuilder bytes;
  const std::vector<std::vector<uint8_t>> most(65535, {0, 0x03, 8});
  const uint32_t shared = bytes.Function(0x1000, 16, SFrameBuilder::kStart1, most);
  for (uint64_t i = 1; i < 1000; ++i) bytes.Element(0x1000 + 16 * i, 16, shared);
  const std::vector<uint8_t> all = bytes.Bytes();
  absl::StatusOr<SFrameSection> section = Parse(all);
  ASSERT_TRUE(section.ok()) << section.status();
  EXPECT_EQ(RowsOfAll(*section), 65535u);
}

TEST(SFrameSectionTest, SharedRowsAreReadNoMoreOftenThanThereAreBytes) {
  SFrameBuilder bytes;
  const std::vector<std::vector<uint8_t>> most(65535, {0, 0});  // of the smallest kind: outermost
  const uint32_t shared = bytes.Function(0x1000, 16, SFrameBuilder::kStart1, most);
  for (uint64_t i = 1; i < 1000; ++i) bytes.Element(0x1000 + 16 * i, 16, shared);
  bytes.row_count = UINT32_MAX;
  const std::vector<uint8_t> all = bytes.Bytes();
  absl::StatusOr<SFrameSection> section = Parse(all);
  ASSERT_TRUE(section.ok()) << section.status();
  EXPECT_EQ(RowsOfAll(*section), 65535u);
  EXPECT_LE(RowsOfAll(*section), section->header().row_bytes / 2);
}

TEST(SFrameSectionTest, ErrorsSayWhatIsWrong) {
  std::vector<uint8_t> bytes = Example();
  bytes[2] = 2;
  EXPECT_THAT(std::string(Parse(bytes).status().message()), HasSubstr("version 2"));
  std::swap(bytes[0], bytes[1]);
  EXPECT_THAT(std::string(Parse(bytes).status().message()), HasSubstr("big-endian"));
}

}  // namespace
}  // namespace offcpu
