// Names by patterns: * stands for any characters, ? for any one. Pure functions.
#ifndef OFFCPU_CLASSIFY_GLOB_MATCH_H_
#define OFFCPU_CLASSIFY_GLOB_MATCH_H_

#include <string>
#include <string_view>
#include <vector>

namespace offcpu {

bool Matches(std::string_view pattern, std::string_view name);
bool MatchesAny(const std::vector<std::string>& patterns, std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_GLOB_MATCH_H_
