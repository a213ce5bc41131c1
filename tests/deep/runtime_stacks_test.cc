// Programs of many languages and libraries, stopped where they wait: no stack that is called complete differs from the
// one that elfutils reads, but where that ends before. What ends early here is printed. Programs that are not installed
// are skipped by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "recorder/process_stacks.h"
#include "runtimes/runtime.h"
#include "symbolize/symbolizer.h"
#include "tests/deep/comparison.h"
#include "tests/harness/harness.h"
#include "tests/harness/java_homes.h"
#include "tests/harness/load.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

// Each waits in several functions below each other, in threads of its own too if its language has them.
constexpr char kJava[] = R"(cat >J.java <<'END'
public class J {
  static void nested(int n, Object o) throws Exception {
    if (n > 0) nested(n - 1, o);
    else if (o == null) Thread.sleep(1000000000);
    else synchronized (o) { o.wait(); }
  }
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < 8; i++) {
      final int n = i;
      new Thread(() -> { try { nested(n, n % 2 == 0 ? null : new Object()); } catch (Exception e) { } }).start();
    }
    nested(10, null);
  }
}
END
javac J.java && exec java )";

constexpr char kRuby[] = R"(exec ruby -e '
def nested(n, f) n == 0 ? f.call : nested(n - 1, f) end
q = Queue.new; r, w = IO.pipe
8.times { |i| Thread.new { nested(i, [-> { sleep }, -> { q.pop }, -> { r.read(1) }][i % 3]) } }
nested(5, -> { sleep })')";

constexpr char kTcl[] = R"(echo 'proc n i { if {$i} { n [expr $i - 1] } else { after 100000000 } }; n 5' >w.tcl
exec tclsh w.tcl)";

constexpr char kOcaml[] = R"(cat >w.ml <<'END'
let rec n i = if i = 0 then Unix.sleepf 1e6 else (n (i - 1); print_char 'x')
let () = let ts = List.init 4 (Thread.create n) in n 5; List.iter Thread.join ts
END
ocamlopt -I +threads unix.cmxa threads.cmxa w.ml -o w && exec ./w)";

constexpr char kLuajit[] = R"(exec luajit -e '
local ffi = require("ffi"); ffi.cdef"int usleep(unsigned);"
local function n(i) if i == 0 then ffi.C.usleep(4000000000) else n(i - 1); ffi.C.usleep(1) end end n(5)')";

constexpr char kPascal[] = R"(cat >w.pas <<'END'
{$mode objfpc}
uses cthreads, sysutils;
procedure n(i: integer); begin if i = 0 then sleep(100000000) else n(i - 1); end;
function t(p: pointer): ptrint; begin n(ptrint(p)); t := 0; end;
var i: integer;
begin for i := 1 to 4 do beginthread(@t, pointer(ptrint(i))); n(25); end.
END
fpc -O2 w.pas >log 2>&1 && exec ./w)";

constexpr char kHaskell[] = R"(cat >w.hs <<'END'
import Control.Concurrent
n :: Int -> IO ()
n 0 = threadDelay 1000000000
n i = n (i - 1) >> putStr ""
main :: IO ()
main = mapM_ (\i -> forkIO (n i)) [1..4] >> n 5
END
ghc -v0 w.hs -o w && exec ./w)";

constexpr char kMusl[] = R"(cat >w.c <<'END'
#include <pthread.h>
#include <poll.h>
#include <semaphore.h>
#include <unistd.h>
sem_t s;
__attribute__((noinline)) int n(int i, int how) {
  if (i > 0) return n(i - 1, how) + 1;
  if (how == 0) sleep(100000);
  else if (how == 1) sem_wait(&s);
  else if (how == 2) poll(0, 0, -1);
  else pause();
  return 1;
}
void *t(void *p) { n((int)(long)p, (int)(long)p); return 0; }
int main() {
  pthread_t id;
  for (long i = 0; i < 4; i++) pthread_create(&id, 0, t, (void *)i);
  return n(5, 0);
}
END
)";

std::string MuslProgram(const std::string& flags) {
  return absl::StrCat(kMusl, "musl-gcc -O2 ", flags, "w.c -o w && exec ./w");
}

constexpr char kSpawners[] = R"(cat >w.c <<'END'
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
void *a(void *p) { system("sleep 100000; :"); return 0; }
void *b(void *p) { char c; FILE *f = popen("sleep 100000; :", "r"); fread(&c, 1, 1, f); return 0; }
void *c(void *p) {
  pid_t i; char *v[] = {"sleep", "100000", 0};
  posix_spawnp(&i, "sleep", 0, 0, v, environ); waitpid(i, 0, 0); return 0;
}
int main() {
  pthread_t id; void *(*f[])(void *) = {a, b, c};
  for (int i = 0; i < 3; i++) pthread_create(&id, 0, f[i], 0);
  pause();
}
END
gcc -O2 w.c -o w 2>log && exec ./w)";

