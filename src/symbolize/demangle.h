// Names of C++ and Rust functions (both Rust schemes) as a reader knows them: with template arguments, without the
// parameter list of the function itself. Safe from any thread.
//
// What a compiler appends to a mangled name for a part or a copy of a function (.cold, .isra.0, .llvm.123) is dropped:
// it is the same function to the reader. Names that are not mangled come back as they are.
#ifndef OFFCPU_SYMBOLIZE_DEMANGLE_H_
#define OFFCPU_SYMBOLIZE_DEMANGLE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "profile/named_profile.h"

namespace offcpu {

// A longer name is not demangled, and of C++ none longer than a quarter of it: libiberty's guard against deep
// recursion.
inline constexpr size_t kMaxMangledBytes = 4096;

// Neither is one whose meaning is longer than kMaxDemangledBytes: a few hundred bytes can stand for gigabytes. Nor one
// that would keep libiberty busy for ever (demangle_guard.h).
std::string Demangle(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_DEMANGLE_H_
