// Recordings as pprof reads them, with Go's pprof as the second reader, and as `offcpu report` writes them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/harness/cli.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Sums = std::map<std::string, uint64_t>;  // nanoseconds by stack, or by function

std::vector<std::string> Lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Sums FoldedSums(const std::string& text) {
  Sums sums;
  for (const std::string& line : Lines(text)) {
    const size_t space = line.rfind(' ');
    sums[line.substr(0, space)] = std::stoull(line.substr(space));
  }
  return sums;
}

// As pprof and .folded files show a function.
std::string Shown(const std::string& function) {
  static const std::regex appended(R"((_\[k\])$|(\.(constprop|isra|part|lto_priv|cold|llvm)(\.\d+)?)+(_\[k\])?$)");
  return std::regex_replace(function, appended, "");
}

Sums ByLeaf(const Sums& stacks) {
  Sums leaves;
  for (const auto& [stack, ns] : stacks) leaves[Shown(stack.substr(stack.rfind(';') + 1))] += ns;
  return leaves;
}

// The stacks of the folded form as pprof has them: it drops the scheduler's functions, with all below them, unless an
// interrupt is below them.
Sums WithoutScheduler(const Sums& stacks) {
  static const std::regex scheduler(
      R"(;(__schedule|__schedule_loop|schedule|schedule_hrtimeout|schedule_hrtimeout_range|schedule_preempt_disabled|)"
      R"(schedule_hrtimeout_range_clock|schedule_timeout|schedule_timeout_(idle|interruptible|killable|uninterruptible)))"
      R"((\.[a-z_0-9.]*)?_\[k\].*)");
  Sums without;
  for (const auto& [stack, ns] : stacks) {
    const size_t interrupt = stack.rfind(";asm_");
    const size_t begin = interrupt == std::string::npos ? 0 : interrupt;
    const std::string left = stack.substr(0, begin) + std::regex_replace(stack.substr(begin), scheduler, "");
    without[left.ends_with(";-") ? left + ";[unknown kernel stack]" : left] += ns;
  }
  return without;
}

uint64_t Total(const Sums& sums) {
  uint64_t total = 0;
  for (const auto& [key, ns] : sums) total += ns;
  return total;
}

// What `pprof -raw` prints, as the stacks of the folded form.
class Raw {
 public:
  explicit Raw(const std::string& text) {
    for (const std::string& line : Lines(text)) ReadLine(line);
  }

  Sums Stacks() const {
    Sums sums;
    for (const Sample& sample : samples_) sums[StackOf(sample)] += sample.ns;
    return sums;
  }
  uint64_t count() const { return count_; }
  bool parts_add_up() const { return parts_add_up_; }

 private:
  struct Location {
    std::string mapping;
    std::vector<std::string> functions;  // innermost first: all but the last are inlined
  };
  struct Sample {
    uint64_t ns;
    std::vector<std::string> locations;  // leaf first
    std::string process;
    std::string comm;
  };

  void ReadLine(const std::string& line) {
    static const std::regex sample(R"( *(\d+) +(\d+) +(\d+) +(\d+) +\d+ +\d+ +\d+: ([\d ]+))");
    static const std::regex comm(R"(.*\bcomm:\[([^\]]*)\].*)");
    static const std::regex process(R"(.*\bprocess:\[([^\]]*)\].*)");
    static const std::regex location(R"( *(\d+): 0x[0-9a-f]+ (?:M=(\d+) )?(.*) \S*:\d+(?::\d+)? s=\d+\((.*)\))");
    static const std::regex caller(R"( +(\S.*) \S*:\d+(?::\d+)? s=\d+\((.*)\))");
    static const std::regex mapping(R"((\d+): 0x0/0xffffffffffffffff/0x0 (\S*) .*)");
    std::smatch match;
    if (std::regex_match(line, match, sample)) {
      const uint64_t ns = std::stoull(match[3]) + std::stoull(match[4]);
      samples_.push_back({ns, Words(match[5]), "[no name]", "[no name]"});
      count_ += std::stoull(match[1]);
      parts_add_up_ = parts_add_up_ && std::stoull(match[2]) == ns;
    } else if (std::regex_match(line, match, location)) {
      location_ = &locations_[match[1]];
      *location_ = {match[2], {match[4].length() == 0 ? match[3] : match[4]}};
    } else if (location_ != nullptr && std::regex_match(line, match, caller)) {
      location_->functions.push_back(match[2].length() == 0 ? match[1] : match[2]);
    } else if (std::regex_match(line, match, mapping) && match[2] == "[kernel.kallsyms]") {
      kernel_ = match[1];
    } else if (!samples_.empty()) {  // both labels are in one line, if they are there
      if (std::regex_match(line, match, process)) samples_.back().process = match[1];
      if (std::regex_match(line, match, comm)) samples_.back().comm = match[1];
    }
  }

  static std::vector<std::string> Words(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
  }

