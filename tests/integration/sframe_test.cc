// Programs that are described by SFrame, by other tables or by none: each is walked by what it has and by what the user
// wants, and a damaged table costs nothing but itself.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/harness/harness.h"
#include "unwind/unwind_order.h"

namespace offcpu::integration {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// The functions of raw_deep.c below `start`, outermost first.
std::vector<std::string> Chain(const std::string& start, const std::string& first) {
  std::vector<std::string> names = {start, first};
  for (int i = 1; i <= 60; ++i) {
    std::array<char, 16> name = {};
    std::snprintf(name.data(), name.size(), "raw_%02d", i);
    names.emplace_back(name.data());
  }
  names.insert(names.end(), {"raw_sleep", "raw_nanosleep"});
  return names;
}

std::vector<std::string> MainChain() { return Chain("_start", "raw_main"); }
std::vector<std::string> ThreadChain() { return Chain("raw_thread_start", "raw_thread"); }

std::vector<std::string> Names(const StackRow& row) {
  std::vector<std::string> names;
  for (auto frame = row.user->frames.rbegin(); frame != row.user->frames.rend(); ++frame)
    names.emplace_back(frame->name());
  return names;
}

// How its frames were found, leaf first.
std::vector<std::string> Sources(const StackRow& row) {
  std::vector<std::string> sources;
  for (const Frame& frame : row.user->frames) sources.emplace_back(Name(frame.source));
  return sources;
}

// A thread that is preempted in the same function has not come to its end: where it stands may be a guess.
bool Sleeps(const StackRow& row) {
  return row.row->kind == WaitKind::kSleeping && !row.user->frames.empty() &&
         row.user->frames.front().name() == "raw_nanosleep";
}

class RawProgram : public testing::Test {
 protected:
  // `program`: of tests/targets, or a path.
  void Record(const std::string& program, const std::string& order) {
    const std::unique_ptr<Target> target = Target::Start({program, std::to_string(kSleeps)});
    ASSERT_NE(target, nullptr);
    RecordConfig config = Unthrottled({target->pid()});
    config.unwind = *ParseUnwindOrder(order);
    recording_ = integration::Record(config, *target);
    stolen_ns_ = target->stolen_ns();
  }

  std::vector<StackRow> Sleepers(bool thread) const {
    return recording_.Rows([&](const StackRow& row) { return Sleeps(row) && (row.comm == "raw_thread") == thread; });
  }

  // Both threads' sleeps have all of their functions in order, and nothing else.
  void ExpectWholeChains() const {
    for (const bool thread : {false, true}) {
      uint64_t whole = 0;
      for (const StackRow& row : Sleepers(thread)) {
        EXPECT_TRUE(row.complete()) << row.Text();
        EXPECT_EQ(Names(row), thread ? ThreadChain() : MainChain()) << row.Text();
        whole += row.row->count;
      }
      EXPECT_GE(whole + NoSleeps(), kSleeps) << "each sleep is an interval at least\n" << recording_.LossesText();
    }
  }

  // One whose time is over while its thread is still on its way to sleep is none. The host may pause there twice, and
  // not every host tells.
  uint64_t NoSleeps() const { return 2 + stolen_ns_ / kSleepNs; }

  // Every frame but the leaf, in every stack of the process.
  std::set<std::string> AllSources() const {
    std::set<std::string> all;
    for (const StackRow& row : recording_.Rows([](const StackRow&) { return true; })) {
      const std::vector<std::string> sources = Sources(row);
      if (!sources.empty()) all.insert(std::next(sources.begin()), sources.end());
    }
    return all;
  }

  uint64_t Dropped(const char* reason) const {
    const Loss* loss = recording_.FindLoss(reason);
    return loss != nullptr ? loss->count : 0;
  }

  static constexpr uint64_t kSleeps = 200;
  static constexpr uint64_t kSleepNs = 1'000'000;
  Recording recording_;
  uint64_t stolen_ns_ = 0;
};

class SFrameOnly : public RawProgram, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Programs, SFrameOnly, testing::Values("raw_sframe", "raw_sframe_pie"));

TEST_P(SFrameOnly, IsCompleteByItAlone) {
  ASSERT_NO_FATAL_FAILURE(Record(GetParam(), "sframe,eh_frame,fp"));
  ExpectWholeChains();
  EXPECT_THAT(AllSources(), ElementsAre("sframe"));
}

