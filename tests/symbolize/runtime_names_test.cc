// Frames of functions that a language runtime knows, which is made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/losses.h"
#include "runtimes/runtime.h"
#include "symbolize/symbolizer.h"

namespace offcpu {
namespace {

using testing::ElementsAre;

constexpr size_t kShareBytes = size_t{24} << 20;  // what names of one user may take in a profile: three quarters

class FakeCode final : public RuntimeCode {
 public:
  explicit FakeCode(uid_t owner) : RuntimeCode(CodeKind::kRuntime, "[jvm]") {
    memory = MemoryLease(std::make_shared<MemoryBudget>(1000), owner);
  }
  std::string_view language() const override { return "jvm"; }
  std::vector<CodeLine> LinesAt(uint64_t number) const override {
    const auto found = lines.find(number);
    return found != lines.end() ? found->second : std::vector<CodeLine>();
  }

  std::map<uint64_t, std::vector<CodeLine>> lines;
};

class RuntimeNames : public ::testing::Test {
 protected:
  void AddStack(const std::shared_ptr<FakeCode>& code, uint64_t numbers) {
    UserStackEntry& entry = profile_.user_stacks.emplace_back();
    for (uint64_t number = 1; number <= numbers; ++number)
      entry.stack.frames.push_back({.code = code.get(), .address = number, .exact = true});
    profile_.code.push_back(code);
  }
  const std::vector<NamedFrame>& FramesOf(size_t stack) {
    if (named_.user_stacks.empty()) named_ = Symbolize(std::move(profile_), {.kallsyms_path = "/dev/null"});
    return named_.user_stacks.at(stack).frames;
  }
  uint64_t Lost(LossId id) const {
    for (const Loss& loss : named_.stats.losses) {
      if (loss.reason == InfoOf(id).name) return loss.count;
    }
    return 0;
  }

  Profile profile_;
  NamedProfile named_;
};

TEST_F(RuntimeNames, FrameHasTheLinesOfItsFunctions) {
  const auto code = std::make_shared<FakeCode>(1000);
  code->lines[1] = {{.function = "a.Inner.get", .file = "Inner.java", .line = 3}, {.function = "a.Outer.run"}};
  AddStack(code, 2);
  EXPECT_THAT(FramesOf(0)[0].lines, ElementsAre(FrameLine{.function = "a.Inner.get", .file = "Inner.java", .line = 3},
                                                FrameLine{.function = "a.Outer.run"}));
  EXPECT_TRUE(FramesOf(0)[0].named);
  EXPECT_EQ(FramesOf(0)[1].name(), "[name not read]");
  EXPECT_FALSE(FramesOf(0)[1].named);
  EXPECT_EQ(Lost(LossId::kNamesNotRead), 1u);
}

// Texts that are all the same take no room, but lines do.
TEST_F(RuntimeNames, LinesOfOneUserTakeHisShareOnly) {
  constexpr size_t kLines = 256, kTextBytes = 1000, kFrames = 200;
  const auto hostile = std::make_shared<FakeCode>(1000), other = std::make_shared<FakeCode>(1001);
  const CodeLine line = {.function = std::string(kTextBytes, 'f'), .file = std::string(kTextBytes, 'x')};
  for (uint64_t number = 1; number <= kFrames; ++number) hostile->lines[number] = std::vector(kLines, line);
  other->lines[1] = {{.function = "a.Other.run"}};
  AddStack(hostile, kFrames);
  AddStack(other, 1);
  size_t whole = 0;
  for (const NamedFrame& frame : FramesOf(0)) {
    whole += frame.lines.size() == kLines;
    EXPECT_TRUE(frame.lines.size() == kLines || frame.name() == "[frames left out]");
  }
  constexpr size_t kRoomFor = kShareBytes / (kLines * (2 * kTextBytes + sizeof(FrameLine)));
  EXPECT_GE(whole, kRoomFor - 1);  // the other one comes first, or last
  EXPECT_LE(whole, kRoomFor);
  EXPECT_EQ(Lost(LossId::kNameMemoryShare), kFrames - whole);
  EXPECT_EQ(FramesOf(1)[0].name(), "a.Other.run");
}

}  // namespace
}  // namespace offcpu
