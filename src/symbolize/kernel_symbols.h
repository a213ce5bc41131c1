// Kernel functions by address, from the text of /proc/kallsyms: "address type name [module]" a line. Functions of
// modules and BPF programs are in it too. Where the kernel hides its addresses the table is empty.
#ifndef OFFCPU_SYMBOLIZE_KERNEL_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_KERNEL_SYMBOLS_H_

#include <cstddef>
#include <string>

#include "symbolize/symbol_table.h"

namespace offcpu {

inline constexpr size_t kMaxKallsymsBytes = 64u << 20;

// Lines that are not of this form are skipped.
SymbolTable ParseKallsyms(std::string text);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_KERNEL_SYMBOLS_H_
