// Walks real programs and compares with what they know themselves (the return addresses that their functions found) and
// with libdwfl, which shares the library that interprets the tables but neither the look-up nor the walk.
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "process/address_space.h"
#include "unwind/walk.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

// A program that has printed its line of return addresses and blocks.
class Program {
 public:
  Program(const std::string& name, const std::string& argument) {
    int pipe_fds[2];
    EXPECT_EQ(pipe(pipe_fds), 0);
    const std::string path = OFFCPU_BIN_DIR "/" + name;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(pipe_fds[1], STDOUT_FILENO);
      execl(path.c_str(), name.c_str(), argument.c_str(), nullptr);
      _exit(127);
    }
    close(pipe_fds[1]);
    std::string line;
    char c = 0;
    while (read(pipe_fds[0], &c, 1) == 1 && c != '\n') line += c;
    close(pipe_fds[0]);
    std::istringstream numbers(line);
    for (uint64_t number = 0; numbers >> std::hex >> number;) return_addresses_.push_back(number);
    AwaitBlocked();
  }
  ~Program() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }
  const std::vector<uint64_t>& return_addresses() const { return return_addresses_; }

 private:
  // In pause(), system call 34.
  void AwaitBlocked() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline) {
      std::ifstream file("/proc/" + std::to_string(pid_) + "/syscall");
      std::string number;
      file >> number;
      if (number == "34") return;
      std::this_thread::yield();
    }
    ADD_FAILURE() << "the program does not block";
  }

  pid_t pid_ = -1;
  std::vector<uint64_t> return_addresses_;
};

// What a capture holds: registers and a copy of the stack.
struct Captured {
  Registers registers;
  std::vector<std::byte> stack;
};

Captured Capture(pid_t pid, size_t max_bytes) {
  Captured captured;
  user_regs_struct r = {};
  int status = 0;
  EXPECT_EQ(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr), 0);
  EXPECT_EQ(ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr), 0);
  EXPECT_EQ(waitpid(pid, &status, __WALL), pid);
  EXPECT_EQ(ptrace(PTRACE_GETREGS, pid, nullptr, &r), 0);
  captured.registers.value = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                              r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  ProcessMemory memory(pid);
  constexpr size_t kPage = 4096;
  for (uint64_t at = r.rsp; captured.stack.size() < max_bytes;) {
    std::vector<std::byte> piece(std::min(kPage - at % kPage, max_bytes - captured.stack.size()));
    if (!memory.Read(at, piece)) break;
    captured.stack.insert(captured.stack.end(), piece.begin(), piece.end());
    at += piece.size();
  }
  EXPECT_EQ(ptrace(PTRACE_DETACH, pid, nullptr, nullptr), 0);
  return captured;
}

// The pcs that libdwfl finds, leaf first.
std::vector<uint64_t> WalkByDwfl(pid_t pid) {
  static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo, nullptr, nullptr};
  std::vector<uint64_t> pcs;
  Dwfl* dwfl = dwfl_begin(&callbacks);
  dwfl_linux_proc_report(dwfl, pid);
  dwfl_report_end(dwfl, nullptr, nullptr);
  EXPECT_EQ(dwfl_linux_proc_attach(dwfl, pid, /*assume_ptrace_stopped=*/false), 0);
  auto each = [](Dwfl_Frame* frame, void* out) {
    Dwarf_Addr pc = 0;
    if (dwfl_frame_pc(frame, &pc, nullptr)) static_cast<std::vector<uint64_t>*>(out)->push_back(pc);
    return static_cast<int>(DWARF_CB_OK);
  };
  dwfl_getthread_frames(dwfl, pid, each, &pcs);
  dwfl_end(dwfl);
  return pcs;
}

struct Walked {
  std::vector<uint64_t> pcs;
  UserStack stack;
  WalkStats stats;
};

Walked WalkProgram(const Program& program, size_t max_bytes = 64 << 10) {
  Walked walked;
  ModuleCache modules;
  auto space = LoadAddressSpace(program.pid(), nullptr, modules);
  EXPECT_TRUE(space.ok()) << space.status();
  if (!space.ok()) return walked;
  Captured captured = Capture(program.pid(), max_bytes);
  const uint64_t sp = kX86_64.SpOf(captured.registers);
  SpanMemory memory(sp, captured.stack);
  StackCopy copy = {memory, sp, sp + captured.stack.size(), captured.stack.size() == max_bytes};
  Walker walker(kX86_64);
  walker.Walk(**space, captured.registers, /*in_syscall=*/true, copy, &walked.stack);
  for (const Frame& frame : walked.stack.frames) {
    uint64_t bias = 0;
    for (const MappedCode& code : (*space)->code()) {
      if (code.module.get() == frame.code && frame.code != nullptr) bias = code.bias;
    }
    walked.pcs.push_back(frame.address + bias);
  }
  walked.stats = walker.stats();
  return walked;
}

