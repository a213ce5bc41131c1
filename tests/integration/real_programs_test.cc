// Programs as Debian ships them, with many threads that all wait: their stacks as offcpu reads them from outside are
// those that elfutils reads. Of the same instant: the programs are stopped meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "process/memory.h"
#include "recorder/process_stacks.h"
#include "tests/integration/harness.h"
#include "tests/integration/real_program.h"

namespace offcpu::integration {
namespace {

using std::chrono::steady_clock;

using Pcs = std::vector<uint64_t>;

struct OurStack {
  Pcs pcs;
  std::string end;  // why the walk ended and, unless it is whole, where

  bool operator==(const OurStack&) const = default;
};

OurStack OursOf(const ProcessStacks& read, const ProfileRow& row) {
  const UserStackEntry& entry = read.profile.user_stacks[row.user_stack];
  if (entry.missing != NoUserStack::kNone) return {.pcs = {}, .end = std::string(Name(entry.missing))};
  OurStack ours = {.pcs = read.pcs[row.user_stack], .end = std::string(Name(entry.stack.end))};
  if (entry.stack.end == EndReason::kComplete || entry.stack.frames.empty()) return ours;
  const Module* module = entry.stack.frames.back().module;
  absl::StrAppend(&ours.end, " in ", module == nullptr ? "generated code" : module->path);
  return ours;
}

std::map<pid_t, OurStack> ByOffcpu(pid_t pid) {
  std::map<pid_t, OurStack> stacks;
  const absl::StatusOr<ProcessStacks> read = ReadProcessStacks(pid, UnwindOrder());
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return stacks;
  for (const ProfileRow& row : read->profile.rows) stacks[row.tid] = OursOf(*read, row);
  return stacks;
}

// "TID 17:", and below it a line "#0  0x00007f6db7d26f36" for each frame.
std::map<pid_t, Pcs> ByElfutils(pid_t pid) {
  std::map<pid_t, Pcs> stacks;
  const std::unique_ptr<Program> program =
      Program::Start({"eu-stack", "-q", "-n", "600", "-p", std::to_string(pid)}, "/dev/null");
  std::string output;
  if (program != nullptr) program->Wait(&output);
  pid_t tid = 0;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(output, '\n'))) {
    if (line.starts_with("TID ")) tid = std::atoi(&line[4]);
    if (!line.starts_with('#')) continue;
    const size_t at = line.find("0x");
    uint64_t pc = 0;
    if (at == std::string::npos) continue;
    std::from_chars(&line[at + 2], &line[line.size()], pc, 16);
    stacks[tid].push_back(pc);
  }
  return stacks;
}

// Do the bytes before `pc` end in a call? E8 with four bytes of distance, or FF /2 in any of its lengths.
bool FollowsCall(const Memory& memory, uint64_t pc) {
  std::array<uint8_t, 8> code = {};
  if (!memory.Read(pc - code.size(), std::as_writable_bytes(std::span(code)))) return false;
  if (code[3] == 0xe8) return true;
  for (size_t length = 2; length <= 7; ++length) {
    const uint8_t* call = &code[code.size() - length];
    if (call[0] == 0xff && (call[1] >> 3 & 7) == 2) return true;
  }
  return false;
}

std::string Hex(const Pcs& pcs) {
  return absl::StrJoin(pcs, " ", [](std::string* out, uint64_t pc) { absl::StrAppendFormat(out, "%x", pc); });
}

struct Tally {
  uint64_t threads = 0;
  uint64_t identical = 0;
  uint64_t longer = 0;  // than what elfutils found, by frames that were called

  void Add(const Tally& other) {
    threads += other.threads;
    identical += other.identical;
    longer += other.longer;
  }
};

// Of the threads of a stopped process.
class Comparison {
 public:
  Comparison(std::string name, pid_t pid) : name_(std::move(name)), pid_(pid) {}

  Tally Run() {
    const std::map<pid_t, OurStack> before = ByOffcpu(pid_);
    const std::map<pid_t, Pcs> reference = ByElfutils(pid_);
    const std::map<pid_t, OurStack> ours = ByOffcpu(pid_);
    EXPECT_TRUE(before == ours) << name_ << " has not been stopped all the time";
    for (const pid_t tid : Threads(pid_)) {
      ++tally_.threads;
      const auto our_stack = ours.find(tid);
      const auto their_stack = reference.find(tid);
      Compare(tid, our_stack == ours.end() ? OurStack{.pcs = {}, .end = "not listed"} : our_stack->second,
              their_stack == reference.end() ? Pcs() : their_stack->second);
    }
    return tally_;
  }

 private:
  void Compare(pid_t tid, const OurStack& ours, const Pcs& reference) {
    if (ours.pcs == reference && !reference.empty()) {
      ++tally_.identical;
      return;
    }
    const auto [our_end, their_end] =
        std::mismatch(ours.pcs.begin(), ours.pcs.end(), reference.begin(), reference.end());
    const ProcessMemory memory(pid_);
    const bool they_end = their_end == reference.end() && !reference.empty();
    const bool longer =
        they_end && std::all_of(our_end, ours.pcs.end(), [&](uint64_t pc) { return FollowsCall(memory, pc); });
    if (longer) ++tally_.longer;
    const std::string reason = longer                      ? "elfutils ends early"
                               : they_end                  ? "elfutils ends early, but these are no callers"
                               : our_end == ours.pcs.end() ? "offcpu ends early"
                                                           : "another caller";
    std::printf("  %s, thread %d: %s\n    offcpu:   %s (%s)\n    elfutils: %s\n", name_.c_str(), tid, reason.c_str(),
                Hex(ours.pcs).c_str(), ours.end.c_str(), Hex(reference).c_str());
  }

