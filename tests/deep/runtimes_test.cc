// Programs of other languages than C and C++: what of their stacks is there and how it is named, with the options that
// their runtimes need for it (the table in docs/languages.md). A language that is not installed is skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "html/page_data.h"
#include "tests/harness/harness.h"
#include "tests/harness/load.h"
#include "tests/html/page_reader.h"

namespace offcpu::integration {
namespace {

// Out of 200: where the host pauses between the start of the timer and the switch, nothing is left to wait for.
constexpr uint64_t kLeastWaits = 198;

std::string Source(const std::string& name) { return OFFCPU_RUNTIMES_DIR "/" + name; }

// Runs a program to its end.
int RunProgram(const std::vector<std::string>& words) {
  const std::unique_ptr<Program> program = Program::Start(words);
  return program == nullptr ? -1 : program->Wait();
}

#define SKIP_WITHOUT(program) \
  if (!IsInstalled(program)) GTEST_SKIP() << program << " is not installed"

class Runtimes : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  void RecordProgram(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"/usr/bin/env"};
    all.insert(all.end(), words.begin(), words.end());
    const std::unique_ptr<Target> target = Target::Start(all);
    ASSERT_NE(target, nullptr);
    recording_ = integration::Record(Unthrottled({target->pid()}), *target);
    unlink(("/tmp/perf-" + std::to_string(target->pid()) + ".map").c_str());
  }

  // Every wait has a complete stack with frames whose names contain these, each called by the one before.
  void ExpectWaitsIn(const std::vector<std::string>& parts) const {
    uint64_t waits = 0;
    for (const StackRow& row : recording_.Rows([&](const StackRow& r) { return Has(r, parts.back()); })) {
      EXPECT_TRUE(row.complete()) << row.Text();
      EXPECT_TRUE(CallOneAnother(row, parts)) << row.Text();
      waits += row.row->count;
    }
    EXPECT_GE(waits, kLeastWaits) << recording_.LossesText();
  }

  static bool Has(const StackRow& row, const std::string& part) {
    for (const NamedFrame& frame : row.user->frames) {
      if (frame.name().find(part) != std::string_view::npos) return true;
    }
    return false;
  }

  static bool CallOneAnother(const StackRow& row, const std::vector<std::string>& parts) {
    size_t next = 0;
    for (auto frame = row.user->frames.rbegin(); frame != row.user->frames.rend(); ++frame) {
      const bool found = frame->name().find(parts[next]) != std::string_view::npos;
      if (found && ++next == parts.size()) return true;
      if (!found && next != 0) next = 0;
    }
    return false;
  }

  TemporaryDirectory directory_;
  Recording recording_;
};

class Go : public Runtimes, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Flags, Go, testing::Values("", "-s -w", "-compressdwarf=false"));

TEST_P(Go, NeedsNothing) {
  SKIP_WITHOUT("go");
  const std::string program = Path("wait");
  ASSERT_EQ(RunProgram({"/usr/bin/env", "HOME=" + directory_.path(), "GOFLAGS=-mod=mod", "go", "build", "-ldflags",
                        GetParam(), "-o", program, Source("wait.go")}),
            0);
  RecordProgram({program});
  ExpectWaitsIn({"main.main", "main.Outer", "main.Middle", "main.Inner"});
  // The threads of the runtime, too, but for what it does on another stack than its caller's.
  const auto has_stack = [](const StackRow& row) { return row.user->missing == NoUserStack::kNone; };
  const Measure all = recording_.Sum(has_stack);
  const Measure whole = recording_.Sum([&](const StackRow& row) { return has_stack(row) && row.complete(); });
  std::printf("%.2f %% of %.2f s complete\n", 100.0 * static_cast<double>(whole.ns) / static_cast<double>(all.ns),
              static_cast<double>(all.ns) / 1e9);
  EXPECT_GE(whole.ns, all.ns * 95 / 100) << recording_.LossesText();
}

