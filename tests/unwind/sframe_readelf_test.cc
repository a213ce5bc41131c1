// Every function and every row, compared with what binutils' readelf says of the same bytes: of objects that are
// checked in with its words beside them, and of large ones where the toolchain is at hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unwind/readelf_dump.h"
#include "tests/unwind/sframe_object.h"
#include "unwind/eh_frame.h"
#include "unwind/sframe.h"

namespace offcpu {
namespace {

std::vector<ReadelfFunction> FunctionsOf(const SFrameSection& section) {
  std::vector<ReadelfFunction> functions;
  section.ForEach([&](uint32_t, const SFrameFunction& function) {
    EXPECT_FALSE(function.damaged);
    functions.push_back(AsReadelf(section, function));
  });
  return functions;
}

// In an object that is not linked, readelf's addresses are what the relocations will add.
void Unlink(std::vector<ReadelfFunction>& functions) {
  for (ReadelfFunction& function : functions) {
    for (ReadelfRow& row : function.rows) row.start -= function.blocks ? 0 : function.begin;
    function.begin = 0;
  }
}

// A padding word stands for a rule that there is not: the fixed one, if the header has one.
void ReplacePadding(const SFrameHeader& header, std::vector<ReadelfFunction>& functions) {
  for (ReadelfFunction& function : functions) {
    for (ReadelfRow& row : function.rows) {
      if (row.ra == "U") row.ra = header.fixed_ra != 0 ? "f" : "u";
    }
  }
}

// Returns the number of rows.
size_t Compare(const SFrameObject& object, std::istream& text) {
  ReadelfDump dump = ParseReadelf(text);
  absl::StatusOr<SFrameSection> section = SFrameSection::Parse(object.table.bytes, object.table.address);
  EXPECT_TRUE(section.ok()) << section.status();
  if (!section.ok()) return 0;
  EXPECT_EQ(section->header().functions, dump.functions_claimed);
  EXPECT_EQ(section->header().rows, dump.rows_claimed);
  EXPECT_EQ(section->header().sorted, dump.sorted);
  std::vector<ReadelfFunction> ours = FunctionsOf(*section);
  ReplacePadding(section->header(), dump.functions);
  if (object.relocatable) {
    Unlink(ours);
    Unlink(dump.functions);
  }
  EXPECT_EQ(ours.size(), dump.functions.size());
  size_t rows = 0;
  for (size_t i = 0; i < ours.size() && i < dump.functions.size(); ++i) {
    EXPECT_EQ(ours[i], dump.functions[i]) << "function " << i;
    rows += ours[i].rows.size();
  }
  EXPECT_EQ(rows, dump.rows_claimed);
  return rows;
}

class SFrameFixtureTest : public ::testing::TestWithParam<const char*> {};

TEST_P(SFrameFixtureTest, SaysWhatReadelfSays) {
  const std::string path = SFrameFixture(GetParam());
  std::ifstream text(path + ".readelf");
  ASSERT_TRUE(text) << path;
  Compare(ReadSFrameObject(path), text);
}

INSTANTIATE_TEST_SUITE_P(Objects, SFrameFixtureTest,
                         ::testing::Values("default.elf", "flexible.elf", "signal.elf", "none.o", "plt_lazy.elf",
                                           "plt_ibt.elf", "plt_now.elf", "relocatable.o", "concatenated.elf",
                                           "aarch64.elf", "aarch64_big.elf", "s390x.elf"),
                         [](const auto& object) {
                           const std::string name = object.param;
                           return name.substr(0, name.find('.'));
                         });

// readelf sees only the first of tables that stand behind one another; the second one is as in another object.
TEST(SFrameConcatenatedTest, TheSecondSection) {
  const SFrameObject object = ReadSFrameObject(SFrameFixture("concatenated.elf"));
  auto table = SFrameTable::Open(object.table, object.code);
  ASSERT_TRUE(table.ok()) << table.status();
  ASSERT_EQ((*table)->sections().size(), 2u);
  std::ifstream text(SFrameFixture("relocatable.o.readelf"));
  std::vector<ReadelfFunction> expected = ParseReadelf(text).functions;
  const size_t first = (*table)->sections()[0].header().functions;
  ASSERT_GT(expected.size(), first);
  expected.erase(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(first));
  std::vector<ReadelfFunction> ours = FunctionsOf((*table)->sections()[1]);
  Unlink(expected);
  Unlink(ours);
  EXPECT_EQ(ours, expected);
}

#ifdef OFFCPU_SFRAME_TOOLCHAIN
// Where both tables have a row they must agree. Returns how many rows both have.
size_t CompareWithEhFrame(const SFrameObject& object, SFrameTable& table) {
  std::unique_ptr<EhFrameTable> eh_frame = EhFrameTable::Open(object.eh_frame);
  EXPECT_NE(eh_frame, nullptr);
  size_t both = 0;
  table.sections()[0].ForEach([&](uint32_t, const SFrameFunction& function) {
    for (uint64_t address = function.begin; address - function.begin < function.size;) {
      Row ours;
      Row theirs;
      const bool found = table.Find(address, &ours) == FindOutcome::kFound;
      if (found && eh_frame->Find(address, &theirs) == FindOutcome::kFound) {
        ++both;
        EXPECT_EQ(ours.ra, theirs.ra) << std::hex << address;
        if (ours.ra.place == Place::kUndefined) theirs.cfa = ours.cfa, theirs.fp = ours.fp;  // nobody needs them
        EXPECT_EQ(ours.cfa, theirs.cfa) << std::hex << address;
        EXPECT_EQ(ours.fp, theirs.fp) << std::hex << address;
        EXPECT_EQ(ours.signal, theirs.signal) << std::hex << address;
      }
      address = found ? ours.end : address + 1;
    }
  });
  return both;
}

// Objects too large to be checked in.
class SFrameToolchainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (access(readelf_.c_str(), X_OK) != 0) GTEST_SKIP() << "no toolchain for SFrame V3 (scripts/sframe-toolchain)";
  }