// `part` occurs in `whole` in one piece.
bool Within(const std::vector<uint64_t>& part, const std::vector<uint64_t>& whole) {
  return !part.empty() && std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
}

class Layouts : public ::testing::TestWithParam<const char*> {};

TEST_P(Layouts, PlainChain) {
  Program program(GetParam(), "plain");
  ASSERT_EQ(program.return_addresses().size(), 3u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_TRUE(Within(program.return_addresses(), walked.pcs));
  EXPECT_EQ(walked.pcs, WalkByDwfl(program.pid()));
  EXPECT_EQ(walked.stack.frames[0].source, FrameSource::kRegisters);
  EXPECT_EQ(walked.stack.frames[1].source, FrameSource::kEhFrame);
}

TEST_P(Layouts, RealignedFrame) {
  Program program(GetParam(), "realigned");
  ASSERT_EQ(program.return_addresses().size(), 4u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_TRUE(Within(program.return_addresses(), walked.pcs));
  EXPECT_EQ(walked.pcs, WalkByDwfl(program.pid()));
}

// The return address may be the first byte of the next function.
TEST_P(Layouts, CallThatNeverReturns) {
  Program program(GetParam(), "noreturn");
  ASSERT_EQ(program.return_addresses().size(), 4u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_TRUE(Within(program.return_addresses(), walked.pcs));
}

TEST_P(Layouts, SignalHandler) {
  Program program(GetParam(), "signal");
  // block, plain; interrupted, choose: the handler's own is the trampoline.
  ASSERT_EQ(program.return_addresses().size(), 4u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_EQ(walked.pcs, WalkByDwfl(program.pid()));
  const std::vector<uint64_t>& found = program.return_addresses();
  EXPECT_TRUE(Within({found.begin(), found.begin() + 2}, walked.pcs));
  EXPECT_TRUE(Within({found.begin() + 2, found.end()}, walked.pcs));
  EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kSignalTrampoline)], 1u);
  auto after = std::find_if(walked.stack.frames.begin(), walked.stack.frames.end(),
                            [](const Frame& frame) { return frame.source == FrameSource::kSignalTrampoline; });
  ASSERT_NE(after, walked.stack.frames.end());
  EXPECT_TRUE(after->exact);
  EXPECT_TRUE(std::prev(after)->exact) << "the trampoline is entered at its first byte";
}

INSTANTIATE_TEST_SUITE_P(Programs, Layouts,
                         ::testing::Values("unwind_chain", "unwind_chain_static", "unwind_chain_static_pie",
                                           "unwind_chain_debug_frame", "unwind_chain_debug_frame_zlib"));

// Only the program's own functions have no .eh_frame, and those of libc nothing else.
TEST(WalkProgramTest, TablesTakeTurns) {
  for (const char* name : {"unwind_chain_debug_frame", "unwind_chain_debug_frame_zlib"}) {
    Program program(name, "plain");
    Walked walked = WalkProgram(program);
    EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
    // block, plain, choose, main lead to their callers.
    EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kDebugFrame)], 4u) << name;
    EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kFramePointer)], 0u) << name;
    EXPECT_EQ(walked.stack.frames[1].source, FrameSource::kEhFrame) << name;
  }
}

// The interrupted stack was not captured: the handler's frames and the interrupted instruction are all there is to say.
TEST(WalkProgramTest, SignalStackEndsAtTheInterruptedFrame) {
  Program program("unwind_chain", "altstack");
  ASSERT_EQ(program.return_addresses().size(), 5u);
  Walked walked = WalkProgram(program);
  EXPECT_NE(walked.stack.end, EndReason::kComplete);
  const std::vector<uint64_t>& found = program.return_addresses();
  EXPECT_TRUE(Within({found.begin(), found.begin() + 2}, walked.pcs));
  std::vector<uint64_t> all = WalkByDwfl(program.pid());
  ASSERT_LT(walked.pcs.size(), all.size());
  all.resize(walked.pcs.size());
  EXPECT_EQ(walked.pcs, all);
}