// The function that makes the system call has no frame, and hides its caller from frame pointers: .debug_frame tells
// where that is, and the table of the runtime does so where the program was stripped.
TEST_F(Runtimes, GoHasTheCallerOfTheLeaf) {
  SKIP_WITHOUT("go");
  std::set<std::string> stacks;
  for (const bool stripped : {false, true}) {
    const std::string program = Path("wait");
    ASSERT_EQ(RunProgram({"/usr/bin/env", "HOME=" + directory_.path(), "go", "build", "-ldflags",
                          stripped ? "-s -w" : "", "-o", program, Source("wait.go")}),
              0);
    RecordProgram({program});
    uint64_t waits = 0;
    for (const StackRow& row : recording_.Rows([](const StackRow& r) { return Has(r, "main.Inner"); })) {
      if (row.row->count < kLeastWaits / 2) continue;  // the waits, but for those that were interrupted on their way
      std::string names;
      // Only symbols of the file tell by which convention a function is called.
      for (const NamedFrame& frame : row.user->frames) {
        names += std::string(frame.name().substr(0, frame.name().rfind(".abi0"))) + "\n";
      }
      stacks.insert(names);
      waits += row.row->count;
      const FrameSource source = row.user->frames.at(1).source;
      EXPECT_EQ(source, stripped ? FrameSource::kFramePointer : FrameSource::kDebugFrame);
    }
    EXPECT_GE(waits, kLeastWaits / 2);
  }
  EXPECT_EQ(stacks.size(), 1u) << "both tables say the same\n" << testing::PrintToString(stacks);
}

// The scheduler runs on the stack of its thread and never calls a goroutine's functions: an idle thread is not shown
// below the goroutine that it ran last, whose stack is right behind the switch.
TEST_F(Runtimes, GoShowsNoIdleThreadBelowAGoroutine) {
  SKIP_WITHOUT("go");
  const std::string program = Path("idle");
  ASSERT_EQ(RunProgram({"/usr/bin/env", "HOME=" + directory_.path(), "go", "build", "-o", program, Source("idle.go")}),
            0);
  RecordProgram({program});
  const auto is_idle = [](const StackRow& row) {
    return Has(row, "runtime.findrunnable") || Has(row, "runtime.findRunnable");
  };
  for (const StackRow& row : recording_.Rows(is_idle)) EXPECT_FALSE(Has(row, "main.")) << row.Text();
  // The threads have been idle, and have run goroutines.
  const auto is_complete = [](const StackRow& row) { return row.complete(); };
  EXPECT_GT(recording_.Sum([&](const StackRow& row) { return is_complete(row) && is_idle(row); }).count, 100u);
  EXPECT_GT(recording_.Sum([&](const StackRow& row) { return is_complete(row) && Has(row, "main.Blocks"); }).count,
            100u);
}

TEST_F(Runtimes, RustNeedsNothing) {
  SKIP_WITHOUT("rustc");
  ASSERT_EQ(RunProgram({"/usr/bin/env", "rustc", "-O", "-o", Path("wait"), Source("wait.rs")}), 0);
  RecordProgram({Path("wait")});
  ExpectWaitsIn({"wait::main", "wait::outer", "wait::middle", "wait::inner"});
}

// The methods in the interpreter, and compiled by each compiler.
TEST_F(Runtimes, JavaNeedsNothing) {
  SKIP_WITHOUT("java");
  SKIP_WITHOUT("javac");
  ASSERT_EQ(RunProgram({"/usr/bin/env", "javac", "-d", directory_.path(), Source("Wait.java")}), 0);
  for (const char* mode : {"-Xint", "-Xcomp", "-XX:TieredStopAtLevel=1"}) {
    SCOPED_TRACE(mode);
    RecordProgram({"java", mode, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Wait::*", "-cp",
                   directory_.path(), "Wait"});
    const std::vector<std::string> methods = {"Wait.outer", "Wait.middle", "Wait.inner"};
    uint64_t waits = 0, whole = 0;
    for (const StackRow& row : recording_.Rows([&](const StackRow& r) { return Has(r, methods.back()); })) {
      EXPECT_TRUE(CallOneAnother(row, methods)) << row.Text();
      EXPECT_TRUE(row.complete() || row.user->end == EndReason::kGuessedEnd) << row.Text();
      waits += row.row->count;
      if (row.complete()) whole += row.row->count;
    }
    EXPECT_GE(waits, kLeastWaits) << recording_.LossesText();
    // Before the recorder has read the virtual machine's code for the first time, stacks through it are guesses.
    EXPECT_GE(whole, waits / 2) << waits;
  }
}

// The frames of Python functions are those of the interpreter, until it has trampolines for them.
TEST_F(Runtimes, PythonHasTheInterpretersFrames) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "/usr/bin/python3 is not installed";
  RecordProgram({"/usr/bin/python3", Source("wait.py")});
  ExpectWaitsIn({"_PyEval_EvalFrameDefault"});
}