  std::string name_;
  pid_t pid_;
  Tally tally_;
};

// Python's own ways to wait, each in 16 threads.
constexpr char kPython[] = R"(cat >p.py <<'END'
import queue, select, socket, threading, time
pairs = [socket.socketpair() for _ in range(16)]
lock, event, items = threading.Lock(), threading.Event(), queue.Queue()
lock.acquire()
def wait(f, *a): f(*a)
def nested(n, f, *a): nested(n - 1, f, *a) if n else wait(f, *a)
for i in range(16):
  for f, a in ((lock.acquire, ()), (pairs[i][0].recv, (1,)), (items.get, ()), (select.select, ([pairs[i][1]], [], []))):
    threading.Thread(target=nested, args=(i, f, *a), daemon=True).start()
event.wait()
END
exec /usr/bin/python3 p.py)";

constexpr char kNode[] = R"(cat >n.js <<'END'
const { Worker } = require('worker_threads');
const fs = require('fs');
for (let i = 0; i < 8; i++) fs.stat('/', () => {});
for (let i = 0; i < 6; i++) new Worker('setInterval(() => {}, 1e6)', { eval: true });
new Worker('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', { eval: true });
setInterval(() => {}, 1e6);
END
exec node n.js)";

constexpr char kGo[] = R"(cat >g.go <<'END'
package main

import "syscall"

func wait(fd int) { var b [1]byte; syscall.Read(fd, b[:]) }
func nested(n, fd int) { if n == 0 { wait(fd) } else { nested(n-1, fd) } }
func main() {
	for i := 0; i < 32; i++ {
		var fds [2]int
		syscall.Pipe(fds[:])
		go nested(i, fds[0])
	}
	select {}
}
END
GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=off HOME=$PWD go build -o g g.go && exec ./g)";

constexpr char kRipgrep[] = R"(for i in $(seq 16); do mkfifo f$i; done
exec rg -j 16 text f*)";

constexpr char kBash[] = R"(mkfifo f
exec bash -c 'f() { if (($1)); then f $(($1 - 1)); else read -r x <f; fi; }
for i in 1 2 3 4; do f $i & done; (sleep 1000 | cat | sort | bash -c "read x; :") & wait')";

const std::vector<RealProgram>& Settings() {
  static const std::vector<RealProgram> settings = {
      {"nginx", "/usr/sbin/nginx", kNginx, 133},
      {"redis-server", "/usr/bin/redis-server",
       "exec redis-server --port 0 --unixsocket $PWD/s --io-threads 8 --io-threads-do-reads yes --hz 1 --save ''", 11},
      {"memcached", "/usr/bin/memcached", "exec memcached -t 32 -u root -s $PWD/s", 36},
      {"python3", "/usr/bin/python3", kPython, 65},
      {"node", "/usr/bin/node", kNode, 17},
      {"go", "/usr/bin/go", kGo, 33},
      {"ripgrep", "/usr/bin/rg", kRipgrep, 17},
      {"postgres", "/usr/bin/pg_lsclusters", kPostgres, 6},
      {"bash", "/bin/bash", kBash, 9},
  };
  return settings;
}

Tally CompareAll(const RealProgram& setting) {
  Tally tally;
  const auto began = steady_clock::now();
  const RunningProgram running(setting);
  if (!running.AwaitBlocked(setting.threads) || !running.Stop()) {
    ADD_FAILURE() << setting.name << " does not come to wait: " << running.errors();
    return tally;
  }
  for (const pid_t pid : running.pids()) tally.Add(Comparison(setting.name, pid).Run());
  EXPECT_GE(tally.threads, setting.threads) << setting.name;
  std::printf("%s: %lu threads, %lu identical, %lu longer (%.1f s)\n", setting.name.c_str(), tally.threads,
              tally.identical, tally.longer, std::chrono::duration<double>(steady_clock::now() - began).count());
  return tally;
}

TEST(RealPrograms, StacksAreThoseOfElfutils) {
  unsetenv("DEBUGINFOD_URLS");  // of which elfutils would fetch what is not needed here
  Tally all;
  size_t programs = 0;
  for (const RealProgram& setting : Settings()) {
    if (!setting.is_installed()) {
      std::printf("%s is not installed: skipped\n", setting.name.c_str());
      continue;
    }
    all.Add(CompareAll(setting));
    ++programs;
  }
  const uint64_t right = all.identical + all.longer;
  std::printf("%lu programs, %lu threads: %lu identical, %lu longer: %.2f %%\n", programs, all.threads, all.identical,
              all.longer, 100.0 * static_cast<double>(right) / static_cast<double>(all.threads));
  EXPECT_GE(static_cast<double>(right), 0.995 * static_cast<double>(all.threads));
  if (programs < Settings().size()) return;
  EXPECT_GE(all.threads, 300u);
}

}  // namespace
}  // namespace offcpu::integration
