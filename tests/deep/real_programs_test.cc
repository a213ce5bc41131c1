// Programs as Debian ships them, with many threads that all wait: their stacks as offcpu reads them from outside are
// those that elfutils reads. Both are of the same instant: the programs are stopped meanwhile.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/deep/comparison.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

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

// The first thread, too, waits in a call of a goroutine: where it waits for one, elfutils finds callers beyond the base
// of its stack.
constexpr char kGo[] = R"(cat >g.go <<'END'
package main

import ("runtime"; "syscall")

func wait(fd int) { var b [1]byte; syscall.Read(fd, b[:]) }
func nested(n, fd int) { if n == 0 { wait(fd) } else { nested(n-1, fd) } }
func init() { runtime.LockOSThread() }
func main() {
	for i := 0; i < 32; i++ {
		var fds [2]int
		syscall.Pipe(fds[:])
		go nested(i, fds[0])
	}
	var fds [2]int
	syscall.Pipe(fds[:])
	wait(fds[0])
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

TEST(RealPrograms, StacksAreThoseOfElfutils) {
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
  EXPECT_EQ(all.wrong, 0u) << "said to be complete";
  EXPECT_GE(static_cast<double>(right), 0.995 * static_cast<double>(all.threads));
  if (programs < Settings().size()) return;
  EXPECT_GE(all.threads, 300u);
}

}  // namespace
}  // namespace offcpu::integration
