// The rows of real libraries, at every address of their code: what the row finder answers, and answers again from its
// cache, leads to the same caller as what libdw says, asked anew and by the library's own search table. The two are
// compared by value, with registers and a memory of made-up numbers: two rules that yield the same ones are the same.
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/base/config.h"
#include "process/address_space.h"
#include "unwind/row_finder.h"

namespace offcpu {
namespace {

// A different number for each register and for each address of memory.
uint64_t Mix(uint64_t number) {
  number = (number ^ (number >> 31)) * 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 29)) * 0xbf58476d1ce4e5b9;
  return number ^ (number >> 32);
}

class Frame {
 public:
  explicit Frame(uint64_t pc) {
    for (uint64_t reg = 0; reg < registers_.size(); ++reg) registers_[reg] = Mix(reg + 1);
    registers_[kRip] = pc;
  }
  uint64_t Register(uint64_t reg) const { return registers_.at(reg); }
  static uint64_t Memory(uint64_t address) { return Mix(address); }

 private:
  std::array<uint64_t, kRegisterCount> registers_;
};

// A caller as a rule tells it. A register without a value is one that is lost.
struct Caller {
  bool outermost = false;
  bool signal = false;
  uint64_t cfa = 0;
  uint64_t pc = 0;
  std::optional<uint64_t> fp;
  std::optional<uint64_t> bx;

  bool operator==(const Caller&) const = default;
};

// --- By row ---

std::optional<uint64_t> ByRule(const Frame& frame, const ValueRule& rule, uint64_t cfa, uint8_t reg) {
  switch (rule.place) {
    case Place::kUndefined:
      return std::nullopt;
    case Place::kUnchanged:
      return frame.Register(reg);
    case Place::kAtCfa:
      return Frame::Memory(cfa + rule.offset);
    case Place::kAtRegister:
      return Frame::Memory(frame.Register(rule.reg) + rule.offset);
    case Place::kInRegister:
      return frame.Register(rule.reg);
  }
  return std::nullopt;
}

Caller ByRow(const Frame& frame, const UnwindRow& row) {
  Caller caller;
  caller.signal = row.signal;
  caller.outermost = row.ra.place == Place::kUndefined;
  if (caller.outermost) return caller;
  caller.cfa = frame.Register(row.cfa.reg) + row.cfa.offset;
  if (row.cfa.deref) caller.cfa = Frame::Memory(caller.cfa) + row.cfa.addend;
  caller.pc = ByRule(frame, row.ra, caller.cfa, kRip).value_or(0);
  caller.fp = ByRule(frame, row.fp, caller.cfa, kRbp);
  caller.bx = ByRule(frame, row.extra, caller.cfa, kRbx);
  return caller;
}

// --- By libdw ---

using Ops = std::span<const Dwarf_Op>;

// DWARF's stack machine, as far as these libraries use it. A location is an address, or at once a value.
struct Location {
  uint64_t number = 0;
  bool is_value = false;
};

std::optional<Location> Execute(const Frame& frame, Ops ops, uint64_t cfa) {
  std::vector<uint64_t> stack;
  bool is_value = false;
  auto pop = [&stack] {
    const uint64_t top = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return top;
  };
  for (const Dwarf_Op& op : ops) {
    if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
      stack.push_back(frame.Register(op.atom - DW_OP_breg0) + op.number);
    } else if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
      stack.push_back(op.atom - DW_OP_lit0);
    } else if (op.atom == DW_OP_bregx) {
      stack.push_back(frame.Register(op.number) + op.number2);
    } else if (op.atom == DW_OP_regx) {
      stack.push_back(frame.Register(op.number));
      is_value = true;
    } else if (op.atom == DW_OP_call_frame_cfa) {
      stack.push_back(cfa);
    } else if (op.atom == DW_OP_plus_uconst) {
      stack.push_back(pop() + op.number);
    } else if (op.atom == DW_OP_deref) {
      stack.push_back(Frame::Memory(pop()));
    } else if (op.atom == DW_OP_stack_value) {
      is_value = true;
    } else {
      const uint64_t right = pop();
      const uint64_t left = pop();
      if (op.atom == DW_OP_and) {
        stack.push_back(left & right);
      } else if (op.atom == DW_OP_ge) {
        stack.push_back(static_cast<int64_t>(left) >= static_cast<int64_t>(right) ? 1 : 0);
      } else if (op.atom == DW_OP_shl) {
        stack.push_back(left << right);
      } else if (op.atom == DW_OP_plus) {
        stack.push_back(left + right);
      } else {
        return std::nullopt;
      }
    }
  }
  return stack.empty() ? std::nullopt : std::optional<Location>({stack.back(), is_value});
}

