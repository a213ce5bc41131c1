// Names of programs and threads that are numbered, without their numbers: those of a pool are one name then. Pure
// functions.
#ifndef OFFCPU_BYTES_NAME_NUMBERS_H_
#define OFFCPU_BYTES_NAME_NUMBERS_H_

#include <string>
#include <string_view>

namespace offcpu {

// "pool-*-thread-*" of "pool-1-thread-12": names that number threads are one.
std::string WithoutDigits(std::string_view name);

// The same of a program, "job-*" of "job-12". Digits behind a letter belong to its name: "python3" stays what it is.
std::string WithoutNumbers(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_NAME_NUMBERS_H_
