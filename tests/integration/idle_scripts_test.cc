// Servers that run scripts and tasks of others, with nothing to do and with waits of known lengths in what they run:
// the patterns that are shipped hide the former and none of the latter. Servers that are not installed are skipped.
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "tests/integration/judged.h"
#include "tests/integration/real_program.h"

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
  case 'command': shell_exec('sleep 1'); break;
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
        time.sleep(1)
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

}  // namespace
}  // namespace offcpu::integration
