#include "output/coverage_table.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class CoverageTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {"/usr/bin/node", "/usr/lib/libc.so.6", "/usr/lib/libs\n.so"}) {
      fake_.profile.modules.push_back(std::make_shared<Module>());
      std::const_pointer_cast<Module>(fake_.profile.modules.back())->path = path;
    }
    const Module* node = fake_.profile.modules[0].get();
    const Module* libc = fake_.profile.modules[1].get();
    const Module* odd = fake_.profile.modules[2].get();
    Add({{libc, 1, FrameSource::kRegisters}, {node, 2, FrameSource::kSFrame}}, EndReason::kNoRow, 7);
    Add({{libc, 1, FrameSource::kRegisters}, {nullptr, 2, FrameSource::kSFrame}}, EndReason::kBadCfa, 2);
    Add({{odd, 1, FrameSource::kRegisters}, {odd, 2, FrameSource::kFramePointer}}, EndReason::kComplete, 1);
  }
  void Add(const std::vector<Frame>& frames, EndReason end, uint64_t count) {
    NamedUserStack& stack = fake_.profile.user_stacks.emplace_back();
    for (const Frame& frame : frames) stack.frames.push_back({frame});
    stack.end = end;
    fake_.profile.rows.push_back(
        {{{.user_stack = static_cast<uint32_t>(fake_.profile.user_stacks.size() - 1)}, {.count = count}}});
  }
  std::string Table(bool all, size_t limit = 10) {
    std::string text;
    WriteCoverageTable(fake_.profile, all, limit, [&](std::string_view bytes) { text += bytes; });
    return text;
  }

  FakeProfile fake_;
};

TEST_F(CoverageTableTest, NamesTheModulesInWhichWalksEndEarly) {
  EXPECT_EQ(Table(false),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "          0           0           0           0  [code without a file]           bad cfa 2\n");
}

TEST_F(CoverageTableTest, NamesTheOthersToo) {
  EXPECT_EQ(Table(true),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "          0           0           0           0  [code without a file]           bad cfa 2\n"
            "          9           0           0           0  /usr/lib/libc.so.6\n"
            "          0           0           0           1  /usr/lib/libs?.so\n");
  EXPECT_EQ(Table(true, 1),
            "     SFRAME    EH_FRAME DEBUG_FRAME          FP  MODULE                          WALKS ENDED EARLY\n"
            "          0           0           0           0  /usr/bin/node                   no row 7\n"
            "not shown: 3\n");
}

TEST_F(CoverageTableTest, IsNotThereWhereAllIsWell) {
  fake_.profile.rows.erase(fake_.profile.rows.begin(), fake_.profile.rows.begin() + 2);
  EXPECT_EQ(Table(false), "");
}

TEST_F(CoverageTableTest, AsJson) {
  fake_.profile.rows.resize(1);
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  JsonWriter json(sink);
  WriteCoverageJson(fake_.profile, json);
  EXPECT_EQ(text, R"([{"path":"/usr/bin/node","build_id":"","frames":{},"walk_ends":{"no row":7}},)"
                  R"({"path":"/usr/lib/libc.so.6","build_id":"","frames":{"sframe":7},"walk_ends":{}}])");
}

}  // namespace
}  // namespace offcpu