// What the user does not want is not used, and nothing is made up instead.
TEST_P(SFrameOnly, EndsAtOnceIfOnlyEhFrameIsWanted) {
  ASSERT_NO_FATAL_FAILURE(Record(GetParam(), "eh_frame"));
  for (const bool thread : {false, true}) EXPECT_FALSE(Sleepers(thread).empty());
  for (const StackRow& row : recording_.Rows([](const StackRow& r) { return r.user->missing == NoUserStack::kNone; })) {
    EXPECT_EQ(row.user->end, EndReason::kNoRow) << row.Text();
    EXPECT_EQ(row.user->frames.size(), 1u) << row.Text();
  }
}

struct Way {
  const char* program;
  const char* order;
  const char* source;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.program << " by " << way.order; }

class Ways : public RawProgram, public testing::WithParamInterface<Way> {};
INSTANTIATE_TEST_SUITE_P(ByDefault, Ways,
                         testing::Values(Way{"raw_sframe", "sframe,eh_frame,fp", "sframe"},
                                         Way{"raw_eh_frame", "sframe,eh_frame,fp", "eh_frame"},
                                         Way{"raw_debug_frame", "sframe,eh_frame,fp", "debug_frame"},
                                         Way{"raw_fp", "sframe,eh_frame,fp", "fp"},
                                         Way{"raw_all", "sframe,eh_frame,fp", "sframe"}));
INSTANTIATE_TEST_SUITE_P(AsWanted, Ways,
                         testing::Values(Way{"raw_all", "sframe", "sframe"}, Way{"raw_all", "eh_frame", "eh_frame"},
                                         Way{"raw_all", "fp", "fp"}, Way{"raw_all", "eh_frame,sframe", "eh_frame"},
                                         Way{"raw_all", "eh_frame,sframe,fp", "eh_frame"},
                                         Way{"raw_all", "fp,sframe,eh_frame", "fp"},
                                         Way{"raw_eh_frame", "sframe,eh_frame", "eh_frame"},
                                         Way{"raw_debug_frame", "eh_frame", "debug_frame"},
                                         Way{"raw_fp", "fp,sframe", "fp"}));

TEST_P(Ways, LeadToTheSameFunctions) {
  ASSERT_NO_FATAL_FAILURE(Record(GetParam().program, GetParam().order));
  ExpectWholeChains();
  for (const bool thread : {false, true}) {
    for (const StackRow& row : Sleepers(thread)) {
      std::vector<std::string> sources = Sources(row);
      ASSERT_GT(sources.size(), 1u);
      EXPECT_EQ(sources[0], "registers");
      sources.erase(sources.begin());
      EXPECT_THAT(sources, Each(GetParam().source)) << row.Text();
    }
  }
}

// Each frame is found by the table of the function that it called.
TEST_F(RawProgram, MixedTablesTakeTurns) {
  ASSERT_NO_FATAL_FAILURE(Record("raw_mixed", "sframe,eh_frame,fp"));
  ExpectWholeChains();
  for (const bool thread : {false, true}) {
    for (const StackRow& row : Sleepers(thread)) {
      for (size_t i = 1; i < row.user->frames.size(); ++i) {
        const std::string callee(row.user->frames[i - 1].name());
        const bool even = isdigit(callee.back()) != 0 && (callee.back() - '0') % 2 == 0;
        EXPECT_EQ(Sources(row)[i], even ? "eh_frame" : "sframe") << callee;
      }
    }
  }
}

// The main thread sleeps in a handler. What is in front of the trampoline has nothing to do with it.
class SignalHandler : public RawProgram, public testing::WithParamInterface<Way> {};
INSTANTIATE_TEST_SUITE_P(Tables, SignalHandler,
                         testing::Values(Way{"raw_signal_eh_frame", "sframe,eh_frame,fp", "eh_frame"},
                                         Way{"raw_signal_sframe", "sframe,eh_frame,fp", "sframe"}));

TEST_P(SignalHandler, BelowTheInterruptedFunction) {
  ASSERT_NO_FATAL_FAILURE(Record(GetParam().program, GetParam().order));
  std::vector<std::string> chain = MainChain();
  const std::vector<std::string> handler = {"raw_raise", "raw_restorer", "raw_handler"};
  chain.insert(chain.begin() + 2, handler.begin(), handler.end());
  uint64_t whole = 0;
  for (const StackRow& row : Sleepers(/*thread=*/false)) {
    EXPECT_TRUE(row.complete()) << row.Text();
    EXPECT_EQ(Names(row), chain) << row.Text();
    whole += row.row->count;
  }
  EXPECT_GE(whole + NoSleeps(), kSleeps) << recording_.LossesText();
  EXPECT_THAT(AllSources(), ElementsAre(GetParam().source, "trampoline"));
}

