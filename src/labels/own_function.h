// Which function of a stack is the program's own: the innermost one that is neither of the C library, nor of the
// runtime of a language, nor of the kernel. People look for it first. The one place that decides it, by the file names
// of modules and by how the names of standard libraries begin, since these are often linked or inlined into programs.
// Pure functions.
//
// Code without a name and without a module is nobody's. A program that is linked with its C library has its wrappers of
// system calls in its own module: they look like its own.
#ifndef OFFCPU_LABELS_OWN_FUNCTION_H_
#define OFFCPU_LABELS_OWN_FUNCTION_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "profile/named_profile.h"

namespace offcpu {

// By the file name of a module. Which wrapper of a system call it was says less than who called it.
bool IsCLibrary(std::string_view module);

// How many functions of the stack lie further in than the innermost one of the program's own, inlined ones among them,
// as UserLabels has them; nothing if none is its own.
std::optional<size_t> FunctionsBelowOwn(const NamedUserStack& stack);

// The same, for where a stack is shown on one line: without a function of the program's own, those below the innermost
// one outside the C library, and if there is none, 0.
size_t FunctionsBelowShown(const NamedUserStack& stack);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_OWN_FUNCTION_H_
