// Where a CPython interpreter has things, and what its objects say, in the memory of a made-up one.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtimes/python/code_objects.h"
#include "runtimes/python/layout.h"
#include "tests/runtimes/fake_python.h"

namespace offcpu {
namespace {

class PythonObjects : public ::testing::TestWithParam<int> {
 protected:
  PythonObjects() { Open(); }

  void Open() {
    const absl::StatusOr<PythonLayout> layout = ReadPythonLayout(python_.memory(), python_.symbols());
    ASSERT_TRUE(layout.ok()) << layout.status();
    layout_ = *layout;
  }
  std::optional<CodeLine> LineAt(uint64_t code, uint64_t instruction) const {
    const std::optional<PythonCode> read = ReadPythonCode(layout_, python_.memory(), code);
    return read ? ReadPythonLine(layout_, python_.memory(), *read, instruction) : std::nullopt;
  }

  FakePython python_{GetParam()};
  PythonLayout layout_;
};
INSTANTIATE_TEST_SUITE_P(Python3, PythonObjects, testing::Values(11, 12, 13, 14));

// The second entry is one line further.
const std::vector<uint8_t> kLines = {0x80 | 0 << 3 | 3, 0, 0x80 | 11 << 3 | 3, 0, 0};

TEST_P(PythonObjects, FunctionFileAndLine) {
  const uint64_t code = python_.Code({.name = "Shop.order", .file = "/srv/shop.py", .first_line = 42, .lines = kLines});
  EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 3)), (CodeLine{"Shop.order", "/srv/shop.py", 42}));
  EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 4)), (CodeLine{"Shop.order", "/srv/shop.py", 43}));
  EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 8)), (CodeLine{"Shop.order", "/srv/shop.py", 0}));
}

TEST_P(PythonObjects, BeforeItsFirstInstructionAFunctionIsAtItsOwnLine) {
  const uint64_t code = python_.Code({.first_line = 42, .lines = kLines});
  EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 0) - 2), (CodeLine{"f", "/srv/app.py", 42}));
}

TEST_P(PythonObjects, BehindItsLastInstructionThereIsNoFunction) {
  const uint64_t code = python_.Code({.units = 16});
  EXPECT_NE(LineAt(code, python_.InstructionOf(code, 15)), std::nullopt);
  EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 16)), std::nullopt);
}

TEST_P(PythonObjects, TextsOfEachWidth) {
  const uint64_t code = python_.Code({.lines = kLines});
  const auto name_of = [&](std::u32string_view text, unsigned width) {
    python_.Put(code + python_.Offset("co_qualname"), python_.Text(text, width));
    const std::optional<CodeLine> line = LineAt(code, python_.InstructionOf(code, 0));
    return line ? line->function : "none";
  };
  EXPECT_EQ(name_of(U"", 1), "");
  EXPECT_EQ(name_of(U"plain", 1), "plain");
  EXPECT_EQ(name_of(U"größe", 1),
            "gr\xc3\xb6\xc3\x9f"
            "e");
  EXPECT_EQ(name_of(U"размер", 2), "\xd1\x80\xd0\xb0\xd0\xb7\xd0\xbc\xd0\xb5\xd1\x80");
  EXPECT_EQ(name_of(U"大きさ", 2), "\xe5\xa4\xa7\xe3\x81\x8d\xe3\x81\x95");
  EXPECT_EQ(name_of(U"𝑓", 4), "\xf0\x9d\x91\x93");
  const char32_t surrogate[] = {0xd800, 0};
  EXPECT_EQ(name_of(surrogate, 2), "\xef\xbf\xbd") << "it is none of UTF-8";
  const char32_t beyond[] = {0x110000, 0};
  EXPECT_EQ(name_of(beyond, 4), "\xef\xbf\xbd");
}

TEST_P(PythonObjects, LongTextsAreCut) {
  const std::string text(kMaxPythonNameBytes, 'n');
  for (const size_t more : {0, 1, 5000}) {
    const uint64_t code = python_.Code({.name = text + std::string(more, 'x'), .lines = kLines});
    const std::optional<CodeLine> line = LineAt(code, python_.InstructionOf(code, 0));
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->function, text) << more;
  }
}

TEST_P(PythonObjects, ALengthThatIsALieIsBounded) {
  const uint64_t code = python_.Code({.lines = kLines});
  const uint64_t name = python_.Text("name");
  python_.Put(code + python_.Offset("co_qualname"), name);
  python_.Put(name + python_.Offset("length"), UINT64_MAX);
  const std::optional<CodeLine> line = LineAt(code, python_.InstructionOf(code, 0));
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->function.size(), kMaxPythonNameBytes) << "what is behind it in memory";
}

TEST_P(PythonObjects, LineTablesHaveALimit) {
  const uint64_t code = python_.Code({.lines = kLines});
  const uint64_t table = python_.Get<uint64_t>(code + python_.Offset("co_linetable"));
  for (const uint64_t size : {uint64_t{kMaxLineTableBytes} + 1, UINT64_MAX}) {
    python_.Put(table + python_.Offset("ob_size"), size);
    EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 0)), std::nullopt);
  }
}

