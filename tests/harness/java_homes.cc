#include "tests/harness/java_homes.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace offcpu::integration {

std::vector<std::string> JavaHomes() {
  std::vector<std::string> homes;
  const char* other = std::getenv("OFFCPU_JAVA_HOMES");
  for (const char* directory : {"/usr/lib/jvm", other}) {
    std::error_code error;
    if (directory == nullptr) continue;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
      const std::string home = entry.path().string();
      const bool has_tools =
          std::filesystem::exists(home + "/bin/javac") && std::filesystem::exists(home + "/bin/jstack");
      if (!entry.is_symlink() && has_tools) homes.push_back(home);
    }
  }
  std::sort(homes.begin(), homes.end());
  return homes;
}

}  // namespace offcpu::integration