// What libdw says is where a stack pointer has passed by: mostly it has been popped, and is in the register as well.
bool IsPassed(const Frame& frame, const Location& location) {
  constexpr uint64_t kRedZone = 128;
  return !location.is_value && frame.Register(kRsp) - location.number - 1 < kRedZone;
}

// Where a register may be taken from either place, `got` decides. False if the test's own machine cannot tell.
bool RegisterByDwarf(const Frame& frame, Dwarf_Frame* rules, int reg, uint64_t cfa, const std::optional<uint64_t>& got,
                     std::optional<uint64_t>* value) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(rules, reg, memory, &ops, &count) != 0) return false;
  if (count == 0) {
    *value = ops == nullptr ? std::optional(frame.Register(static_cast<uint64_t>(reg))) : std::nullopt;
    return true;
  }
  const std::optional<Location> location = Execute(frame, {ops, count}, cfa);
  if (!location) return false;
  *value = location->is_value ? location->number : Frame::Memory(location->number);
  if (IsPassed(frame, *location) && got == frame.Register(static_cast<uint64_t>(reg))) *value = got;
  return true;
}

std::optional<Caller> ByDwarf(const Frame& frame, Dwarf_Frame* rules, const Caller& got) {
  Caller caller;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  std::optional<uint64_t> pc;
  if (dwarf_frame_info(rules, &begin, &end, &caller.signal) < 0) return std::nullopt;
  if (dwarf_frame_cfa(rules, &ops, &count) == 0 && count > 0) {
    const std::optional<Location> cfa = Execute(frame, {ops, count}, 0);
    if (!cfa) return std::nullopt;
    caller.cfa = cfa->number;
  }
  if (!RegisterByDwarf(frame, rules, kRip, caller.cfa, std::nullopt, &pc)) return std::nullopt;
  caller.outermost = !pc;
  if (caller.outermost) {
    caller.cfa = 0;
    return caller;
  }
  caller.pc = *pc;
  if (!RegisterByDwarf(frame, rules, kRbp, caller.cfa, got.fp, &caller.fp)) return std::nullopt;
  if (!RegisterByDwarf(frame, rules, kRbx, caller.cfa, got.bx, &caller.bx)) return std::nullopt;
  if (!caller.bx) caller.bx = frame.Register(kRbx);  // libdw does not know that functions preserve it
  return caller;
}

