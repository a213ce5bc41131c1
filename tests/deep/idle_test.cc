// Debian's own servers, with nothing to do and with real waits of known lengths in the same threads: the patterns that
// are shipped hide the former and none of the latter. The servers' own clocks say how long a wait was, or the test,
// which let it last so long. Servers that are not installed are skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/deep/judged.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

// One worker whose requests write to the log file that they name, so that a log can be made to block it.
constexpr char kLoggingNginx[] = R"(mkdir log
cat >n.conf <<'END'
user root; worker_processes 1; daemon off;
thread_pool default threads=8 max_queue=100;
events { }
END
echo "pid $PWD/pid; error_log $PWD/errors;
http { server { listen unix:$PWD/socket; access_log $PWD/log/\$arg_log; location / { aio threads; root $PWD; } } }" >>n.conf
exec /usr/sbin/nginx -p $PWD -c $PWD/n.conf)";

constexpr char kNode[] = R"sh(exec node -e "require('http').createServer(() => {}).listen('s')")sh";

constexpr char kGo[] = R"(cat >g.go <<'END'
package main

import (
	"os"
	"os/signal"
)

func main() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	<-c
}
END
GOCACHE=$PWD/cache GOFLAGS=-mod=mod GO111MODULE=off HOME=$PWD go build -o g g.go && exec ./g)";

const RealProgram kServers[] = {
    {"nginx", "/usr/sbin/nginx", kNginx, 133},
    {"redis-server", "/usr/bin/redis-server",
     "exec redis-server --port 0 --unixsocket $PWD/s --io-threads 4 --io-threads-do-reads yes --appendonly yes "
     "--enable-debug-command yes --save ''",
     7},
    {"postgres", "/usr/bin/pg_lsclusters", kPostgres, 6},
    // Its maintainer of lists sleeps for a time, and that of its table waits for more than for work.
    {"memcached", "/usr/bin/memcached", "exec memcached -t 8 -u root -s $PWD/s -o no_lru_maintainer,no_hashexpand", 9},
    {"node", "/usr/bin/node", kNode, 7},
    {"go", "/usr/bin/go", kGo, 4},
};

const RealProgram& Server(const std::string& name) {
  return *std::find_if(std::begin(kServers), std::end(kServers),
                       [&](const RealProgram& server) { return server.name == name; });
}

class IdleServers : public testing::TestWithParam<RealProgram> {};

TEST_P(IdleServers, WithNothingToDoAreHidden) {
  if (!GetParam().is_installed()) GTEST_SKIP() << GetParam().name << " is not installed";
  ExpectHiddenWithNothingToDo(GetParam(), Nothing);
}

INSTANTIATE_TEST_SUITE_P(Debian, IdleServers, testing::ValuesIn(kServers),
                         [](const auto& server) { return server.param.name.substr(0, 5); });

