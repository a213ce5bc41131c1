// Programs of many languages and libraries, stopped where they wait: no stack that is called complete differs from the
// one that elfutils reads, but where that ends before. What ends early here is printed. Programs that are not installed
// are skipped by name.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/integration/comparison.h"
#include "tests/integration/load.h"
#include "tests/integration/real_program.h"

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

const std::vector<RealProgram>& Settings() {
  static const std::vector<RealProgram> settings = {
      {"java", "/usr/bin/javac", std::string(kJava) + "J", 20},
      {"java_compiled", "/usr/bin/javac", std::string(kJava) + "-Xcomp J", 20},
      {"java_frame_pointer", "/usr/bin/javac", std::string(kJava) + "-Xcomp -XX:+PreserveFramePointer J", 20},
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
      {"musl", "/usr/bin/musl-gcc", MuslProgram(""), 5},
      {"musl_static", "/usr/bin/musl-gcc", MuslProgram("-static "), 5},
      {"spawners", "/usr/bin/gcc", kSpawners, 8},
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
