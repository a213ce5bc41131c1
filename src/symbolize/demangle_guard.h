// Which mangled names libiberty's demanglers may see. A few dozen bytes can keep them busy practically for ever without
// printing anything, so that a limit to what they print does not stop them, and a few others make them crash.
//
// Safe from any thread. Knows names only as well as it must: not whether they can be demangled, nor how long their
// meaning is, and of the names that look dangerous it refuses some that are not.
#ifndef OFFCPU_SYMBOLIZE_DEMANGLE_GUARD_H_
#define OFFCPU_SYMBOLIZE_DEMANGLE_GUARD_H_

#include <string>
#include <string_view>

namespace offcpu {

// The name begins with "_R".
bool IsHarmlessRust(std::string_view mangled);

// The name begins with "_Z".
bool IsHarmlessCpp(const std::string& mangled);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_DEMANGLE_GUARD_H_
