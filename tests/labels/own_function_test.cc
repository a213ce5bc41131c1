#include "labels/own_function.h"

#include <initializer_list>
#include <optional>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/profile/frame_lines.h"

namespace offcpu {
namespace {

struct InModule {
  std::string_view module;
  std::string_view function;
  FrameKind kind = FrameKind::kNative;
};

// Leaf first.
NamedUserStack Stack(std::initializer_list<InModule> frames) {
  NamedUserStack stack;
  for (const InModule& frame : frames)
    stack.frames.push_back({{.kind = frame.kind}, true, Line(frame.function), frame.module});
  return stack;
}

// Likewise, of CPython: functions with their files.
NamedUserStack PythonStack(std::initializer_list<FrameLine> frames) {
  NamedUserStack stack;
  for (const FrameLine& frame : frames)
    stack.frames.push_back({{.kind = FrameKind::kInterpreted}, true, {&frame, 1}, "[python]"});
  return stack;
}

TEST(OwnFunction, IsTheInnermostOneOutsideTheCLibrary) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libc.so.6", "clock_nanosleep"},
                                     {"libc.so.6", "nanosleep"},
                                     {"server", "WriteLog"},
                                     {"server", "main"},
                                     {"libc.so.6", "__libc_start_main"},
                                     {"server", "_start"}})),
            2u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"server", "spin"}, {"server", "main"}})), 0u);
}

TEST(OwnFunction, IsNotOfTheStandardLibraryThatIsLinkedIn) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libc.so.6", "pthread_cond_wait"},
                                     {"libstdc++.so.6.0.30", "std::condition_variable::wait"},
                                     {"server", "std::this_thread::sleep_for<long>"},
                                     {"server", "(anonymous namespace)::Run"}})),
            3u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libc.so.6", "pthread_mutex_lock"},
                                     {"server", "__gthread_mutex_lock"},
                                     {"server", "std::mutex::lock"},
                                     {"server", "std::lock_guard<std::mutex>::lock_guard"},
                                     {"server", "Reserve"}})),
            4u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"app", "<std::sync::mpsc::Receiver<T> as core::iter::Iterator>::next"},
                                     {"app", "tokio::runtime::park::Inner::park"},
                                     {"app", "<app::Queue as core::ops::drop::Drop>::drop"}})),
            2u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"app", "runtime.futex.abi0"},
                                     {"app", "internal/poll.(*FD).Read"},
                                     {"app", "net/http.(*persistConn).roundTrip"},
                                     {"app", "main.fetch"}})),
            3u);
}

// "sync" of a C program is no package of Go.
TEST(OwnFunction, MayHaveTheNameOfAPackageAndASuffixOfTheCompiler) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"server", "sync.part.0"}, {"server", "main"}})), 0u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"node_exporter", "main.collect"}})), 0u);
}

TEST(OwnFunction, IsNotInTheFilesThatComeWithPython) {
  const std::initializer_list<FrameLine> lines = {
      {.function = "Condition.wait", .file = "/usr/lib/python3.13/threading.py"},
      {.function = "_call", .file = "<frozen importlib._bootstrap>"},
      {.function = "sync.run", .file = "/srv/app/views.py"}};
  EXPECT_EQ(FunctionsBelowOwn(PythonStack(lines)), 2u) << "that is no package of Go";
  const std::initializer_list<FrameLine> packaged = {
      {.function = "get", .file = "/usr/lib/python3/dist-packages/requests/api.py"}};
  EXPECT_EQ(FunctionsBelowOwn(PythonStack(packaged)), 0u);
  const std::initializer_list<FrameLine> command = {{.function = "<module>", .file = "<string>"}};
  EXPECT_EQ(FunctionsBelowOwn(PythonStack(command)), 0u);
}

TEST(OwnFunction, IsInterpretedInAnInterpreter) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libc.so.6", "futex"},
                                     {"python3.13", "lock_PyThread_acquire_lock"},
                                     {"", "py::wait:/usr/lib/python3.13/threading.py", FrameKind::kInterpreted},
                                     {"", "py::handle:/srv/app/views.py", FrameKind::kInterpreted}})),
            3u);
  EXPECT_EQ(FunctionsBelowOwn(
                Stack({{"", "py::get:/usr/lib/python3.13/site-packages/requests/api.py", FrameKind::kInterpreted}})),
            0u);
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libjvm.so", "os::PlatformEvent::park"},
                                     {"", "void java.lang.Object.wait(long)", FrameKind::kGenerated},
                                     {"", "Interpreter", FrameKind::kInterpreted},
                                     {"", "int com.example.Db.query(java.lang.String)", FrameKind::kGenerated}})),
            3u);
}

TEST(OwnFunction, MayBeCompiledByTheRuntimeThatComesWithOthers) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"node", "node::SyncProcessRunner::Spawn"},
                                     {"", "JS:^spawnSync node:internal/child_process:1108:19", FrameKind::kGenerated},
                                     {"", "JS:*execFileSync node:child_process:916:22", FrameKind::kGenerated},
                                     {"", "JS:^thumbnail /srv/server.js:3:19", FrameKind::kGenerated}})),
            3u);
}

TEST(OwnFunction, MayBeInlined) {
  NamedUserStack stack = Stack({{"libc.so.6", "read"}, {"server", "main"}});
  stack.frames[1].lines = Lines({{"std::thread::join"}, {"Flush"}, {"main"}});
  EXPECT_EQ(FunctionsBelowOwn(stack), 2u);
}

TEST(OwnFunction, IsNotThereInARuntimeAlone) {
  EXPECT_EQ(FunctionsBelowOwn(Stack({{"libc.so.6", "read"}, {"python3.11", "Py_RunMain"}, {"python3.11", "_start"}})),
            std::nullopt);
  EXPECT_EQ(FunctionsBelowOwn({.missing = NoUserStack::kBudget}), std::nullopt);
  NamedUserStack unknown = Stack({{"", "[unknown] 0x7f0000001000", FrameKind::kGenerated}});
  unknown.frames[0].named = false;
  EXPECT_EQ(FunctionsBelowOwn(unknown), std::nullopt);
}

TEST(OwnFunction, OrElseALineBeginsOutsideTheCLibrary) {
  EXPECT_EQ(FunctionsBelowShown(Stack({{"libc.so.6", "read"}, {"libstdc++.so.6", "std::f"}, {"server", "main"}})), 2u);
  EXPECT_EQ(FunctionsBelowShown(Stack({{"libc.so.6", "read"}, {"python3.11", "_Py_read"}})), 1u);
  EXPECT_EQ(FunctionsBelowShown(Stack({{"libc.so.6", "read"}, {"libc.so.6", "start_thread"}})), 0u);
}

// The executable of a stripped program has offsets in place of names.
TEST(OwnFunction, NeedsNoName) {
  NamedUserStack stack = Stack({{"libc.so.6", "read"}, {"server", "server+0x1234"}});
  stack.frames[1].named = false;
  EXPECT_EQ(FunctionsBelowOwn(stack), 1u);
}

}  // namespace
}  // namespace offcpu