  size_t CompareWith(const std::string& path) {
    FILE* pipe = popen((readelf_ + " --sframe " + path).c_str(), "r");
    std::string text;
    char buffer[4096];
    for (size_t size = 0; (size = fread(buffer, 1, sizeof(buffer), pipe)) != 0;) text.append(buffer, size);
    EXPECT_EQ(pclose(pipe), 0);
    std::istringstream lines(text);
    const SFrameObject object = ReadSFrameObject(path);
    const size_t rows = Compare(object, lines);
    auto table = SFrameTable::Open(object.table, object.code);
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok()) return 0;
    EXPECT_EQ((*table)->bad_entries(), 0u);
    EXPECT_GT(CompareWithEhFrame(object, **table), rows / 10 * 9);
    return rows;
  }

  const std::string toolchain_ = OFFCPU_SFRAME_TOOLCHAIN;
  const std::string readelf_ = toolchain_ + "/bin/readelf";
};

TEST_F(SFrameToolchainTest, ALargeProgramOfCpp) {
  const std::string path = ::testing::TempDir() + "sframe_readelf_test." + std::to_string(getpid());
  std::ofstream(path + ".cc") << "#include <iostream>\n#include <map>\n#include <regex>\n"
                                 "void Use(std::map<std::string, std::regex>& m, const std::string& s) {\n"
                                 "  m.emplace(s, std::regex(s));\n"
                                 "  for (auto& [k, v] : m) if (std::regex_match(s, v)) std::cout << k;\n"
                                 "}\n";
  ASSERT_EQ(std::system(("g++ -std=c++17 -O1 -fPIC -shared -fcf-protection -Wa,--gsframe -B" + toolchain_ +
                         "/bin/ -o " + path + ".so " + path + ".cc")
                            .c_str()),
            0);
  EXPECT_GT(CompareWith(path + ".so"), 1000u);
  unlink((path + ".cc").c_str());
  unlink((path + ".so").c_str());
}

TEST_F(SFrameToolchainTest, Libc) {
  const std::string path = toolchain_ + "/libc/lib/libc.so.6";
  if (access(path.c_str(), R_OK) != 0) GTEST_SKIP() << "no libc with SFrame (WITH_LIBC=1 scripts/sframe-toolchain)";
  EXPECT_GT(CompareWith(path), 10000u);
}
#endif  // OFFCPU_SFRAME_TOOLCHAIN

}  // namespace
}  // namespace offcpu