  std::string StackOf(const Sample& sample) const {
    std::string user;
    std::string kernel;
    for (auto id = sample.locations.rbegin(); id != sample.locations.rend(); ++id) {
      const Location& location = locations_.at(*id);
      const bool is_kernel = location.mapping == kernel_;
      for (auto name = location.functions.rbegin(); name != location.functions.rend(); ++name) {
        std::string function = Shown(*name);
        std::replace(function.begin(), function.end(), ';', ':');
        (is_kernel ? kernel : user) += ";" + function + (is_kernel && function[0] != '[' ? "_[k]" : "");
      }
    }
    return sample.process + ";" + sample.comm + user + ";-" + (kernel.empty() ? ";[unknown kernel stack]" : kernel);
  }

  std::vector<Sample> samples_;
  std::map<std::string, Location> locations_;
  Location* location_ = nullptr;  // that of the last line
  std::string kernel_;
  uint64_t count_ = 0;
  bool parts_add_up_ = true;
};

// The flat column of `pprof -top`.
Sums TopSums(const std::string& text) {
  static const std::regex line(R"( *(\d+)(?:ns)? +\S+ +\S+ +\S+ +\S+  (.*))");
  Sums sums;
  for (const std::string& candidate : Lines(text)) {
    std::smatch match;
    if (std::regex_match(candidate, match, line) && match[1] != "0") sums[match[2]] = std::stoull(match[1]);
  }
  return sums;
}

class Pprof : public CliTest {
 protected:
  void SetUp() override { recorded_ = Path("out.pb.gz"); }

  // `words` before the length.
  void RecordToFiles(std::vector<std::string> words) {
    words.insert(words.begin(), {"record", "--time-unit", "ns"});
    for (const char* suffix : {"pb.gz", "folded", "txt", "json"}) {
      words.insert(words.end(), {"-o", Path(std::string("out.") + suffix)});
    }
    words.emplace_back("2");
    ASSERT_EQ(Run(words), 0) << errors_;
    folded_ = FoldedSums(ReadFile(Path("out.folded")));
    ASSERT_GT(folded_.size(), 5u);
  }

  void RecordWaits() {
    target_ = StartedTarget({"waits", "--seconds", "20"});
    ASSERT_NE(target_, nullptr);
    RecordToFiles({"--per-thread", "-p", std::to_string(target_->pid())});
  }

  // Go's pprof with these words; it keeps its files in our directory and asks no server.
  bool RunPprof(const std::vector<std::string>& words) {
    std::vector<std::string> all = {
        "env", "HOME=" + directory_.path(), "PPROF_TMPDIR=" + directory_.path(), "go", "tool", "pprof"};
    all.insert(all.end(), words.begin(), words.end());
    const bool done = RunWords(all) == 0;
    EXPECT_TRUE(done) << errors_;
    return done;
  }
  bool HasGo() { return RunWords({"sh", "-c", "go tool -n pprof"}) == 0; }

  std::unique_ptr<Target> target_;
  std::string recorded_;
  Sums folded_;
};

#define SKIP_WITHOUT_GO() \
  if (!HasGo()) GTEST_SKIP() << "needs `go tool pprof` (package golang-go)"

TEST_F(Pprof, RawHasEveryStackToTheNanosecond) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  ASSERT_TRUE(RunPprof({"-raw", recorded_}));
  const Raw raw(output_);
  EXPECT_EQ(raw.Stacks(), WithoutScheduler(folded_));
  EXPECT_GT(raw.count(), 100u);
  EXPECT_TRUE(raw.parts_add_up());
  EXPECT_THAT(output_, HasSubstr("contentions/count off_cpu/nanoseconds[dflt] blocked/nanoseconds "
                                 "runnable/nanoseconds samples/count cpu/nanoseconds wall/nanoseconds\n"));
}

TEST_F(Pprof, RawHasTheWholeHost) {
  SKIP_WITHOUT_GO();
  target_ = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(target_, nullptr);
  RecordToFiles({"--idle=show"});
  ASSERT_TRUE(RunPprof({"-raw", recorded_}));
  EXPECT_EQ(Raw(output_).Stacks(), WithoutScheduler(folded_));
}

TEST_F(Pprof, TopHasEveryLeafToTheNanosecond) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  ASSERT_TRUE(RunPprof({"-top", "-unit=ns", "-nodecount=1000000", "-nodefraction=0", recorded_}));
  EXPECT_EQ(TopSums(output_), ByLeaf(WithoutScheduler(folded_)));
  EXPECT_THAT(output_, Not(HasSubstr("schedule\n"))) << "what waits, not what every wait ends in";
  EXPECT_THAT(output_, HasSubstr("File: waits\n"));
}

