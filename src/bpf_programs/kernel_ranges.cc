#include "bpf_programs/kernel_ranges.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <vector>

namespace offcpu {
namespace {

struct Symbol {
  uint64_t address = 0;
  std::string_view name;
};

// By address: kallsyms is not sorted throughout.
std::vector<Symbol> ParseKallsyms(std::string_view kallsyms) {
  std::vector<Symbol> symbols;
  while (!kallsyms.empty()) {
    const size_t end = std::min(kallsyms.find('\n'), kallsyms.size());
    const std::string_view line = kallsyms.substr(0, end);
    kallsyms.remove_prefix(std::min(end + 1, kallsyms.size()));
    Symbol symbol;  // "ffffffff81000000 T name", and a module's name behind a tab
    const size_t space = line.find(' ');
    if (space == std::string_view::npos || space + 3 > line.size()) continue;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + space, symbol.address, 16);
    if (error != std::errc() || rest != line.data() + space) continue;
    symbol.name = line.substr(space + 3);
    symbol.name = symbol.name.substr(0, symbol.name.find_first_of("\t "));
    symbols.push_back(symbol);
  }
  std::stable_sort(symbols.begin(), symbols.end(),
                   [](const Symbol& a, const Symbol& b) { return a.address < b.address; });
  return symbols;
}

// To the next symbol that is elsewhere; 0: there is none.
uint64_t EndOf(const std::vector<Symbol>& symbols, uint64_t address) {
  const auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                                     [](uint64_t value, const Symbol& symbol) { return value < symbol.address; });
  return next == symbols.end() ? 0 : next->address;
}

AddressRange RangeOf(const std::vector<Symbol>& symbols, std::string_view function) {
  const auto found = std::find_if(symbols.begin(), symbols.end(),
                                  [function](const Symbol& symbol) { return symbol.name == function; });
  if (found == symbols.end() || found->address == 0) return {};
  return {.begin = found->address, .end = EndOf(symbols, found->address)};
}

// The stubs by which the CPU enters the kernel for interrupts lie side by side, apart from those for exceptions, in
// which a thread does something of its own.
AddressRange RangeOfInterruptStubs(const std::vector<Symbol>& symbols) {
  AddressRange range;
  for (const auto& [address, name] : symbols) {
    if (address == 0) continue;
    const bool is_exception = name.starts_with("asm_exc_");
    const bool is_interrupt =
        name.starts_with("asm_sysvec_") || name == "asm_common_interrupt" || name == "asm_spurious_interrupt";
    if (is_interrupt && range.begin == 0) range.begin = address;
    if (is_interrupt) range.end = EndOf(symbols, address);
    if (!is_exception || range.begin == 0) continue;
    // Behind all of them, or else between them.
    const bool more = std::any_of(symbols.begin(), symbols.end(), [here = address](const Symbol& other) {
      return other.address > here && other.name.starts_with("asm_sysvec_");
    });
    return more ? AddressRange() : range;
  }
  return range;
}

// What is entered for interrupts on the machine. AArch64 enters by one stub for all, which goes on to this function.
std::array<AddressRange, 4> InterruptsOf(const Machine& machine, const std::vector<Symbol>& symbols) {
  if (&machine == &kAArch64) return {RangeOf(symbols, "do_interrupt_handler")};
  return {RangeOfInterruptStubs(symbols), RangeOf(symbols, "common_interrupt"), RangeOf(symbols, "fred_extint"),
          RangeOf(symbols, "asm_exc_xen_hypervisor_callback")};
}

// Kernels have it under one of two names.
uint64_t TrampolineOfProbes(const std::vector<Symbol>& symbols) {
  const uint64_t trampoline = RangeOf(symbols, "arch_rethook_trampoline").begin;
  return trampoline != 0 ? trampoline : RangeOf(symbols, "__kretprobe_trampoline").begin;
}

bool IsThere(const AddressRange& range) { return range.begin != 0 && range.begin < range.end; }

// Between two marks.
AddressRange Between(const std::vector<Symbol>& symbols, std::string_view begin, std::string_view end) {
  return {.begin = RangeOf(symbols, begin).begin, .end = RangeOf(symbols, end).begin};
}

}  // namespace

bool OrcRanges::can_walk() const {
  return IsThere(header) && IsThere(addresses) && IsThere(entries) &&
         (entries.end - entries.begin) / 6 == (addresses.end - addresses.begin) / 4;
}

bool KernelWalkRanges::can_walk(const Machine& machine) const {
  constexpr uint64_t kMostText = uint64_t{1} << 31;  // that a row as the BPF programs keep it can say
  if (!IsThere(text) || text.end - text.begin > kMostText || !IsThere(sched_text) || !IsThere(lock_text)) return false;
  return ret_from_fork != 0 && (&machine == &kAArch64 || orc.can_walk());
}

KernelRanges FindKernelRanges(const Machine& machine, std::string_view kallsyms) {
  const std::vector<Symbol> symbols = ParseKallsyms(kallsyms);
  return {
      .schedule = RangeOf(symbols, "__schedule"),
      .schedule_tail = RangeOf(symbols, "schedule_tail"),
      .entry = Between(symbols, "__entry_text_start", "__entry_text_end"),
      .nofault_copy = RangeOf(symbols, "copy_from_user_nofault"),
      .uaccess_check = RangeOf(symbols, "nmi_uaccess_okay").begin,
      .wakers = {.try_to_wake_up = RangeOf(symbols, "try_to_wake_up"),
                 .interrupts = InterruptsOf(machine, symbols),
                 .softirqs = {RangeOf(symbols, "__do_softirq"), RangeOf(symbols, "handle_softirqs")},
                 .backlog = RangeOf(symbols, "process_backlog")},
      .walk = {.text = Between(symbols, "_stext", "_etext"),
               .sched_text = Between(symbols, "__sched_text_start", "__sched_text_end"),
               .lock_text = Between(symbols, "__lock_text_start", "__lock_text_end"),
               .ret_from_fork = RangeOf(symbols, &machine == &kAArch64 ? "ret_from_fork" : "ret_from_fork_asm").begin,
               .trampolines = {TrampolineOfProbes(symbols), RangeOf(symbols, "return_to_handler").begin},
               .orc = {.header = Between(symbols, "__start_orc_header", "__stop_orc_header"),
                       .addresses = Between(symbols, "__start_orc_unwind_ip", "__stop_orc_unwind_ip"),
                       .entries = Between(symbols, "__start_orc_unwind", "__stop_orc_unwind"),
                       .modules = RangeOf(symbols, "modules").begin}}};
}

}  // namespace offcpu