// BOLT moves functions to a new place, and leaves a zero between the old entries of .eh_frame and the new ones.
constexpr char kBolt[] = R"(cat >w.c <<'END'
#include <pthread.h>
#include <unistd.h>
__attribute__((noipa)) int nap(void) { return (int)sleep(100000); }
__attribute__((noipa)) int inner(int n) { volatile char b[1000]; b[n] = 1; return nap() + b[n]; }
__attribute__((noipa)) int outer(int n) { return n ? outer(n - 1) + inner(n) : inner(3) + 1; }
void *t(void *p) { return (void *)(long)outer((int)(long)p); }
int main() {
  pthread_t id;
  for (long i = 0; i < 4; i++) pthread_create(&id, 0, t, (void *)i);
  return outer(5);
}
END
gcc -O2 -Wl,--emit-relocs w.c -o w && )";

// A program without symbols, whose table of Go's runtime is moved to the end of its file and padded to 65 MiB.
constexpr char kLargeGo[] = R"(cat >w.go <<'END'
package main
import "time"
func nested(n int) { if n == 0 { time.Sleep(1 << 60) } else { nested(n - 1) } }
func main() { go nested(3); nested(5) }
END
go build -ldflags '-s -w' -o w w.go && python3 )" OFFCPU_RUNTIMES_DIR R"(/enlarge_go_table.py w 65 && exec ./w)";

// Most of its code has no table, and keeps frame pointers.
constexpr char kChromium[] =
    "exec /usr/lib/chromium/chromium --headless --no-sandbox --disable-gpu --remote-debugging-port=0 "
    "--user-data-dir=$PWD/data about:blank";

RealProgram BoltProgram() {
  for (const char* bolt : {"/usr/bin/llvm-bolt-16", "/usr/bin/llvm-bolt-19"}) {
    if (std::filesystem::exists(bolt)) return {"bolt", bolt, absl::StrCat(kBolt, bolt, " w -o b >log && exec ./b"), 5};
  }
  return {"bolt", "/usr/bin/llvm-bolt-16", "", 5};
}

const std::vector<RealProgram>& Settings() {
  static const std::vector<RealProgram> settings = {
      {"ruby", "/usr/bin/ruby", kRuby, 9},
      {"perl", "/usr/bin/perl", "exec perl -e 'sub n { my $n = shift; $n ? n($n - 1) : sleep 100000 } n(5)'", 1},
      {"php", "/usr/bin/php", "exec php -r 'function n($n) { $n ? n($n - 1) : sleep(100000); } n(5);'", 1},
      {"tcl", "/usr/bin/tclsh", kTcl, 1},
      {"ocaml", "/usr/bin/ocamlopt", kOcaml, 5},
      {"luajit", "/usr/bin/luajit", kLuajit, 1},
      {"erlang", "/usr/bin/erl", "exec erl -noshell -eval 'timer:sleep(100000000), halt().'", 5},
      {"guile", "/usr/bin/guile",
       "exec guile --no-auto-compile -c '(define (n i) (if (= i 0) (sleep 100000) (+ 1 (n (- i 1))))) (n 5)'", 1},
      {"sbcl", "/usr/bin/sbcl",
       "exec sbcl --noinform --eval '(labels ((n (i) (if (= i 0) (sleep 100000) (+ 1 (n (- i 1)))))) (n 5))' --quit",
       1},
      {"r", "/usr/bin/Rscript", "exec Rscript -e 'n <- function(i) if (i == 0) Sys.sleep(1e6) else 1 + n(i - 1); n(5)'",
       1},
      {"pascal", "/usr/bin/fpc", kPascal, 5},
      {"haskell", "/usr/bin/ghc", kHaskell, 1},
      {"musl", "/usr/bin/musl-gcc", MuslProgram(""), 5},
      {"musl_static", "/usr/bin/musl-gcc", MuslProgram("-static "), 5},
      {"spawners", "/usr/bin/gcc", kSpawners, 8},
      {"chromium", "/usr/lib/chromium/chromium", kChromium, 60},
  };
  return settings;
}

class RuntimeStacks : public testing::TestWithParam<RealProgram> {};
INSTANTIATE_TEST_SUITE_P(Of, RuntimeStacks, testing::ValuesIn(Settings()),
                         [](const auto& setting) { return setting.param.name; });

TEST_P(RuntimeStacks, CalledCompleteAreThoseOfElfutils) {
  if (!GetParam().is_installed()) GTEST_SKIP() << GetParam().name << " is not installed";
  EXPECT_EQ(CompareAll(GetParam()).wrong, 0u);
}

