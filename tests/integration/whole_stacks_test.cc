// Stacks are whole: as the recorded program's own unwinder tells them, or as its source calls.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "classify/system_calls.h"
#include "process/elf/file.h"
#include "recorder/process_stacks.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/deep_chain.h"
#include "tests/harness/harness.h"
#include "tests/harness/record_until.h"

namespace offcpu::integration {
namespace {

// Waits of both threads have all of the chain, and none has a part of it that is wrong.
void ExpectPrintedChains(const std::vector<std::string>& words, size_t levels) {
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  const std::vector<std::string> of_main = PrintedChain(*target, "main");
  const std::vector<std::string> of_thread = PrintedChain(*target, "deep_thread");
  ASSERT_GT(of_main.size(), levels) << "the target's own unwinder did not get through";
  ASSERT_GT(of_thread.size(), levels);
  const auto sleeps = [](const StackRow& row) { return row.complete() && row.Has("deep_sleep"); };
  const auto is_thread = [](const StackRow& row) { return row.comm == "deep_thread"; };
  const auto check = [&](const StackRow& row) {
    if (!sleeps(row)) return;
    EXPECT_EQ(FramesBeyondSleep(row.user->frames), is_thread(row) ? of_thread : of_main) << row.Text();
    if (row.row->kind != WaitKind::kSleeping || !row.Has("nanosleep")) return;  // it waits for its start there, too
    EXPECT_EQ(SystemCallName(row.row->syscall), "clock_nanosleep") << row.Text();
  };
  RecordUntilThereAre({{"main", [&](const StackRow& row) { return sleeps(row) && !is_thread(row); }},
                       {"thread", [&](const StackRow& row) { return sleeps(row) && is_thread(row); }}},
                      Unthrottled({target->pid()}), *target, check);
}

TEST(WholeStacks, OfSixtyFramesFromStartAndFromClone) { ExpectPrintedChains({"deep", "--seconds", "90"}, 60); }

// Captures hold enough of so large a stack once the recorder has seen the first ones.
TEST(WholeStacks, OfFortyFramesOfOneKilobyteEach) { ExpectPrintedChains({"deep", "--big", "--seconds", "90"}, 40); }

// Where the third description in a table begins; those before it are of start code and of the PLT. Nothing if there is
// none.
std::optional<uint64_t> ThirdDescription(const Memory& file, const ElfSection& table) {
  int number = 0;
  for (uint64_t at = table.offset; at < table.offset + table.size;) {
    const std::optional<uint32_t> length = file.ReadValue<uint32_t>(at);
    const std::optional<uint32_t> id = file.ReadValue<uint32_t>(at + sizeof(uint32_t));
    if (!length || !id) return std::nullopt;
    if (*id != 0 && ++number == 3) return at;
    at += sizeof(uint32_t) + *length;
  }
  return std::nullopt;
}

// A copy of a program whose .eh_frame has a zero in the middle, as a tool may leave it that has rewritten the program.
// The runtimes of languages go by the search table, and so find what follows.
std::string CopyWithAZeroInEhFrame(const std::string& program, const std::string& path) {
  std::filesystem::copy_file(program, path);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const SpanMemory memory(0, std::as_bytes(std::span(bytes)));
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(memory);
  const ElfSection* table = elf.ok() ? elf->Find(".eh_frame") : nullptr;
  const std::optional<uint64_t> at = table != nullptr ? ThirdDescription(memory, *table) : std::nullopt;
  if (!at) return "";
  file.seekp(static_cast<std::streamoff>(*at));
  file.write("\0\0\0\0", 4);
  return file.good() ? path : "";
}

TEST(WholeStacks, OfTablesThatGoOnBehindAZero) {
  const TemporaryDirectory directory;
  const std::string path = CopyWithAZeroInEhFrame(BinDirectory() + "/targets/deep", directory.path() + "/deep");
  ASSERT_NE(path, "");
  ExpectPrintedChains({path, "--seconds", "90"}, 60);
}

TEST(WholeStacks, OfAProgramOf32Bits) {
  ASSERT_TRUE(std::filesystem::exists(BinDirectory() + "/targets/deep_32")) << "needs g++-multilib";
  ExpectPrintedChains({"deep_32", "--seconds", "90"}, 60);
}

// Each thread as it waits for the end of the test.
TEST(WholeStacks, OfAProgramOf32BitsThatAreRead) {
  const std::unique_ptr<Target> target = Target::Start({"deep_32"});
  ASSERT_NE(target, nullptr);
  absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(target->pid(), UnwindOrder());
  ASSERT_TRUE(stacks.ok()) << stacks.status();
  const NamedProfile named = Symbolize(std::move(stacks->profile));
  ASSERT_EQ(named.user_stacks.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const NamedUserStack& stack = named.user_stacks[i];
    EXPECT_EQ(stack.end, EndReason::kComplete) << Name(stack.end);
    EXPECT_EQ(FramesBeyondSleep(stack.frames), PrintedChain(*target, i == 0 ? "main" : "deep_thread"));
  }
}

TEST(WholeStacks, OfTwoCallersOfOneFunctionAreToldApart) {
  const std::unique_ptr<Target> target = Target::Start({"two_callers", "--rounds", "1000000"});
  ASSERT_NE(target, nullptr);
  const auto below = [](const std::string& caller) {
    return [caller](const StackRow& row) {
      return row.complete() && row.Calls({"_start", "main", caller, "shared_wait"});
    };
  };
  RecordUntilThereAre({{"a", below("caller_a")}, {"b", below("caller_b")}}, Unthrottled({target->pid()}), *target,
                      [](const StackRow& row) {
                        if (!row.Has("shared_wait")) return;
                        EXPECT_FALSE(row.Has("caller_a") && row.Has("caller_b")) << row.Text();
                        EXPECT_TRUE(!row.complete() || row.Has("caller_a") || row.Has("caller_b")) << row.Text();
                      });
}

// With the budgets that users have: nearly all of these stacks are walked where the wait ends.
TEST(WholeStacks, OfElevenThreadsBesideForks) {
  const std::unique_ptr<Target> target = Target::Start({"clocked", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  const std::map<std::string, std::vector<std::string>> chains = {
      {"c_nanosleep", {"clocked_nanosleep"}},
      {"c_futex", {"clocked_futex"}},
      {"c_poll", {"clocked_poll"}},
      {"c_epoll", {"clocked_epoll"}},
      {"c_select", {"clocked_select"}},
      {"c_sigwait", {"clocked_sigwait"}},
      {"c_condvar", {"clocked_condvar"}},
      {"c_semaphore", {"clocked_semaphore"}},
      {"c_until", {"clocked_until"}},
      {"c_fork", {"clocked_fork"}},
      {"c_handler", {"clocked_raise", "clocked_handler"}},
  };
  std::vector<WantedRows> wanted;
  for (const auto& [thread, chain] : chains) {
    wanted.push_back({thread, [&name = thread, &calls = chain](const StackRow& row) {
                        return row.comm == name && row.complete() && row.Calls({"start_thread"}) && row.Calls(calls);
                      }});
  }
  RecordConfig config;
  config.pids = {target->pid()};
  RecordUntilThereAre(wanted, config, *target, [&chains](const StackRow& row) {
    for (const auto& [thread, chain] : chains) {
      EXPECT_TRUE(row.comm == thread || !row.Has(chain.back())) << row.Text();
    }
  });
}

struct FarStack {
  std::string name;
  std::vector<std::string> words;    // of the target
  std::vector<std::string> between;  // outer_1 and inner_3
};

void PrintTo(const FarStack& stack, std::ostream* out) { *out << stack.name; }

class FarStacks : public testing::TestWithParam<FarStack> {};

// The first captures end early; then the walker knows which pieces of the stack it needs.
TEST_P(FarStacks, BecomeWhole) {
  const std::unique_ptr<Target> target = Target::Start(GetParam().words);
  ASSERT_NE(target, nullptr);
  std::vector<std::string> chain = {"start_thread", "outer_3", "outer_2", "outer_1"};
  if (GetParam().words[0].ends_with("_32")) chain.erase(chain.begin());
  chain.insert(chain.end(), GetParam().between.begin(), GetParam().between.end());
  chain.insert(chain.end(), {"inner_3", "inner_2", "inner_1"});
  const auto is_whole = [&chain](const StackRow& row) { return row.complete() && row.Calls(chain); };
  RecordUntilThereAre({{"whole", is_whole}}, Unthrottled({target->pid()}), *target, [&](const StackRow& row) {
    EXPECT_TRUE(!row.complete() || !row.Has("inner_1") || row.Calls(chain)) << row.Text();
  });
}

INSTANTIATE_TEST_SUITE_P(
    Places, FarStacks,
    testing::Values(FarStack{"frame_of_1_mib", {"far_stacks", "--seconds", "90", "large", "1048576"}, {"large_frame"}},
                    FarStack{"split", {"far_stacks", "--seconds", "90", "split"}, {"split_frame"}},
                    FarStack{"handler", {"far_stacks", "--seconds", "90", "handler"}, {"first_handler"}},
                    FarStack{"handler_in_handler",
                             {"far_stacks", "--seconds", "90", "handler_in_handler"},
                             {"first_handler", "second_handler"}},
                    FarStack{"handler_32", {"far_stacks_32", "--seconds", "90", "handler"}, {}}),
    [](const testing::TestParamInfo<FarStack>& stack) { return stack.param.name; });

TEST(WholeStacks, OfTextThatWasMovedToOtherMemory) {
  const std::unique_ptr<Target> target = Target::Start({"moved_text", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  const auto is_whole = [](const StackRow& row) {
    return row.complete() && row.Calls({"_start", "main", "moved_outer", "moved_inner"});
  };
  RecordUntilThereAre({{"whole", is_whole}}, Unthrottled({target->pid()}), *target);
}

// Where it returns to the kernel has put its own trampoline.
TEST(WholeStacks, OfAFunctionWhoseReturnsAreProbed) {
  const std::unique_ptr<Target> target = Target::Start({"probed_returns", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  if (target->Detail("probes") == 0) return;  // the kernel has none
  const auto is_whole = [](const StackRow& row) {
    return row.complete() && row.Calls({"_start", "main", "probed_outer", "probed", "probed_inner"});
  };
  RecordUntilThereAre({{"whole", is_whole}}, Unthrottled({target->pid()}), *target);
}

// Code that calls nobody keeps where its frame ends below its stack pointer.
TEST(WholeStacks, OfCodeThatUsesTheRedZone) {
  const std::unique_ptr<Target> target = Target::Start({"red_zone", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.oncpu_hz = 997;
  uint64_t whole = 0;  // samples
  RecordUntil(config, *target, [&whole](const Recording& window) {
    for (const StackRow& row : window.Rows([](const StackRow& row) { return row.Has("red_zone_leaf"); })) {
      EXPECT_NE(row.user->end, EndReason::kBadMemory) << row.Text();
      if (row.complete() && row.Calls({"_start", "main", "outer", "red_zone_leaf"})) whole += row.row->samples;
    }
    return whole >= 20;
  });
}

// A stack that makecontext has made: the function that entered it is not shown as caller.
TEST(WholeStacks, OfContextsEndAtTheirBase) {
  const std::unique_ptr<Target> target = Target::Start({"far_stacks", "--seconds", "90", "marked"});
  ASSERT_NE(target, nullptr);
  const auto is_whole = [](const StackRow& row) {
    return row.complete() && row.Has("inner_1") && row.user->frames.back().name() == "marked_base";
  };
  RecordUntilThereAre({{"whole", is_whole}}, Unthrottled({target->pid()}), *target, [](const StackRow& row) {
    EXPECT_FALSE(row.Has("inner_1") && row.Has("outer_1")) << row.Text();
  });
}

// More executable mappings than are listed at a time, one of which goes half way through.
TEST(WholeStacks, BeforeAndAfterMappingsChange) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "mappings", "200"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  for (const char* function : {"wait_before", "wait_after"}) {
    const Measure whole = recording.Sum([&](const StackRow& row) {
      return row.complete() && row.Calls({"_start", "main", function});
    });
    EXPECT_GT(whole.count, 0u) << function << "\n" << recording.LossesText();
  }
}

}  // namespace
}  // namespace offcpu::integration
