// What compilers put behind the name of a function that they have split or specialized: "f.part.0", "f.isra.2.cold". A
// pure function.
#ifndef OFFCPU_CLASSIFY_COPY_SUFFIX_H_
#define OFFCPU_CLASSIFY_COPY_SUFFIX_H_

#include <string_view>

namespace offcpu {

// The name of the function as its source has it. Names of C++ and Rust come without such suffixes
// (symbolize/demangle.h).
std::string_view WithoutCopySuffix(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_COPY_SUFFIX_H_
