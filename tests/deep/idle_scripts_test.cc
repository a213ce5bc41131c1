// Servers that run scripts and tasks of others, with nothing to do and with waits of known lengths in what they run:
// the patterns that are shipped hide the former and none of the latter. Servers that are not installed are skipped.
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/deep/judged.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

// The last of the files that a pattern of the shell names: programs with a version in their names. Empty: there is
// none.
std::string Find(const char* pattern) {
  glob_t found = {};
  const bool is_found = glob(pattern, 0, nullptr, &found) == 0;
  std::string path = is_found ? found.gl_pathv[found.gl_pathc - 1] : "";
  globfree(&found);
  return path;
}

// One worker. What a script waits for is what its query names; it takes a second.
constexpr char kPhp[] = R"sh(cat >wait.php <<'END'
<?php
switch ($_SERVER['QUERY_STRING']) {
  case 'sleep': usleep(1000000); break;
  case 'database':
    [$database, $silent] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    stream_set_timeout($database, 1);
    fread($database, 1);
    break;
  case 'accept': @stream_socket_accept(stream_socket_server('unix://listener'), 1); break;
  case 'command': shell_exec('sleep 1.2'); break;
}
END
cat >client.py <<'END'
import socket, struct, sys, time

def record(kind, body):
    return struct.pack('>BBHHBB', 1, kind, 1, len(body), 0, 0) + body

def pair(key, value):
    return bytes([len(key), len(value)]) + key + value

def receive(size):
    data = b''
    while len(data) < size:
        more = server.recv(size - len(data))
        assert more, 'the server has closed the connection'
        data += more
    return data

for query in sys.argv[1:]:
    if query == 'nothing':
        time.sleep(1)
        continue
    server = socket.socket(socket.AF_UNIX)
    server.connect('socket')
    body = b'x' if query == 'body' else b''
    params = pair(b'SCRIPT_FILENAME', b'wait.php') + pair(b'QUERY_STRING', query.encode())
    params += pair(b'REQUEST_METHOD', b'POST') + pair(b'CONTENT_LENGTH', b'%d' % len(body))
    server.sendall(record(1, struct.pack('>H6x', 1)) + record(4, params) + record(4, b''))
    if body:
        time.sleep(1.5)  # the script needs a part of it to get to where it waits
        server.sendall(record(5, body))
    server.sendall(record(5, b''))
    kind = 0
    while kind != 3:  # the end of the request
        version, kind, request, length, padding = struct.unpack('>BBHHBx', receive(8))
        receive(length + padding)
    server.close()
    print(query)
END
cat >php.conf <<END
[global]
daemonize = no
error_log = $PWD/errors
[pool]
user = root
group = root
listen = $PWD/socket
pm = static
pm.max_children = 1
END
)sh";

RealProgram Php() {
  const std::string program = Find("/usr/sbin/php-fpm*");
  return {"php-fpm", program, absl::StrCat(kPhp, "exec ", program, " -R -F -n -y php.conf"), 2};
}

TEST(IdlePhp, WithNothingToDoIsHidden) {
  if (!Php().is_installed()) GTEST_SKIP() << "php-fpm is not installed";
  ExpectHiddenWithNothingToDo(Php(), Nothing);
}

TEST(IdlePhp, WhatAScriptWaitsForIsNoWork) {
  if (!Php().is_installed()) GTEST_SKIP() << "php-fpm is not installed";
  const RunningProgram server(Php());
  ASSERT_TRUE(server.AwaitBlocked(Php().threads)) << server.errors();
  const pid_t worker = server.pids().back();
  const auto judged = Judged::Record(server, [&] {
    EXPECT_EQ(RunShell(server, "python3 client.py nothing sleep database accept command nothing body"),
              "sleep\ndatabase\naccept\ncommand\nbody\n");
  });
  ASSERT_NE(judged, nullptr);
  for (const char* function :
       {"usleep", "zif_fread", "php_stream_xport_accept", "_php_stream_copy_to_mem", "sapi_read_post_block"}) {
    EXPECT_GE(judged->ShownNs(OfIn(worker, function)), Ms(990)) << function << ":\n" << judged->ShownText(Of(worker));
  }
  for (const char* function : {"php_execute_script", "sapi_read_post_block"}) {
    EXPECT_EQ(judged->HiddenNs(In(function)), 0u) << function;
  }
  EXPECT_GE(judged->HiddenNs(Of(worker)), Ms(1980)) << "between requests\n" << judged->ShownText(Of(worker));
  EXPECT_THAT(judged->Patterns(),
              testing::UnorderedElementsAre("php-fpm: master", "php-fpm: worker, waiting for a request"));
  judged->ExpectItAddsUp();
}