TEST(RewrittenStacks, OfBoltAreWhole) {
  if (!BoltProgram().is_installed()) GTEST_SKIP() << "bolt-16 or bolt-19 is not installed";
  const Tally tally = CompareAll(BoltProgram());
  EXPECT_EQ(tally.complete, tally.threads);
  EXPECT_EQ(tally.wrong, 0u);
}

// Expects that all stacks of a program are whole; returns them.
NamedProfile WholeStacksOf(const RealProgram& program) {
  const RunningProgram running(program);
  EXPECT_TRUE(running.AwaitBlocked(program.threads)) << running.errors();
  const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(running.pid(), UnwindOrder());
  EXPECT_TRUE(stacks.ok()) << stacks.status();
  if (!stacks.ok()) return {};
  NamedProfile named = Symbolize(stacks->profile);
  std::erase_if(named.user_stacks, [](const NamedUserStack& stack) { return stack.frames.empty(); });
  EXPECT_FALSE(named.user_stacks.empty());
  for (const NamedUserStack& stack : named.user_stacks) {
    EXPECT_EQ(Name(stack.end), Name(EndReason::kComplete)) << stack.frames.back().name();
  }
  return named;
}

// At 65 MiB a table is not dropped.
TEST(LargeTables, OfGoServeWhole) {
  const RealProgram program = {"go_large", "/usr/bin/go", kLargeGo, 1};
  if (!program.is_installed()) GTEST_SKIP() << "golang-go is not installed";
  for (const NamedUserStack& stack : WholeStacksOf(program).user_stacks) {
    for (const NamedFrame& frame : stack.frames) EXPECT_TRUE(frame.named) << frame.name();
  }
}

// By default a program that imports net is made with cgo, whose code of C starts the threads of the runtime. It has no
// tables where Go's own linker puts it into the program.
TEST(CgoStacks, AreWholeFromWhereThreadsStart) {
  for (const char* flags : {"", "-ldflags '-s -w'", "-ldflags '-linkmode external'"}) {
    const RealProgram program = {"cgo", "/usr/bin/go",
                                 absl::StrCat("cat >w.go <<'END'\n"
                                              "package main\n"
                                              "import (\n\"net\"\n\"os/user\"\n\"time\"\n)\n"
                                              "func main() {\n"
                                              "  user.Current()\n"
                                              "  net.LookupHost(\"localhost\")\n"
                                              "  for i := 0; i < 4; i++ { go time.Sleep(1 << 60) }\n"
                                              "  time.Sleep(1 << 60)\n"
                                              "}\nEND\n"
                                              "CGO_ENABLED=1 go build ",
                                              flags, " -o w w.go && exec ./w"),
                                 3};
    if (!program.is_installed()) GTEST_SKIP() << "golang-go is not installed";
    SCOPED_TRACE(flags);
    const NamedProfile named = WholeStacksOf(program);
    const bool has_started = std::any_of(named.user_stacks.begin(), named.user_stacks.end(), [](const auto& stack) {
      return std::any_of(stack.frames.begin(), stack.frames.end(),
                         [](const NamedFrame& frame) { return frame.name().starts_with("runtime.mstart"); });
    });
    EXPECT_TRUE(has_started);
  }
}

// A function of a Java stack, as the virtual machine's own dump writes it: "J.nested", and "J.java:4" unless it is
// native or its source is not known.
struct DumpedFrame {
  std::string function;
  std::string place;

  bool operator==(const DumpedFrame&) const = default;
  friend void PrintTo(const DumpedFrame& frame, std::ostream* out) { *out << frame.function << " " << frame.place; }
};

// Without the number that the virtual machine has given to a class that it has made itself: "J$$Lambda/0x0123.run". Up
// to JDK 14 the number is only in its dumps, and no part of the class's name.
std::string WithoutNumber(std::string function) {
  const size_t slash = function.find('/');
  if (slash != std::string::npos) function.erase(slash, function.find('.', slash) - slash);
  return function;
}

// By tid: a line that begins with the thread's name in quotes and has its tid as nid, in hexadecimal or not, and a line
// "\tat J.nested(J.java:4)" for each frame, with the module in front of the file.
std::map<pid_t, std::vector<DumpedFrame>> ByJstack(const std::string& jstack, pid_t pid, size_t* nested) {
  std::map<pid_t, std::vector<DumpedFrame>> threads;
  const std::unique_ptr<Program> program = Program::Start({jstack, std::to_string(pid)}, "/dev/null");
  std::string output;
  if (program != nullptr) program->Wait(&output);
  pid_t tid = 0;
  *nested = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(output, '\n'))) {
    const size_t nid = line.find(" nid=");
    if (line.starts_with('"')) tid = nid == std::string::npos ? 0 : std::stoi(line.substr(nid + 5), nullptr, 0);
    if (tid == 0 || !line.starts_with("\tat ")) continue;
    const size_t open = line.find('(');
    std::string place = line.substr(open + 1, line.rfind(')') - open - 1);
    place = place.substr(place.rfind('/') + 1);
    if (place.find(':') == std::string::npos) place.clear();
    threads[tid].push_back({WithoutNumber(line.substr(4, open - 4)), place});
    if (line.find("J.nested") != std::string::npos) ++*nested;
  }
  return threads;
}