// psql's answers, one a line. `input` is a shell's commands that print to it.
std::vector<std::string> Psql(const RunningProgram& server, const std::string& input, const std::string& after = "") {
  const std::string psql =
      absl::StrCat("{ ", input, "\n} | $(ls -d /usr/lib/postgresql/*/bin | tail -1)/psql -X -q -A -t",
                   " -U postgres -h $PWD/d postgres ", after);
  std::vector<std::string> lines = absl::StrSplit(RunShell(server, psql), '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

constexpr char kPid[] = "echo 'select pg_backend_pid();'; ";
constexpr char kNow[] = "echo 'select extract(epoch from clock_timestamp());'; ";

// A backend, and for how long something took it, by its own clock.
struct Backend {
  pid_t pid = 0;
  uint64_t ns = 0;
};

// Reads "PID, TIME, TIME".
Backend BackendOf(const std::vector<std::string>& lines) {
  double from = 0;
  double to = 0;
  Backend backend;
  const bool is_read = lines.size() >= 3 && absl::SimpleAtoi(lines[0], &backend.pid) &&
                       absl::SimpleAtod(lines[1], &from) && absl::SimpleAtod(lines.back(), &to);
  EXPECT_TRUE(is_read) << lines.size() << " lines";
  backend.ns = is_read ? static_cast<uint64_t>((to - from) * 1e9) : 0;
  return backend;
}

// A second at least was waited so, and all that it took is reported: the wait, and what the backend waited for before
// and after it.
void ExpectTold(const Judged& judged, const Backend& backend, uint64_t wait_ns, const std::string& what) {
  EXPECT_GE(wait_ns, Ms(1000)) << what << ": " << judged.ShownText(Of(backend.pid));
  EXPECT_GE(judged.ShownNs(Of(backend.pid)) + judged.HiddenNs(Of(backend.pid)), backend.ns * 95 / 100) << what;
}

void ExpectShown(const Judged& judged, const Backend& backend, const std::string& function) {
  ExpectTold(judged, backend, judged.ShownNs(OfIn(backend.pid, function)), function);
  EXPECT_EQ(judged.HiddenNs(OfIn(backend.pid, function)), 0u) << function;
}

TEST(IdlePostgres, LocksClientsAndTheLogAreNoWork) {
  const RealProgram& program = Server("postgres");
  if (!program.is_installed()) GTEST_SKIP() << "postgres is not installed";
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  Psql(server, "echo 'create table t (line text);'");
  Backend locked, copied_from, copied_to, slept, idle, in_transaction;
  std::vector<std::string> commits;
  const auto judged = Judged::Record(server, [&] {
    std::deque<std::thread> threads;
    threads.emplace_back([&] {
      Psql(server, "echo 'begin; lock table t;'; echo '\\! touch held'; echo 'select pg_sleep(3); commit;'");
    });
    threads.emplace_back([&] {
      locked = BackendOf(Psql(server, absl::StrCat("until [ -e held ]; do sleep 0.1; done; ", kPid, kNow,
                                                   "echo 'begin; lock table t; commit;'; ", kNow)));
    });
    threads.emplace_back([&] {
      copied_from =
          BackendOf(Psql(server, absl::StrCat("sleep 3; ", kPid, kNow, "echo 'copy t from stdin;'; sleep 1.5; ",
                                              "echo a line; echo '\\.'; ", kNow)));
    });
    threads.emplace_back([&] {
      copied_to = BackendOf(Psql(server,
                                 absl::StrCat(kPid, kNow, "echo \"copy (select repeat('x', 1000) from ",
                                              "generate_series(1, 30000)) to stdout;\"; ", kNow),
                                 "| { read -r pid; echo $pid; read -r now; echo $now; sleep 1.5; tail -n 1; }"));
    });
    threads.emplace_back([&] {
      // It loads the library of the language, which nobody else has, and so has to be there still when its code is
      // looked at: its input ends long after it has slept.
      slept = BackendOf(Psql(
          server, absl::StrCat(kPid, kNow, "echo \"do 'begin perform pg_sleep(1.2); end';\"; ", kNow, "sleep 4; ")));
    });
    threads.emplace_back([&] { idle = BackendOf(Psql(server, absl::StrCat(kPid, kNow, "sleep 2; ", kNow))); });
    threads.emplace_back([&] {
      in_transaction = BackendOf(Psql(server, absl::StrCat("echo 'begin;'; ", kPid, kNow, "sleep 2; ", kNow)));
    });
    threads.emplace_back([&] {
      commits = Psql(server, absl::StrCat(kPid, "echo 'create table c (i int);'; ",
                                          "for i in $(seq 50); do echo \"insert into c values ($i);\"; done"));
    });
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_NE(judged, nullptr);
  ExpectShown(*judged, locked, "ProcSleep");
  ExpectShown(*judged, copied_from, "DoCopy");
  copied_to.ns = Ms(1500);  // for as long as nobody reads; for the rest it makes what it sends
  ExpectShown(*judged, copied_to, "secure_write");
  ExpectShown(*judged, slept, "pg_sleep");
  for (const Backend& backend : {idle, in_transaction}) {
    ExpectTold(*judged, backend, judged->HiddenNs(Of(backend.pid)), "between two commands");
  }
  pid_t committer = 0;
  ASSERT_TRUE(!commits.empty() && absl::SimpleAtoi(commits[0], &committer));
  EXPECT_GT(judged->ShownNs(OfIn(committer, "XLogFlush")), 0u) << "or this file system does not wait for disks\n"
                                                               << judged->ShownText(Of(committer));
  EXPECT_EQ(judged->HiddenNs(In("XLogFlush")), 0u);
  judged->ExpectItAddsUp();
}

TEST(IdleRedis, TheDiskAndWhatTakesLongAreNoWork) {
  const RealProgram& program = Server("redis-server");
  if (!program.is_installed()) GTEST_SKIP() << "redis-server is not installed";
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  const std::vector<pid_t> before = server.pids();
  const auto judged = Judged::Record(server, [&] {
    RunShell(server,
             "redis-cli -s s debug sleep 1.2; redis-benchmark -s s -n 3000 -d 1000 -t set -q; sleep 1.5; "
             "redis-cli -s s set a b; redis-cli -s s bgsave; sleep 1; redis-cli -s s config set appendfsync always; "
             "redis-cli -s s set a c; redis-cli -s s set a d");
  });
  ASSERT_NE(judged, nullptr);
  // Its only call of nanosleep.
  EXPECT_GE(judged->ShownNs([](const StackRow& row) { return row.Has("clock_nanosleep") || row.Has("nanosleep"); }),
            Ms(1200))
      << judged->ShownText(Anything);
  const OneWait thread_syncs = [](const StackRow& row) { return row.comm == "bio_aof_fsync" && row.Has("fdatasync"); };
  const OneWait main_syncs = [](const StackRow& row) { return row.comm == "redis-server" && row.Has("fdatasync"); };
  EXPECT_GT(judged->ShownNs(thread_syncs), 0u) << "or this file system does not wait for disks";
  EXPECT_GT(judged->ShownNs(main_syncs), 0u);
  EXPECT_EQ(judged->HiddenNs(thread_syncs) + judged->HiddenNs(main_syncs), 0u);
  const OneWait of_child = [&](const StackRow& row) {
    return std::find(before.begin(), before.end(), row.process->key.pid) == before.end();
  };
  EXPECT_GT(judged->ShownNs(of_child), 0u) << "it writes and syncs a file";
  EXPECT_EQ(judged->HiddenNs(of_child), 0u) << "it has work from its first moment to its last";
  EXPECT_THAT(judged->Patterns(), testing::IsSupersetOf({"redis: event loop", "redis: background thread"}));
  judged->ExpectItAddsUp();
}

TEST(IdleNginx, ALogThatBlocksIsNoWork) {
  const RealProgram program = {"nginx", "/usr/sbin/nginx", kLoggingNginx, 10};
  if (!program.is_installed()) GTEST_SKIP() << "nginx is not installed";
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  const auto judged = Judged::Record(server, [&] {
    // The worker answers, and then opens a fifo that nobody reads for a while.
    RunShell(server,
             "head -c 5000000 /dev/zero >file; mkfifo log/fifo; get() { curl -s --unix-socket socket "
             "http://x/file?log=$1; }; "
             "for i in 1 2 3 4 5; do get a >/dev/null; done; get fifo >/dev/null; sleep 1.5; timeout 10 cat log/fifo; "
             "get a >/dev/null");
  });
  ASSERT_NE(judged, nullptr);
  const OneWait opens = [](const StackRow& row) { return row.Has("open64") || row.Has("open"); };
  // The worker gets there a while after its answer.
  EXPECT_GE(judged->ShownNs(opens), Ms(1000)) << judged->ShownText(Anything);
  EXPECT_EQ(judged->HiddenNs(opens), 0u);
  EXPECT_THAT(judged->Patterns(), testing::UnorderedElementsAre("nginx: event loop", "nginx: thread pool",
                                                                "nginx: master, waiting for signals"));
  judged->ExpectItAddsUp();
}

}  // namespace
}  // namespace offcpu::integration
