#include "tests/deep/stepper.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace offcpu::integration {
namespace {

constexpr size_t kMaxInstruction = 15;

std::optional<uint64_t> AuxiliaryValue(pid_t pid, uint64_t type) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/auxv"), std::ios::binary);
  Elf64_auxv_t entry = {};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof(entry))) {
    if (entry.a_type == type) return entry.a_un.a_val;
  }
  return std::nullopt;
}

bool IsPrefix(uint8_t byte) {
  constexpr std::array<uint8_t, 10> kPrefixes = {0x66, 0x67, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0xf2, 0xf3};
  for (const uint8_t prefix : kPrefixes) {
    if (byte == prefix) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Stepper> Stepper::Start(const std::vector<std::string>& words, bool from_loader) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return nullptr;
  if (pid == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  std::unique_ptr<Stepper> stepper(new Stepper(pid));
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) return nullptr;
  ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL);
  const std::optional<uint64_t> entry = AuxiliaryValue(pid, AT_ENTRY);
  if (!entry || (!from_loader && !stepper->RunTo(*entry))) return nullptr;
  if (ptrace(PTRACE_GETREGS, pid, nullptr, &stepper->now_) != 0) return nullptr;
  return stepper;
}

Stepper::~Stepper() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, __WALL);
}

// By a breakpoint.
bool Stepper::RunTo(uint64_t address) {
  int status = 0;
  const auto place = reinterpret_cast<void*>(address);
  const long word = ptrace(PTRACE_PEEKTEXT, pid_, place, nullptr);
  user_regs_struct regs = {};
  ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
  if (regs.rip == address) return true;  // of a static program
  ptrace(PTRACE_POKETEXT, pid_, place, (word & ~0xffL) | 0xcc);
  ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
  if (waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) return false;
  ptrace(PTRACE_POKETEXT, pid_, place, word);
  ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
  regs.rip = address;
  return ptrace(PTRACE_SETREGS, pid_, nullptr, &regs) == 0;
}

bool Stepper::Fail(const std::string& error) {
  error_ = absl::StrFormat("%s at 0x%x after %u steps", error, now_.rip, steps_);
  return false;
}

Registers Stepper::registers() const {
  const user_regs_struct& r = now_;
  Registers registers;
  registers.value = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                     r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
  return registers;
}

std::vector<uint64_t> Stepper::Stack() const {
  std::vector<uint64_t> pcs = {now_.rip};
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) pcs.push_back(entry->pc);
  return pcs;
}

size_t Stepper::Untouched() const {
  size_t count = 1;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry, ++count) {
    if (!entry->interrupted && memory_.ReadValue<uint64_t>(entry->slot) != entry->pc) break;
  }
  return count;
}

Stepper::Kind Stepper::KindAt(uint64_t pc) {
  const auto known = kinds_.find(pc);
  if (known != kinds_.end()) return known->second;
  std::array<uint8_t, kMaxInstruction> code = {};
  // The last page of a mapping may be followed by nothing.
  size_t size = memory_.ReadSome(pc, std::as_writable_bytes(std::span(code)));
  Kind kind = Kind::kOther;
  size_t at = 0;
  while (at + 2 < size && IsPrefix(code[at])) ++at;
  if ((code[at] & 0xf0) == 0x40) ++at;  // REX
  const uint8_t extension = code[at + 1] >> 3 & 7;
  if (code[at] == 0xe8 || (code[at] == 0xff && extension == 2)) kind = Kind::kCall;
  if (code[at] == 0xc3 || code[at] == 0xc2) kind = Kind::kReturn;
  if (code[at] == 0xff && extension == 4) kind = Kind::kIndirectJump;
  if (code[at] == 0x0f && code[at + 1] == 0x05) kind = Kind::kSystemCall;
  if (code[at] == 0xcb || code[at] == 0xca || (code[at] == 0xff && (extension == 3 || extension == 5)) || size == 0) {
    kind = Kind::kUnknown;  // far ones
  }
  kinds_[pc] = kind;
  return kind;
}