// A copy of raw_all whose SFrame table is changed.
class ChangedTable : public RawProgram {
 protected:
  void SetUp() override {
    std::ifstream in(BinDirectory() + "/targets/raw_all", std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    Elf64_Ehdr file;
    ASSERT_GE(bytes_.size(), sizeof(file));
    std::memcpy(&file, bytes_.data(), sizeof(file));
    for (int i = 0; i < file.e_phnum; ++i) {
      constexpr uint32_t kPtGnuSFrame = 0x6474e554;
      const size_t at = file.e_phoff + static_cast<size_t>(i) * sizeof(Elf64_Phdr);
      Elf64_Phdr segment;
      std::memcpy(&segment, bytes_.data() + at, sizeof(segment));
      if (segment.p_type != kPtGnuSFrame) continue;
      segment_at_ = at;
      table_at_ = segment.p_offset;
    }
    ASSERT_NE(table_at_, 0u);
  }

  uint32_t Number(size_t at) const {
    uint32_t number = 0;
    std::memcpy(&number, bytes_.data() + at, sizeof(number));
    return number;
  }
  // The attributes of a function in the middle of the index, which is one of the sixty.
  size_t AttributesAt() const {
    constexpr size_t kHeader = 28;
    const uint32_t functions = Number(table_at_ + 8);
    const size_t entry = table_at_ + kHeader + size_t{functions} / 2 * 16;
    return table_at_ + kHeader + Number(table_at_ + 24) + Number(entry + 12);
  }

  void RecordChanged() {
    const std::string path = directory_.path() + "/raw_all";
    std::ofstream(path, std::ios::binary).write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    ASSERT_NO_FATAL_FAILURE(Record(path, "sframe,eh_frame,fp"));
    ExpectWholeChains();
  }
  void ExpectGivenUp() {
    EXPECT_EQ(Dropped("corrupt unwind table"), 1u) << recording_.LossesText();
    EXPECT_THAT(AllSources(), ElementsAre("eh_frame"));
  }

  TemporaryDirectory directory_;
  std::vector<char> bytes_;
  size_t segment_at_ = 0;  // of its program header
  size_t table_at_ = 0;
};

TEST_F(ChangedTable, IsUsedAsItIs) {
  RecordChanged();
  EXPECT_THAT(AllSources(), ElementsAre("sframe"));
  EXPECT_EQ(Dropped("corrupt unwind table"), 0u);
}

TEST_F(ChangedTable, NoHeader) {
  bytes_[table_at_] = 0;
  RecordChanged();
  EXPECT_THAT(AllSources(), ElementsAre("eh_frame"));
  EXPECT_EQ(Dropped("corrupt unwind table"), 0u);
}

TEST_F(ChangedTable, UnknownVersion) {
  bytes_[table_at_ + 2] = 4;
  RecordChanged();
  EXPECT_THAT(AllSources(), ElementsAre("eh_frame"));
}

TEST_F(ChangedTable, MoreFunctionsThanBytes) {
  std::memset(bytes_.data() + table_at_ + 8, 0xff, 4);
  RecordChanged();
  ExpectGivenUp();
}

TEST_F(ChangedTable, SegmentBeyondItsLoad) {
  const uint64_t size = 1 << 20;
  std::memcpy(bytes_.data() + segment_at_ + offsetof(Elf64_Phdr, p_memsz), &size, sizeof(size));
  RecordChanged();
  ExpectGivenUp();
}

// Stacks below the damaged function may have begun by SFrame.
TEST_F(ChangedTable, OneFunction) {
  bytes_[AttributesAt() + 2] = 0x0f;  // a size of starts that does not exist
  RecordChanged();
  EXPECT_EQ(Dropped("corrupt unwind table"), 1u) << recording_.LossesText();
  EXPECT_EQ(Dropped("bad unwind table entry"), 1u) << recording_.LossesText();
  EXPECT_TRUE(AllSources().count("eh_frame") == 1 && AllSources().count("fp") == 0);
}

TEST_F(ChangedTable, OneRow) {
  constexpr size_t kAttributes = 5;
  bytes_[AttributesAt() + kAttributes + 1] = 0x7f;  // of its first row: 15 words of a width that does not exist
  RecordChanged();
  EXPECT_EQ(Dropped("corrupt unwind table"), 1u) << recording_.LossesText();
  EXPECT_TRUE(AllSources().count("eh_frame") == 1 && AllSources().count("fp") == 0);
}

TEST_F(ChangedTable, VersionTwoIsPassedOver) {
  bytes_[table_at_ + 2] = 2;
  RecordChanged();
  EXPECT_THAT(AllSources(), ElementsAre("eh_frame"));
  EXPECT_EQ(Dropped("SFrame table of an old version"), 1u) << recording_.LossesText();
  EXPECT_EQ(Dropped("corrupt unwind table"), 0u);
}

}  // namespace
}  // namespace offcpu::integration