// Nothing has called a coroutine's first function: makecontext() has put the address there that it is to return to.
TEST(WalkProgramTest, CoroutineEndsWithItsFirstFunction) {
  Program program("unwind_chain", "ucontext");
  ASSERT_EQ(program.return_addresses().size(), 5u);
  const Walked walked = WalkProgram(program);
  EXPECT_NE(walked.stack.end, EndReason::kStackCopy);
  const std::vector<uint64_t>& found = program.return_addresses();
  EXPECT_TRUE(Within({found.begin(), found.begin() + 3}, walked.pcs));
  EXPECT_EQ(walked.pcs.back(), found[2]) << "what lies behind is not on this stack";
  EXPECT_EQ(walked.pcs, WalkByDwfl(program.pid()));
}

TEST(WalkProgramTest, CoroutineOfAnUnknownSwitchEndsWithItsStack) {
  Program program("unwind_chain", "switch");
  ASSERT_EQ(program.return_addresses().size(), 5u);
  for (const size_t bytes : {4096, 64 << 10, 1 << 20}) {
    Walked walked = WalkProgram(program, bytes);
    EXPECT_NE(walked.stack.end, EndReason::kComplete);
    const std::vector<uint64_t>& found = program.return_addresses();
    EXPECT_TRUE(Within({found.begin(), found.begin() + 3}, walked.pcs));
    EXPECT_EQ(walked.pcs.back(), found[2]) << "the switch";
  }
}

// libgcc's __morestack runs the function on another piece; its own frame is on the one before.
TEST(WalkProgramTest, SplitStackEndsWithItsPiece) {
  Program program("unwind_chain_split", "split");
  const Walked walked = WalkProgram(program);
  EXPECT_NE(walked.stack.end, EndReason::kComplete);
  const std::vector<uint64_t> all = WalkByDwfl(program.pid());
  ASSERT_LT(walked.pcs.size(), all.size());
  EXPECT_EQ(walked.pcs, std::vector<uint64_t>(all.begin(), all.begin() + static_cast<ptrdiff_t>(walked.pcs.size())));
  EXPECT_GE(walked.pcs.size(), 4u);
}

TEST(WalkProgramTest, GeneratedCodeByFramePointer) {
  Program program("unwind_chain", "jit");
  ASSERT_EQ(program.return_addresses().size(), 4u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  // plain's return address is in the generated code, whose own is not recorded.
  const std::vector<uint64_t>& found = program.return_addresses();
  EXPECT_TRUE(Within({found.begin(), found.begin() + 2}, walked.pcs));
  EXPECT_TRUE(Within({found.begin() + 2, found.end()}, walked.pcs));
  EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kFramePointer)], 1u);
  EXPECT_THAT(walked.stack.frames, Contains(::testing::Field(&Frame::code, nullptr)));
}

TEST(WalkProgramTest, LibraryWithoutTablesByFramePointer) {
  Program program("unwind_chain", "library");
  ASSERT_EQ(program.return_addresses().size(), 3u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_THAT(walked.pcs, IsSupersetOf(program.return_addresses()));
  EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kFramePointer)], 1u);
}

TEST(WalkProgramTest, ProgramWithoutTablesByFramePointer) {
  Program program("unwind_chain_bare", "plain");
  ASSERT_EQ(program.return_addresses().size(), 3u);
  Walked walked = WalkProgram(program);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end) << ": the C library's tables prove it";
  EXPECT_TRUE(Within(program.return_addresses(), walked.pcs));
  EXPECT_EQ(walked.pcs, WalkByDwfl(program.pid()));
  // block, plain, choose, main lead to their callers.
  EXPECT_EQ(walked.stats.frames[static_cast<size_t>(FrameSource::kFramePointer)], 4u);
}

TEST(WalkProgramTest, StackCopyTooSmall) {
  Program program("unwind_chain", "large");
  ASSERT_EQ(program.return_addresses().size(), 3u);
  Walked walked = WalkProgram(program, 4096);
  EXPECT_EQ(walked.stack.end, EndReason::kStackCopy) << Name(walked.stack.end);
  EXPECT_EQ(walked.pcs.back(), program.return_addresses()[0]);
  walked = WalkProgram(program, 64 << 10);
  EXPECT_EQ(walked.stack.end, EndReason::kComplete) << Name(walked.stack.end);
  EXPECT_TRUE(Within(program.return_addresses(), walked.pcs));
}

}  // namespace
}  // namespace offcpu