// One stop. False if the program has ended.
bool Stepper::Resume(int signal) {
  int status = 0;
  if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, signal) != 0) return Fail("it cannot be resumed");
  if (waitpid(pid_, &status, 0) != pid_) return Fail("it cannot be waited for");
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) return Fail("it was killed");
  if (!WIFSTOPPED(status)) return false;
  pending_signal_ = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
  return ptrace(PTRACE_GETREGS, pid_, nullptr, &now_) == 0 || Fail("it has no registers");
}

bool Stepper::Step() {
  const user_regs_struct before = now_;
  const int signal = pending_signal_;
  left_frames_ = false;
  changed_code_ = false;
  if (!Resume(signal)) return false;
  ++steps_;
  // A child's signal is not handled, and the instruction executed.
  if (signal != 0 && signal != SIGCHLD) return EnterHandler(before);
  // Stopped by the next signal before the instruction.
  if (pending_signal_ != 0 && now_.rip == before.rip) return true;
  return AfterInstruction(before);
}

bool Stepper::AfterInstruction(const user_regs_struct& before) {
  switch (KindAt(before.rip)) {
    case Kind::kOther:
      return true;
    case Kind::kUnknown:
      return Fail("a far call or return");
    case Kind::kCall: {
      const std::optional<uint64_t> pushed = memory_.ReadValue<uint64_t>(now_.rsp);
      if (now_.rsp != before.rsp - 8 || !pushed || *pushed - before.rip > kMaxInstruction) return Fail("no call");
      entries_.push_back({.pc = *pushed, .slot = now_.rsp});
      return true;
    }
    case Kind::kReturn: {
      const bool innermost = !entries_.empty() && entries_.back().slot == before.rsp && entries_.back().pc == now_.rip;
      left_frames_ = EndFrames() != (innermost ? 1 : 0);
      return true;
    }
    case Kind::kIndirectJump:
      left_frames_ = EndFrames() != 0;
      return true;
    case Kind::kSystemCall:
      changed_code_ = before.rax == SYS_munmap ||
                      ((before.rax == SYS_mmap || before.rax == SYS_mprotect) && (before.rdx & PROT_EXEC) != 0);
      if (changed_code_) kinds_.clear();
      return before.rax != SYS_rt_sigreturn || Return(before);
  }
  return false;
}

// A handler's frames on a stack of its own end when the stack pointer is not on it any more.
size_t Stepper::EndFrames() {
  const size_t count = entries_.size();
  uint64_t begin = 0;
  uint64_t end = UINT64_MAX;
  for (const Entry& entry : entries_) {
    if (entry.other_end == 0) continue;
    begin = entry.other_begin;
    end = entry.other_end;
  }
  while (!entries_.empty()) {
    const Entry& entry = entries_.back();
    const bool same_stack = now_.rsp >= begin && now_.rsp < end;
    if (same_stack && entry.slot >= now_.rsp) break;
    if (entry.other_end != 0) {
      begin = 0;
      end = UINT64_MAX;
    }
    entries_.pop_back();
  }
  return count - entries_.size();
}

bool Stepper::EnterHandler(const user_regs_struct& before) {
  const std::optional<uint64_t> restorer = memory_.ReadValue<uint64_t>(now_.rsp);
  const uint64_t context_at = now_.rsp + sizeof(uint64_t);
  const auto context = memory_.ReadValue<ucontext_t>(context_at);
  if (!restorer || !context) return Fail("a signal frame that cannot be read");
  if (static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]) != before.rip) return Fail("no signal frame");
  Entry interrupted = {.pc = before.rip, .slot = context_at, .interrupted = true};
  const auto other = reinterpret_cast<uint64_t>(context->uc_stack.ss_sp);
  if (now_.rsp >= other && now_.rsp < other + context->uc_stack.ss_size) {
    interrupted.other_begin = other;
    interrupted.other_end = other + context->uc_stack.ss_size;
  }
  entries_.push_back(interrupted);
  entries_.push_back({.pc = *restorer, .slot = now_.rsp});
  return true;
}

bool Stepper::Return(const user_regs_struct& before) {
  if (entries_.empty() || !entries_.back().interrupted || entries_.back().slot != before.rsp) {
    return Fail("not the return from a signal");
  }
  if (entries_.back().pc != now_.rip) return Fail("a return to another place");
  entries_.pop_back();
  return true;
}

}  // namespace offcpu::integration
