// Servers that run tasks in threads, and that start a process for each client, with nothing to do and with waits of
// known lengths in what they run: the patterns that are shipped hide the former and none of the latter. What is not
// installed is skipped.
#include <glob.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/deep/judged.h"
#include "tests/harness/load.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

constexpr char kCrates[] = "/usr/share/cargo/registry";

bool HasTokio() {
  glob_t found = {};
  const bool is_found = glob(absl::StrCat(kCrates, "/tokio-1*").c_str(), 0, nullptr, &found) == 0;
  globfree(&found);
  return is_found && IsInstalled("cargo");
}

// Built once, which takes a quarter of a minute.
const std::string& TokioServer() {
  static const TemporaryDirectory directory;
  static const std::string program = [] {
    const std::unique_ptr<Program> build = Program::Start(
        {"sh", "-c",
         absl::StrCat("cd ", directory.path(), " && cp " OFFCPU_RUNTIMES_DIR "/tokio/* . && cargo build --offline ",
                      "--release --config 'source.crates-io.replace-with=\"debian\"' ",
                      "--config 'source.debian.directory=\"", kCrates, "\"' 2>&1")});
    std::string messages;
    EXPECT_EQ(build->Wait(&messages), 0) << messages;
    return directory.path() + "/target/release/serve";
  }();
  return program;
}

RealProgram Tokio() { return {"tokio", TokioServer(), absl::StrCat("exec ", TokioServer()), 5}; }

// Sends one byte after the other to "socket", and prints what comes back for each.
std::string Client(const std::string& bytes) {
  return absl::StrCat(R"sh(python3 -c "
import socket
server = socket.socket(socket.AF_UNIX)
server.connect('socket')
for wait in b')sh",
                      bytes, R"sh(':
    server.sendall(bytes([wait]))
    print(server.recv(1).decode(), end='')
")sh");
}

// What the main thread waits in has other users, who wait for answers.
TEST(IdleTokio, WithNothingToDoIsHidden) {
  if (!HasTokio()) GTEST_SKIP() << "tokio is not installed";
  ASSERT_TRUE(Tokio().is_installed());
  ExpectHiddenWithNothingToDo(Tokio(), In("tokio::runtime::park::CachedParkThread::block_on"));
}

TEST(IdleTokio, WhatATaskWaitsForIsNoWork) {
  if (!HasTokio()) GTEST_SKIP() << "tokio is not installed";
  const RealProgram program = Tokio();
  ASSERT_TRUE(program.is_installed());
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  const auto judged = Judged::Record(server, [&] { EXPECT_EQ(RunShell(server, Client("scbpt")), "scbpt"); });
  ASSERT_NE(judged, nullptr);
  const OneWait of_task = [](const StackRow& row) {
    return std::any_of(row.user->frames.begin(), row.user->frames.end(),
                       [](const NamedFrame& frame) { return frame.name().starts_with("serve::wait::"); });
  };
  EXPECT_GE(judged->ShownNs(of_task), Ms(4990)) << judged->ShownText(Anything);
  EXPECT_EQ(judged->HiddenNs(of_task), 0u);
  EXPECT_THAT(judged->Patterns(),
              testing::UnorderedElementsAre("tokio: worker", "tokio: worker, polling", "tokio: blocking pool"));
  judged->ExpectItAddsUp();
}

const std::string& GoServer() {
  static const TemporaryDirectory directory;
  static const std::string program = [] {
    const std::unique_ptr<Program> build = Program::Start(
        {"sh", "-c",
         absl::StrCat("cd ", directory.path(), " && cp " OFFCPU_RUNTIMES_DIR "/serve.go . && GOCACHE=$PWD/cache ",
                      "GOFLAGS=-mod=mod GO111MODULE=off HOME=$PWD go build -o serve serve.go 2>&1")});
    std::string messages;
    EXPECT_EQ(build->Wait(&messages), 0) << messages;
    return directory.path() + "/serve";
  }();
  return program;
}

// It has so many threads only when it has collected its garbage.
RealProgram Go() { return {"go", GoServer(), absl::StrCat("exec ", GoServer()), 14}; }

