// Java's stacks of many shapes, in a program that notes its own stack before each wait, while classes come and go, code
// is compiled, thrown away and made anew in its place, and garbage collectors run: no frame is another one than the
// virtual machine's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tests/harness/harness.h"
#include "tests/harness/java_homes.h"
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr int kGenerated = 40;
constexpr int kVersions = 8;
constexpr char kPause[] = "Shapes.pause";
constexpr char kUnloaded[] = "[java: unloaded]";

// OFFCPU_SHAPES_SECONDS: of each recording, for a longer look.
std::string Seconds() {
  const char* seconds = std::getenv("OFFCPU_SHAPES_SECONDS");
  return seconds != nullptr ? seconds : "4";
}

struct Setting {
  std::string name;
  std::vector<std::string> options;
  bool redefines = false;
};

class JavaShapes : public testing::TestWithParam<Setting> {
 protected:
  bool Compile(const std::string& home) {
    const std::string sources = directory_.path() + "/sources";
    std::filesystem::create_directories(sources);
    std::vector<std::string> files;
    for (int i = 0; i < kGenerated; ++i) {
      files.push_back(absl::StrFormat("%s/Gen%d.java", sources, i));
      std::ofstream(files.back()) << absl::StrFormat(
          "public class Gen%1$d extends Shapes.Base {\n"
          "  static long outer%1$d(int n) { return inner%1$d(n) + 1; }\n"
          "  static long inner%1$d(int n) { return n < 0 ? n : Shapes.pause(n) + %1$d; }\n"
          "  public long call(int n) { return outer%1$d(n); }\n"
          "}\n"
          "class Sub%1$d extends Gen%1$d {\n"
          "  public long call(int n) { return super.call(n) + 1; }\n"
          "}\n",
          i);
    }
    const std::string all = directory_.path() + "/all";
    std::ofstream(all) << absl::StrJoin(files, "\n") << "\n";
    return Run({home + "/bin/javac", "-nowarn", "-Xlint:none", "-d", directory_.path(),
                OFFCPU_RUNTIMES_DIR "/Shapes.java"}) &&
           Run({home + "/bin/javac", "-cp", directory_.path(), "-d", generated_, "@" + all}) &&
           (!GetParam().redefines || CompileRedefined(home));
  }

  // Versions of a class that differ in which of its methods call which others, and at which line.
  bool CompileRedefined(const std::string& home) {
    const std::string source = directory_.path() + "/sources/Redefined.java",
                      manifest = directory_.path() + "/manifest";
    for (int i = 0; i < kVersions; ++i) {
      std::ofstream(source) << "public class Redefined extends Shapes.Base {\n"
                            << absl::StrFormat("  public long call(int n) {%s return n < 0 ? n : m%d(n); }\n",
                                               std::string(static_cast<size_t>(i), '\n'), i);
      std::ofstream more(source, std::ios::app);
      for (int j = 0; j < kVersions; ++j) {
        more << absl::StrFormat(
            "  static long m%d(int n) { Thread.currentThread().setName(\"r%d\");\n"
            "    return Shapes.pause(n) + %d; }\n",
            j, i, i);
      }
      more << "}\n" << std::flush;
      const std::string version = i == 0 ? directory_.path() : "";
      for (const std::string& to : {absl::StrFormat("%s/%d", generated_, i), version}) {
        if (!to.empty() && !Run({home + "/bin/javac", "-cp", directory_.path(), "-d", to, source})) return false;
      }
    }
    std::ofstream(manifest) << "Premain-Class: Shapes\nCan-Redefine-Classes: true\n";
    return Run({home + "/bin/jar", "cfm", agent_, manifest});
  }

  static bool Run(const std::vector<std::string>& words) {
    const std::unique_ptr<Program> program = Program::Start(words);
    return program != nullptr && program->Wait() == 0;
  }

  Recording RecordShapes(const std::string& home) {
    std::vector<std::string> words = {home + "/bin/java"};
    words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
    if (GetParam().redefines) words.push_back("-javaagent:" + agent_);
    for (const std::string& word :
         {std::string("-cp"), directory_.path(), std::string("Shapes"), Seconds(), generated_})
      words.push_back(word);
    target_ = Target::Start(words);
    return target_ == nullptr ? Recording() : integration::Record(Unthrottled({target_->pid()}), *target_);
  }

  TemporaryDirectory directory_;
  const std::string generated_ = directory_.path() + "/generated", agent_ = directory_.path() + "/agent.jar";
  std::unique_ptr<Target> target_;
};
INSTANTIATE_TEST_SUITE_P(With, JavaShapes,
                         testing::Values(Setting{"NoOptions", {}}, Setting{"Redefined", {}, true},
                                         Setting{"RedefinedInterpreter", {"-Xint"}, true},
                                         Setting{"Interpreter", {"-Xint"}},
                                         Setting{"SmallCache", {"-XX:ReservedCodeCacheSize=6m"}},
                                         Setting{"SmallCacheOfTheFirstCompiler",
                                                 {"-XX:ReservedCodeCacheSize=6m", "-XX:TieredStopAtLevel=1"}},
                                         Setting{"Serial", {"-XX:+UseSerialGC", "-Xmx64m"}},
                                         Setting{"Parallel", {"-XX:+UseParallelGC", "-Xmx64m"}},
                                         Setting{"Z", {"-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", "-Xmx128m"}}),
                         [](const auto& setting) { return setting.param.name; });

