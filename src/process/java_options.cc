#include "process/java_options.h"

#include <algorithm>
#include <array>

namespace offcpu {
namespace {

// What these are to have is the next argument.
constexpr std::array<std::string_view, 14> kWithValue = {"-cp",
                                                         "-classpath",
                                                         "--class-path",
                                                         "-p",
                                                         "--module-path",
                                                         "--upgrade-module-path",
                                                         "--add-modules",
                                                         "--add-reads",
                                                         "--add-exports",
                                                         "--add-opens",
                                                         "--patch-module",
                                                         "--limit-modules",
                                                         "--source",
                                                         "--enable-native-access"};

std::string_view Next(std::string_view* rest) {
  const std::string_view word = rest->substr(0, rest->find('\0'));
  rest->remove_prefix(std::min(rest->size(), word.size() + 1));
  return word;
}

}  // namespace

bool KeepsFramePointers(std::string_view command_line) {
  bool keeps = false;
  std::string_view rest = command_line;
  Next(&rest);  // java
  while (!rest.empty()) {
    const std::string_view word = Next(&rest);
    if (!word.starts_with('-') && !word.starts_with('@')) break;
    if (word == "-jar" || word == "-m" || word == "--module") break;
    if (word == "-XX:+PreserveFramePointer") keeps = true;
    if (word == "-XX:-PreserveFramePointer") keeps = false;
    if (std::find(kWithValue.begin(), kWithValue.end(), word) != kWithValue.end()) Next(&rest);
  }
  return keeps;
}

}  // namespace offcpu