TEST(IdleGo, WithNothingToDoIsHidden) {
  if (!IsInstalled("go")) GTEST_SKIP() << "go is not installed";
  ASSERT_TRUE(Go().is_installed());
  ExpectHiddenWithNothingToDo(Go(), Nothing);
}

TEST(IdleGo, WhatAGoroutineKeepsAThreadForIsNoWork) {
  if (!IsInstalled("go")) GTEST_SKIP() << "go is not installed";
  const RealProgram program = Go();
  ASSERT_TRUE(program.is_installed());
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  const auto judged = Judged::Record(server, [&] { EXPECT_EQ(RunShell(server, Client("srcl")), "srcl"); });
  ASSERT_NE(judged, nullptr);
  for (const char* function : {"main.WaitSleep", "main.WaitRead", "main.WaitCommand"}) {
    EXPECT_GE(judged->ShownNs(OfIn(server.pid(), function)), Ms(990)) << judged->ShownText(Of(server.pid()));
    EXPECT_EQ(judged->HiddenNs(In(function)), 0u) << function;
  }
  EXPECT_THAT(judged->Patterns(), testing::IsSupersetOf({"go: no goroutine to run", "go: system monitor"}));
  judged->ExpectItAddsUp();
}

// Two pools of threads. Each byte of a client is a task for one of them, and says what it waits for: a second.
constexpr char kPythonPools[] = R"sh(cat >serve.py <<'END'
import concurrent.futures, multiprocessing.pool, queue, socket, threading, time

answers = queue.SimpleQueue()  # of which there are none

def wait_sleep():
    time.sleep(1)

def wait_queue():
    try:
        answers.get(timeout=1)
    except queue.Empty:
        pass

def wait_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire(timeout=1)

def wait_task():
    with concurrent.futures.ThreadPoolExecutor(1) as other:
        other.submit(wait_sleep).result()

futures = concurrent.futures.ThreadPoolExecutor(2)
pool = multiprocessing.pool.ThreadPool(2)

def serve(request):
    if request == b'f':  # a task that is not written in Python
        futures.submit(answers.get, True, 1).exception()
    elif request == b'p':
        pool.apply(wait_queue)
    else:
        futures.submit({b's': wait_sleep, b'q': wait_queue, b'l': wait_lock, b't': wait_task}[request]).result()

listener = socket.socket(socket.AF_UNIX)
listener.bind('socket')
listener.listen()
for task in [futures.submit(time.sleep, 0.1) for _ in range(2)]:
    task.result()
client, _ = listener.accept()
while request := client.recv(1):
    serve(request)
    client.send(request)
END
)sh";

// Empty: none that can tell its functions.
std::string PythonWithTrampolines() {
  for (const char* name : {"/usr/bin/python3", "python3.13", "python3.12", "python3"}) {
    const std::unique_ptr<Program> program =
        Program::Start({"sh", "-c",
                        absl::StrCat(name, " -c 'import sys; sys.activate_stack_trampoline(\"perf\"); ",
                                     "print(sys.executable)' 2>/dev/null")});
    std::string path;
    if (program != nullptr && program->ReadLine(&path)) return path;
  }
  return "";
}

// Two threads of each pool, the main thread, and three that the second pool looks after itself with.
RealProgram PythonPools() {
  const std::string python = PythonWithTrampolines();
  return {"python", python, absl::StrCat(kPythonPools, "exec ", python, " -X perf serve.py"), 8};
}

OneWait InPython(const std::string& function) {
  return [begins = "py::" + function + ":"](const StackRow& row) {
    return std::any_of(row.user->frames.begin(), row.user->frames.end(),
                       [&](const NamedFrame& frame) { return frame.name().starts_with(begins); });
  };
}

// Each pool begins with the tasks of another function; what is further out is not found.
bool IsInPythonPool(const StackRow& row) { return InPython("_worker")(row) || InPython("worker")(row); }

TEST(IdlePython, WithNothingToDoIsHidden) {
  const RealProgram program = PythonPools();
  if (program.needs.empty()) GTEST_SKIP() << "Python from 3.12 on is not installed";
  ExpectHiddenWithNothingToDo(program, [](const StackRow& row) { return !IsInPythonPool(row); });
}