// The line of each function is that of the call in it; deep is inlined into work.
TEST_F(Pprof, ListLinesAndPeekShowInlinedFunctionsAndTheirLines) {
  SKIP_WITHOUT_GO();
  std::ofstream(Path("program.cc")) << "#include <unistd.h>\n"
                                       "static inline __attribute__((always_inline)) void deep() { usleep(1000); }\n"
                                       "__attribute__((noinline)) void work() { deep(); asm volatile(\"\"); }\n"
                                       "int main() { for (int i = 0; i < 100000; ++i) work(); }\n";
  ASSERT_EQ(RunWords({"g++", "-O2", "-g", Path("program.cc"), "-o", Path("program")}), 0) << errors_;
  const std::unique_ptr<Program> program = Program::Start({Path("program")}, Path("program.errors"));
  ASSERT_NE(program, nullptr);
  ASSERT_EQ(Run({"record", "-o", recorded_, "-p", std::to_string(program->pid()), "1"}), 0) << errors_;

  ASSERT_TRUE(RunPprof({"-list=^(main|work|deep)$", recorded_}));
  const auto listed = [](const char* line) { return ContainsRegex(absl::StrCat("\n +\\. +[0-9.]+m?s +", line)); };
  EXPECT_THAT(output_, AllOf(listed("2:static inline"), listed("3:__attribute__"), listed("4:int main")));

  ASSERT_TRUE(RunPprof({"-lines", "-top", "-cum", recorded_}));
  EXPECT_THAT(output_, AllOf(ContainsRegex("  main [^ ]*/program.cc:4\n"), ContainsRegex("  work [^ ]*/program.cc:3\n"),
                             ContainsRegex("  deep [^ ]*/program.cc:2 \\(inline\\)\n")));

  ASSERT_TRUE(RunPprof({"-peek=^deep$", recorded_}));
  EXPECT_THAT(output_, ContainsRegex("\\|   work \\(inline\\)\n.*\\| deep\n.*\\|   usleep\n"));
}

// Recordings of one program, of which one has samples of what ran, have the same values.
TEST_F(Pprof, AnyTwoRecordingsAreCompared) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  std::filesystem::rename(recorded_, Path("before.pb.gz"));
  RecordToFiles({"--oncpu", "99", "-p", std::to_string(target_->pid())});
  for (const auto& [base, other] : {std::pair(Path("before.pb.gz"), recorded_), {recorded_, Path("before.pb.gz")}}) {
    ASSERT_TRUE(RunPprof({"-top", "-diff_base=" + base, other}));
    EXPECT_THAT(output_, HasSubstr("Type: off_cpu\n"));
  }
}

// Two processes that do nothing but switch: samples of what runs are in the scheduler, too, and interrupts below it.
TEST_F(Pprof, TopBeginsWithWhatWaitsThoughTheSchedulerIsSampled) {
  SKIP_WITHOUT_GO();
  target_ = StartedTarget({"pingpong", "--seconds", "20"});
  ASSERT_NE(target_, nullptr);
  RecordToFiles({"--oncpu", "997", "--comm", "p?ng"});
  ASSERT_TRUE(RunPprof({"-top", "-unit=ns", "-nodecount=1000000", "-nodefraction=0", recorded_}));
  const Sums top = TopSums(output_);
  EXPECT_THAT(top, Not(IsEmpty()));
  for (const char* name : {"schedule", "__schedule"}) EXPECT_FALSE(top.contains(name)) << output_;
}

TEST_F(Pprof, LabelsSelect) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  const std::string pid = std::to_string(target_->pid());
  const auto focus = [&](const std::string& filter) {
    EXPECT_TRUE(RunPprof({"-raw", "-tagfocus=" + filter, recorded_}));
    return Total(Raw(output_).Stacks());
  };
  EXPECT_EQ(focus("pid=" + pid), Total(folded_));
  EXPECT_EQ(focus("pid=" + pid.substr(1)), 0u);  // a number, not a part of a text
  EXPECT_EQ(focus("process=^waits$"), Total(folded_));
  EXPECT_EQ(focus("user_end=^complete$") + focus("user_end=^[^c]") + focus("no_user_stack=."), Total(folded_));
}

TEST_F(Pprof, ReportRefusesWhatPprofHasWrittenAgain) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  for (const char* option : {"-focus=wait_in_nanosleep", "-hide=^main$", "-taghide=pid", "-divide_by=1000"}) {
    ASSERT_TRUE(RunPprof({"-proto", option, "-output=" + Path("again.pb.gz"), recorded_}));
    EXPECT_EQ(Run({"report", Path("again.pb.gz")}), 2);
    EXPECT_THAT(errors_, HasSubstr("was rewritten by another program")) << option;
  }
}

TEST_F(Pprof, ReportRefusesWhatPprofMerged) {
  SKIP_WITHOUT_GO();
  RecordWaits();
  std::filesystem::rename(recorded_, Path("first.pb.gz"));
  RecordToFiles({"-p", std::to_string(target_->pid())});
  ASSERT_TRUE(RunPprof({"-proto", "-output=" + Path("merged.pb.gz"), Path("first.pb.gz"), recorded_}));
  EXPECT_EQ(Run({"report", Path("merged.pb.gz")}), 2);
  EXPECT_EQ(errors_, "offcpu: " + Path("merged.pb.gz") + " holds several recordings; give each one separately\n");
}

}  // namespace
}  // namespace offcpu::integration
