// Every function and every row of what is checked in with tables, compared with what binutils' readelf said of the same
// bytes: its words are beside each.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/unwind/sframe_compare.h"
#include "unwind/sframe.h"

namespace offcpu {
namespace {

class SFrameFixtureTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SFrameFixtureTest, SaysWhatReadelfSays) {
  std::ifstream text(GetParam() + ".readelf");
  ASSERT_TRUE(text) << GetParam();
  CompareWithReadelf(ReadSFrameObject(GetParam()), text);
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& path) {
  const std::string name = path.param.substr(path.param.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}

std::vector<std::string> Objects() {
  std::vector<std::string> paths;
  for (const char* name : {"default.elf", "flexible.elf", "signal.elf", "none.o", "plt_lazy.elf", "plt_ibt.elf",
                           "plt_now.elf", "relocatable.o", "concatenated.elf", "aarch64.elf", "cpp.elf"})
    paths.push_back(SFrameFixture(name));
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Objects, SFrameFixtureTest, ::testing::ValuesIn(Objects()), NameOf);

std::vector<std::string> Programs() {
  std::vector<std::string> paths;
  for (const char* name :
       {"raw_all", "raw_mixed", "raw_sframe", "raw_sframe_pie", "raw_signal_sframe", "stepped_sframe"})
    paths.push_back(SFrameProgram(name));
  return paths;
}
INSTANTIATE_TEST_SUITE_P(Programs, SFrameFixtureTest, ::testing::ValuesIn(Programs()), NameOf);

// Compilers describe each function in both tables.
TEST(SFrameAndEhFrameTest, SayTheSame) {
  for (const auto& [path, rows] :
       {std::pair(SFrameFixture("cpp.elf"), 1500u), std::pair(SFrameProgram("raw_all"), 260u),
        std::pair(SFrameProgram("stepped_sframe"), 150u)})
    EXPECT_GT(CompareWithEhFrame(ReadSFrameObject(path)), rows / 10 * 9) << path;
}

// readelf sees only the first of tables that stand behind one another; the second one is as in another object.
TEST(SFrameConcatenatedTest, TheSecondSection) {
  const SFrameObject object = ReadSFrameObject(SFrameFixture("concatenated.elf"));
  auto table = SFrameTable::Open(object.table, object.code, kX86_64);
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

}  // namespace
}  // namespace offcpu