// One thread for requests. What they wait for is what their path names; it takes a second.
constexpr char kPuma[] = R"sh(cat >config.ru <<'END'
require 'monitor'
run lambda { |env|
  mutex, condition, queue = Mutex.new, ConditionVariable.new, Queue.new
  case env['PATH_INFO']
  when '/sleep' then sleep 1
  when '/thread' then Thread.new { sleep 1 }.join
  when '/queue'
    Thread.new { sleep 1; queue << 1 }
    queue.pop
  when '/condition'
    Thread.new { sleep 1; mutex.synchronize { condition.signal } }
    mutex.synchronize { condition.wait mutex }
  when '/until' then mutex.synchronize { condition.wait mutex, 1 }
  when '/monitor'
    monitor = Monitor.new
    monitor.synchronize { monitor.new_cond.wait 1 }
  when '/mutex'
    Thread.new { mutex.synchronize { sleep 1.1 } }
    sleep 0.1
    mutex.synchronize { }
  when '/command' then `sleep 1`
  when '/database'
    database, silent = UNIXSocket.pair
    IO.select [database], nil, nil, 1
  end
  [200, {}, ["#{env['PATH_INFO']}\n"]]
}
END
exec puma -b unix://$PWD/socket -t 1:1 -e production --no-config config.ru)sh";

// What waits for clients, sleeps and starts: the pool, the reactor, its housekeeping, and the main thread.
const RealProgram kPumaProgram = {"puma", "/usr/bin/puma", kPuma, 6};

// The library of Ruby 3.3 has no names that tell the pool from requests, which are shown with it.
bool HasRubyNames() { return !Find("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1").empty(); }

// Its main thread waits for the end of the others.
TEST(IdlePuma, WithNothingToDoIsHidden) {
  if (!kPumaProgram.is_installed()) GTEST_SKIP() << "puma is not installed";
  if (!HasRubyNames()) GTEST_SKIP() << "this is not Ruby 3.1";
  ExpectHiddenWithNothingToDo(kPumaProgram, In("ruby_run_node"));
}

TEST(IdlePuma, WhatARequestWaitsForIsNoWork) {
  if (!kPumaProgram.is_installed()) GTEST_SKIP() << "puma is not installed";
  const RunningProgram server(kPumaProgram);
  ASSERT_TRUE(server.AwaitBlocked(kPumaProgram.threads)) << server.errors();
  const std::vector<std::string> waits = {"sleep", "thread",  "queue",   "condition", "until",
                                          "mutex", "command", "monitor", "database"};
  std::string requests;
  std::string answers;
  for (const std::string& wait : waits) {
    absl::StrAppend(&requests, " http://x/", wait);
    absl::StrAppend(&answers, "/", wait, "\n");
  }
  const auto judged = Judged::Record(server, [&] {
    EXPECT_EQ(RunShell(server, absl::StrCat("sleep 1; curl -s --unix-socket socket", requests, "; sleep 1")), answers);
  });
  ASSERT_NE(judged, nullptr);
  // Requests are called by the pool as a method; what that does itself is not below it.
  const OneWait of_pool = [](const StackRow& row) { return row.comm == "puma srv tp 001"; };
  const OneWait of_request = HasRubyNames() ? In("rb_method_call_with_block_kw") : of_pool;
  EXPECT_GE(judged->ShownNs(of_request), Ms(990) * waits.size()) << judged->ShownText(Anything);
  EXPECT_EQ(judged->HiddenNs(of_request), 0u);
  if (HasRubyNames()) {
    EXPECT_GE(judged->HiddenNs(of_pool), Ms(1980)) << judged->ShownText(of_pool);
  }
  EXPECT_THAT(judged->Patterns(),
              testing::IsSupersetOf({"puma: reactor", "puma: waiting for connections", "puma: housekeeping"}));
  judged->ExpectItAddsUp();
}

}  // namespace
}  // namespace offcpu::integration