// A trampoline keeps no frame pointer and has no table, but all of its code is known: copies of one small function.
TEST_F(Runtimes, PythonWithTrampolinesNamesItsFunctions) {
  std::string python;
  for (const char* name : {"/usr/bin/python3", "python3.13", "python3.12", "python3"}) {
    const std::string command = std::string(name) + " -c 'import sys; sys.activate_stack_trampoline(\"perf\")'";
    if (python.empty() && RunProgram({"/bin/sh", "-c", command + " 2>/dev/null"}) == 0) python = name;
  }
  if (python.empty()) GTEST_SKIP() << "Python from 3.12 on is not installed";
  RecordProgram({python, "-X", "perf", Source("wait.py")});
  uint64_t waits = 0;
  for (const StackRow& row : recording_.Rows([](const StackRow& r) { return Has(r, "py::inner"); })) {
    size_t next = 0;
    constexpr std::array<const char*, 4> kFunctions = {"py::<module>", "py::outer", "py::middle", "py::inner"};
    for (auto frame = row.user->frames.rbegin(); frame != row.user->frames.rend() && next < kFunctions.size();
         ++frame) {
      next += frame->name().starts_with(kFunctions[next]) ? 1 : 0;
    }
    EXPECT_EQ(next, kFunctions.size()) << row.Text();
    EXPECT_TRUE(row.complete()) << row.Text();
    waits += row.row->count;
  }
  EXPECT_GE(waits, kLeastWaits) << recording_.LossesText();
}

class Musl : public Runtimes, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Linking, Musl, testing::Values("-no-pie", "-static"));

// Its own functions have no tables. What their code does to return leads through them, and that is called a guess. The
// function that calls main never returns.
TEST_P(Musl, IsWalkedByItsCode) {
  SKIP_WITHOUT("musl-gcc");
  ASSERT_EQ(RunProgram({"/usr/bin/env", "musl-gcc", "-O2", GetParam(), "-o", Path("wait"), Source("wait.c")}), 0);
  RecordProgram({Path("wait")});
  uint64_t waits = 0;
  // Where the code was interrupted instead, it does not tell.
  const auto sleeps = [](const StackRow& r) { return r.row->kind == WaitKind::kSleeping && Has(r, "inner"); };
  for (const StackRow& row : recording_.Rows(sleeps)) {
    EXPECT_TRUE(CallOneAnother(row, {"outer", "middle", "inner", "usleep", "nanosleep"})) << row.Text();
    EXPECT_EQ(row.user->end, EndReason::kGuessedEnd) << row.Text();
    waits += row.row->count;
  }
  EXPECT_GE(waits, kLeastWaits) << recording_.LossesText();
}

// Ruby has a frame of 1 MiB at the base of each thread. The first captures tell which piece of the stack lies behind
// it; a second of the two must be enough for that.
TEST_F(Runtimes, RubyHasTheFramesBehindItsLargeOne) {
  SKIP_WITHOUT("ruby");
  RecordProgram({"ruby", Source("wait.rb")});
  const auto waits = [](const StackRow& row) { return row.complete() && row.Calls({"start_thread", "rb_vm_exec"}); };
  const Measure whole = recording_.Sum(waits);
  std::printf("%llu of 200 waits have whole stacks\n", static_cast<unsigned long long>(whole.count));
  EXPECT_GE(whole.count, kLeastWaits / 2) << recording_.LossesText();
}

TEST_F(Runtimes, NodeWithAMap) {
  SKIP_WITHOUT("node");
  // Names of functions that are not compiled come with a log.
  RecordProgram({"node", "--perf-basic-prof", "--interpreted-frames-native-stack", "--no-logfile-per-isolate",
                 "--logfile=" + Path("log"), "--no-opt", Source("wait.js")});
  ExpectWaitsIn({"outer ", "middle ", "inner "});
  // A page marks what node interprets, as the outermost function, which it calls once; it is of class 2.
  const PageReader page(PageData(recording_.profile, {}));
  bool is_told = false;
  for (size_t row = 0; row < page.rows(); ++row) {
    is_told |= std::regex_search(page.Stack(row), std::regex("(^|;)JS:~[^;]*:2;"));
  }
  EXPECT_TRUE(is_told);
}

// Without any option the frames are there, but not their names.
TEST_F(Runtimes, NodeIsCompleteWithoutOne) {
  SKIP_WITHOUT("node");
  RecordProgram({"node", Source("wait.js")});
  uint64_t waits = 0;
  for (const StackRow& row : recording_.Rows([](const StackRow& r) { return Has(r, "Builtin_AtomicsWait"); })) {
    EXPECT_TRUE(row.complete()) << row.Text();
    waits += row.row->count;
  }
  EXPECT_GE(waits, kLeastWaits);
}

}  // namespace
}  // namespace offcpu::integration
