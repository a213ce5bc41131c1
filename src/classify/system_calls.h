// Names of x86-64's system calls. Pure functions.
#ifndef OFFCPU_CLASSIFY_SYSTEM_CALLS_H_
#define OFFCPU_CLASSIFY_SYSTEM_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace offcpu {

// "read"; "#471" for one that was added since; "" for kNoSystemCall.
std::string SystemCallName(int32_t number);

// The other way round. Nothing if SystemCallName gives no such name.
std::optional<int32_t> SystemCallNumber(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_SYSTEM_CALLS_H_