TEST_P(PythonObjects, WhatHasAnotherTypeSaysNothing) {
  const uint64_t code = python_.Code({.lines = kLines});
  const uint64_t at = python_.InstructionOf(code, 0);
  ASSERT_NE(LineAt(code, at), std::nullopt);
  for (const std::string_view field : {"co_qualname", "co_filename", "co_linetable"}) {
    const uint64_t type = python_.Get<uint64_t>(code + python_.Offset(field)) + python_.Offset("ob_type");
    const auto before = python_.Get<uint64_t>(type);
    python_.Put(type, before + 8);
    EXPECT_EQ(LineAt(code, at), std::nullopt) << field;
    python_.Put(type, before);
  }
  python_.Put(code + python_.Offset("ob_type"), uint64_t{0});
  EXPECT_EQ(LineAt(code, at), std::nullopt);
}

TEST_P(PythonObjects, TextsElsewhereOrOfAnUnknownWidthAreNone) {
  const uint64_t code = python_.Code({.lines = kLines});
  const uint64_t state = python_.Get<uint64_t>(code + python_.Offset("co_qualname")) + python_.Offset("state");
  const auto before = python_.Get<uint32_t>(state);
  for (const uint32_t bad : {before & ~(1u << 5), before & ~(7u << 2), before | 7u << 2}) {
    python_.Put(state, bad);
    EXPECT_EQ(LineAt(code, python_.InstructionOf(code, 0)), std::nullopt) << bad;
  }
}

TEST_P(PythonObjects, CodeThatCannotBeIsNone) {
  const uint64_t code = python_.Code({.units = 16, .first_traced = 16});
  EXPECT_NE(ReadPythonCode(layout_, python_.memory(), code), std::nullopt);
  python_.Put(code + python_.Offset("_co_firsttraceable"), uint32_t{17});
  EXPECT_EQ(ReadPythonCode(layout_, python_.memory(), code), std::nullopt);
  python_.Put(code + python_.Offset("_co_firsttraceable"), uint32_t{0});
  python_.Put(code + python_.Offset("ob_size"), UINT64_MAX);
  EXPECT_EQ(ReadPythonCode(layout_, python_.memory(), code), std::nullopt);
  EXPECT_EQ(ReadPythonCode(layout_, python_.memory(), 8), std::nullopt);
}

TEST_P(PythonObjects, OtherVersionsAreNotKnown) {
  for (const uint64_t version : {0x030a0df0u, 0x030f00f0u, 0x020712f0u, 0u}) {
    python_.Put(python_.version(), version);
    EXPECT_EQ(ReadPythonLayout(python_.memory(), python_.symbols()).status().code(), absl::StatusCode::kUnimplemented);
  }
}

TEST_P(PythonObjects, OnlyFinalReleasesAreKnown) {
  const uint64_t minor = uint64_t{0x03000000} | static_cast<uint64_t>(GetParam()) << 16;
  python_.Put(python_.version(), minor | 0xc3);
  EXPECT_FALSE(ReadPythonLayout(python_.memory(), python_.symbols()).ok());
  if (GetParam() >= 13) python_.Put(python_.WordOf("version"), minor | 0x4f0);
  python_.Put(python_.version(), minor | 0x4f0);
  EXPECT_TRUE(ReadPythonLayout(python_.memory(), python_.symbols()).ok()) << "3.x.4";
}

TEST_P(PythonObjects, AnInterpreterThatDoesNotExportAllIsNotKnown) {
  for (const std::string_view name : kPythonSymbols) {
    auto symbols = python_.symbols();
    symbols.erase(symbols.find(name));
    EXPECT_FALSE(ReadPythonLayout(python_.memory(), symbols).ok()) << name;
  }
}

TEST_P(PythonObjects, MemoryThatCannotBeReadIsDamaged) {
  python_.symbols()["Py_Version"] = 8;
  EXPECT_EQ(ReadPythonLayout(python_.memory(), python_.symbols()).status().code(), absl::StatusCode::kDataLoss);
}

class PythonOffsets : public PythonObjects {};
INSTANTIATE_TEST_SUITE_P(Python3, PythonOffsets, testing::Values(13, 14));

TEST_P(PythonOffsets, AreThoseThatTheInterpreterSays) {
  const uint64_t word = python_.WordOf("co_qualname");
  python_.Put(word, uint64_t{1} << 20);
  Open();
  EXPECT_EQ(layout_.code_name, 1u << 20);
  python_.Put(word, (uint64_t{1} << 20) + 1);
  EXPECT_FALSE(ReadPythonLayout(python_.memory(), python_.symbols()).ok());
}

TEST_P(PythonOffsets, AFreeThreadedInterpreterIsNotKnown) {
  python_.Put(python_.WordOf("free_threaded"), uint64_t{1});
  EXPECT_FALSE(ReadPythonLayout(python_.memory(), python_.symbols()).ok());
}

TEST_P(PythonOffsets, WordsOfAnotherFormAreNotKnown) {
  python_.Put(python_.WordOf("version"), uint64_t{0x030d01f0} + (GetParam() - 13));
  EXPECT_FALSE(ReadPythonLayout(python_.memory(), python_.symbols()).ok());
  python_.Put(python_.runtime(), uint64_t{0});
  EXPECT_FALSE(ReadPythonLayout(python_.memory(), python_.symbols()).ok());
}

}  // namespace
}  // namespace offcpu