// "Shapes.two:71" for each; of classes that the virtual machine makes itself, without the number that it has given
// them.
std::string Told(std::string_view function, uint32_t line) {
  std::string told(function);
  if (const size_t slash = told.find('/'); slash != std::string::npos) told.erase(slash, told.find('.', slash) - slash);
  return line == 0 ? told : absl::StrCat(told, ":", line);
}

// By the program's own words, "Class.method:LINE" and a line below 0 where there is none.
std::vector<std::string> ByProgram(const std::string& callers) {
  std::vector<std::string> told;
  for (const std::string& frame : std::vector<std::string>(absl::StrSplit(callers, ';', absl::SkipEmpty()))) {
    const size_t colon = frame.rfind(':');
    const int line = std::stoi(frame.substr(colon + 1));
    told.push_back(Told(frame.substr(0, colon), line > 0 ? static_cast<uint32_t>(line) : 0));
  }
  return told;
}

// Java's functions that have called Shapes.pause, innermost first.
std::vector<std::string> CallersOfPause(const NamedUserStack& stack) {
  std::vector<std::string> told;
  bool is_beyond = false;
  for (const NamedFrame& frame : stack.frames) {
    for (const FrameLine& line : frame.lines) {
      const bool is_java = frame.kind != FrameKind::kNative && line.function != "call_stub";
      if (is_beyond && is_java) told.push_back(Told(line.function, line.line));
      is_beyond |= line.function == kPause;
    }
  }
  return told;
}

// Are these the callers, where a class that was gone before its name was read may stand for several that were inlined?
bool AreCallers(std::span<const std::string> found, std::span<const std::string> own) {
  if (found.empty() || own.empty()) return found.empty() && own.empty();
  if (found.front() == own.front()) return AreCallers(found.subspan(1), own.subspan(1));
  if (found.front() != kUnloaded) return false;
  return AreCallers(found.subspan(1), own.subspan(1)) || AreCallers(found, own.subspan(1));
}

void ExpectOwnStacks(const Recording& recording, const Target& target, bool redefines) {
  std::map<std::string, std::set<std::vector<std::string>>> own;
  for (const std::string& line : target.Lines("stack")) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    own[words.at(0)].insert(ByProgram(words.at(1)));
  }
  uint64_t waits = 0, whole = 0, named = 0, wrong = 0;
  uint64_t lasting = 0, lasting_whole = 0;  // of classes that stay
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.Has(kPause) && r.row->blocked_ns > 0; })) {
    waits += row.row->count;
    const bool lasts = row.comm.starts_with('s');
    lasting += lasts ? row.row->count : 0;
    lasting_whole += lasts && row.complete() ? row.row->count : 0;
    if (!row.complete()) continue;
    whole += row.row->count;
    const std::vector<std::string> found = CallersOfPause(*row.user);
    const auto& all = own[row.comm];
    if (std::find(found.begin(), found.end(), kUnloaded) == found.end()) named += row.row->count;
    if (std::any_of(all.begin(), all.end(), [&](const auto& callers) { return AreCallers(found, callers); })) continue;
    wrong += row.row->count;
    ADD_FAILURE() << row.comm << ": " << absl::StrJoin(found, "\n  ") << "\n" << row.Text();
  }
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%zu shapes; %" PRIu64 " waits, %" PRIu64 " whole, %" PRIu64 " named, %" PRIu64 " wrong; of all, %" PRIu64
              " of %" PRIu64 " walked at the switch, %" PRIu64 " of these proven\n",
              own.size(), waits, whole, named, wrong, stats.walked_at_switch, stats.intervals, stats.proven_walks);
  const size_t coming = redefines ? kVersions : kGenerated;
  EXPECT_GE(own.size(), 18u + coming / 2) << "hardly any shape: no test";
  if (redefines) EXPECT_GE(named, whole / 10) << "hardly any name: no test";
  EXPECT_EQ(recording.FindLoss("user stack walked wrongly"), nullptr) << recording.LossesText();
  // Code that was compiled just before is a guess: here the compilers never come to an end.
  EXPECT_GE(lasting_whole, lasting * 9 / 10) << recording.LossesText();
}

TEST_P(JavaShapes, AreThoseThatTheProgramHasSeenItself) {
  const std::vector<std::string> homes = JavaHomes();
  if (homes.empty()) GTEST_SKIP() << "java is not installed";
  for (const std::string& home : homes) {
    SCOPED_TRACE(home);
    ASSERT_TRUE(Compile(home));
    const Recording recording = RecordShapes(home);
    ASSERT_NE(target_, nullptr);
    ExpectOwnStacks(recording, *target_, GetParam().redefines);
  }
}

}  // namespace
}  // namespace offcpu::integration