// Those of the virtual machine's functions that are of Java.
std::vector<DumpedFrame> JavaFrames(const UserStack& stack) {
  std::vector<DumpedFrame> frames;
  for (const Frame& frame : stack.frames) {
    const RuntimeCode* code = AsRuntimeCode(frame.code);
    if (code == nullptr) continue;
    for (const CodeLine& line : code->LinesAt(frame.address)) {
      if (line.function.find('.') == std::string::npos) continue;  // a stub
      frames.push_back({WithoutNumber(line.function), line.line == 0 ? "" : absl::StrCat(line.file, ":", line.line)});
    }
  }
  return frames;
}

struct JavaSetting {
  std::string name;
  std::string options;
};

class JavaStacks : public testing::TestWithParam<JavaSetting> {};
INSTANTIATE_TEST_SUITE_P(With, JavaStacks,
                         testing::Values(JavaSetting{"NoOptions", ""}, JavaSetting{"Interpreter", "-Xint"},
                                         JavaSetting{"CompilerForAll", "-Xcomp"},
                                         JavaSetting{"FirstCompiler", "-Xcomp -XX:TieredStopAtLevel=1"},
                                         JavaSetting{"FramePointers", "-Xcomp -XX:+PreserveFramePointer"},
                                         JavaSetting{"AnotherCollector",
                                                     "-XX:+UnlockExperimentalVMOptions -XX:+UseZGC"}),
                         [](const auto& setting) { return setting.param.name; });

// Holds of each Java virtual machine that is installed. All its threads that have Java's frames wait.
TEST_P(JavaStacks, AreWholeAndThoseOfItsOwnDump) {
  const std::vector<std::string> homes = JavaHomes();
  if (homes.empty()) GTEST_SKIP() << "java is not installed";
  for (const std::string& home : homes) {
    SCOPED_TRACE(home);
    const RealProgram program = {"java", "",
                                 absl::StrCat("PATH=", home, "/bin:$PATH; ", kJava, GetParam().options, " J"), 20};
    const RunningProgram running(program);
    // A dump is asked for by a signal that ends any process that does not know it: the compiler, and a machine that is
    // not up yet.
    const std::string exe = absl::StrCat("/proc/", running.pid(), "/exe");
    ASSERT_TRUE(HoldsWithin(std::chrono::seconds(60), [&exe] {
      std::error_code error;
      return std::filesystem::read_symlink(exe, error).filename() == "java";
    })) << running.errors();
    ASSERT_TRUE(running.AwaitBlocked(program.threads)) << running.errors();
    constexpr size_t kNested = 11 + 36;  // in main and in eight threads
    std::map<pid_t, std::vector<DumpedFrame>> dump;
    size_t nested = 0;
    ASSERT_TRUE(HoldsWithin(std::chrono::seconds(60), [&] {
      dump = ByJstack(home + "/bin/jstack", running.pid(), &nested);
      return nested == kNested;
    })) << running.errors();
    const absl::StatusOr<ProcessStacks> stacks = ReadProcessStacks(running.pid(), UnwindOrder());
    ASSERT_TRUE(stacks.ok()) << stacks.status();
    size_t threads = 0;
    for (const ProfileRow& row : stacks->profile.rows) {
      const UserStack& stack = stacks->profile.user_stacks[row.user_stack].stack;
      const auto dumped = dump.find(row.tid);
      if (dumped == dump.end() || stack.frames.empty()) continue;
      ++threads;
      EXPECT_EQ(Name(stack.end), Name(EndReason::kComplete)) << row.tid;
      EXPECT_EQ(JavaFrames(stack), dumped->second) << row.tid;
    }
    EXPECT_GE(threads, 9u);
  }
}

// Debian's musl has no tables. Behind the system call there is what gdb finds by the code: the function that has made
// it.
TEST(StacksByGdb, OfMuslAreAsLongAsThoseOfGdb) {
  for (const char* flags : {"", "-static "}) {
    const RealProgram program = {"musl", "/usr/bin/musl-gcc", MuslProgram(flags), 5};
    if (!program.is_installed() || !IsInstalled("gdb")) GTEST_SKIP() << "musl-gcc or gdb is not installed";
    const Tally tally = CompareAll(program, Reference::kGdb);
    EXPECT_EQ(tally.identical + tally.longer, tally.threads);
  }
}

}  // namespace
}  // namespace offcpu::integration