class Reference {
 public:
  explicit Reference(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(file_, ELF_C_READ, nullptr);
    cfi_ = dwarf_getcfi_elf(elf_);
  }
  ~Reference() {
    dwarf_cfi_end(cfi_);
    elf_end(elf_);
    close(file_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  bool ok() const { return cfi_ != nullptr; }

  // Null: no entry describes the address.
  std::unique_ptr<Dwarf_Frame, decltype(&std::free)> At(uint64_t address) {
    Dwarf_Frame* rules = nullptr;
    if (dwarf_cfi_addrframe(cfi_, address, &rules) != 0) rules = nullptr;
    return {rules, &std::free};
  }

 private:
  int file_;
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
};

// --- The comparison ---

struct Counts {
  uint64_t addresses = 0;
  uint64_t described = 0;
  uint64_t expressions = 0;
  uint64_t differing = 0;
};

class Comparison {
 public:
  Comparison(std::shared_ptr<const Module> module, Reference& reference)
      : module_(std::move(module)), reference_(reference) {}

  // Both answers to one question, the second of which is from the cache.
  void At(uint64_t address) {
    UnwindRow row;
    UnwindRow again;
    const uint64_t hits = rows_.stats().hits;
    const FindOutcome outcome = rows_.Find(module_, address, false, &row);
    const FindOutcome second = rows_.Find(module_, address, false, &again);
    const bool cached = second == outcome && rows_.stats().hits == hits + 1;
    if (!cached || (outcome == FindOutcome::kFound && again != row) || !IsRight(address, outcome, row))
      Differs(address);
    ++addresses_;
  }

  void Report(const char* name) const {
    std::printf("%s: %lu addresses, %lu with a rule, %lu of them with an expression, %lu differ\n", name, addresses_,
                described_, expressions_, differing_);
    EXPECT_GT(described_, addresses_ / 2);
    EXPECT_LT(expressions_, described_ / 500) << "only a few functions of libcrypto have such";
    EXPECT_EQ(differing_, 0u);
  }

 private:
  bool IsRight(uint64_t address, FindOutcome outcome, const UnwindRow& row) {
    const auto rules = reference_.At(address);
    if (rules == nullptr) return outcome == FindOutcome::kNotHere && address >= last_.end;
    ++described_;
    const Frame frame(address);
    const Caller got = ByRow(frame, row);
    const std::optional<Caller> expected = ByDwarf(frame, rules.get(), got);
    if (!expected) {  // an expression of more than a row holds, or at least than the rows of PLTs are made of
      ++expressions_;
      return outcome == FindOutcome::kExpression && address >= last_.end;
    }
    if (outcome != FindOutcome::kFound || address < row.begin || address >= row.end) return false;
    // A row holds as far as it says.
    const bool last_holds = address >= last_.end || ByRow(frame, last_) == *expected;
    last_ = row;
    return last_holds && got == *expected;
  }

  void Differs(uint64_t address) {
    if (++differing_ <= 10) ADD_FAILURE() << module_->path << ": at 0x" << std::hex << address;
  }

  std::shared_ptr<const Module> module_;
  Reference& reference_;
  RowFinder rows_{kX86_64, *ParseUnwindOrder("eh_frame")};
  UnwindRow last_;
  uint64_t addresses_ = 0;
  uint64_t described_ = 0;
  uint64_t expressions_ = 0;
  uint64_t differing_ = 0;
};

std::shared_ptr<const Module> ModuleOf(const std::string& path) {
  std::array<char, PATH_MAX> real = {};
  if (realpath(path.c_str(), real.data()) == nullptr) return nullptr;
  ModuleCache modules;
  auto space = LoadAddressSpace(getpid(), nullptr, modules);
  if (!space.ok()) return nullptr;
  for (const MappedCode& code : (*space)->code()) {
    if (code.module != nullptr && code.module->path == real.data()) return code.module;
  }
  return nullptr;
}

std::string FirstPath(const std::string& pattern) {
  glob_t found = {};
  std::string path;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) path = found.gl_pathv[0];
  globfree(&found);
  return path;
}

struct Library {
  const char* name;
  const char* pattern;
};

class EveryPc : public testing::TestWithParam<Library> {};

TEST_P(EveryPc, IsAnsweredAsLibdwAnswersIt) {
  const std::string path = FirstPath(GetParam().pattern);
  if (path.empty()) GTEST_SKIP() << GetParam().name << " is not installed";
  ASSERT_NE(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL), nullptr) << dlerror();
  const std::shared_ptr<const Module> module = ModuleOf(path);
  ASSERT_NE(module, nullptr) << path;
  Reference reference(path);
  ASSERT_TRUE(reference.ok());
  Comparison comparison(module, reference);
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  constexpr uint64_t kStep = 53;
#else
  constexpr uint64_t kStep = 1;
#endif
  for (const CodeRange& code : module->code) {
    for (uint64_t at = code.begin; at < code.end; at += kStep) comparison.At(at);
  }
  comparison.Report(GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Libraries, EveryPc,
                         testing::Values(Library{"libc", "/lib/x86_64-linux-gnu/libc.so.6"},
                                         Library{"libcrypto", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3"},
                                         Library{"libpython3", "/usr/lib/x86_64-linux-gnu/libpython3.*.so.1.0"},
                                         Library{"libstdcxx", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace offcpu