TEST(IdlePython, WhatATaskWaitsForIsNoWork) {
  const RealProgram program = PythonPools();
  if (program.needs.empty()) GTEST_SKIP() << "Python from 3.12 on is not installed";
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  const auto judged = Judged::Record(server, [&] { EXPECT_EQ(RunShell(server, Client("sqltpf")), "sqltpf"); });
  ASSERT_NE(judged, nullptr);
  EXPECT_GE(judged->ShownNs(InPython("wait_sleep")), Ms(1990)) << judged->ShownText(Anything);
  EXPECT_GE(judged->ShownNs(InPython("wait_queue")), Ms(1990)) << judged->ShownText(Anything);
  EXPECT_GE(judged->ShownNs(InPython("wait_lock")), Ms(990)) << judged->ShownText(Anything);
  EXPECT_GE(judged->ShownNs(InPython("_WorkItem.run")), Ms(990)) << "of a task that is not written in Python";
  EXPECT_GT(judged->HiddenNs(IsInPythonPool), Ms(990) * 6) << "while one thread of a pool has a task";
  EXPECT_EQ(judged->HiddenNs([](const StackRow& row) { return !IsInPythonPool(row); }), 0u);
  EXPECT_THAT(judged->Patterns(), testing::ElementsAre("python: thread pool"));
  judged->ExpectItAddsUp();
}

// A client logs in with a key.
std::string SshdScript(int port) {
  return absl::StrCat(R"sh(mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f key
cat >sshd.conf <<END
ListenAddress 127.0.0.1:)sh",
                      port, R"sh(
HostKey $PWD/host
AuthorizedKeysFile $PWD/key.pub
PidFile none
StrictModes no
UsePAM no
END
exec /usr/sbin/sshd -D -e -f $PWD/sshd.conf)sh");
}

RealProgram Sshd(int port) { return {"sshd", "/usr/sbin/sshd", SshdScript(port), 1}; }

TEST(IdleSshd, WithNothingToDoIsHidden) {
  const RealProgram program = Sshd(FreePort());
  if (!program.is_installed()) GTEST_SKIP() << "sshd is not installed";
  ExpectHiddenWithNothingToDo(program, Nothing);
}

TEST(IdleSshd, SessionsAreNoWork) {
  const int port = FreePort();
  const RealProgram program = Sshd(port);
  if (!program.is_installed()) GTEST_SKIP() << "sshd is not installed";
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(1)) << server.errors();
  // The shell that the server began as has started key generators, and is the server when it listens.
  ASSERT_TRUE(HoldsWithin(std::chrono::seconds(20), [&] {
    return server.errors().find("Server listening") != std::string::npos;
  })) << server.errors();
  const auto judged = Judged::Record(server, [&] {
    // One that says nothing for a second, and one whose command takes a second.
    EXPECT_EQ(RunShell(server, absl::StrCat("python3 -c \"import socket, time; s = socket.create_connection(",
                                            "('127.0.0.1', ", port, ")); time.sleep(1)\"; ", "ssh -n -p ", port,
                                            " -i key -o StrictHostKeyChecking=no ",
                                            "-o UserKnownHostsFile=/dev/null root@127.0.0.1 'sleep 1; echo done' ",
                                            "2>errors; cat errors >&2")),
              "done\n");
  });
  ASSERT_NE(judged, nullptr);
  const pid_t listener = server.pid();
  const OneWait of_session = [&](const StackRow& row) { return row.process->key.pid != listener; };
  EXPECT_GE(judged->HiddenNs(Of(listener)), Ms(1900)) << judged->ShownText(Of(listener));
  EXPECT_GE(judged->ShownNs(of_session), Ms(1990)) << judged->ShownText(Anything);
  EXPECT_EQ(judged->HiddenNs(of_session), 0u);
  EXPECT_THAT(judged->Patterns(), testing::ElementsAre("sshd: waiting for connections"));
  judged->ExpectItAddsUp();
}

}  // namespace
}  // namespace offcpu::integration
