#include "recorder/cgroup_threads.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace offcpu {

std::unordered_set<pid_t> ThreadsOfCgroups(const std::vector<std::string>& cgroups) {
  std::unordered_set<pid_t> tids;
  for (const std::string& cgroup : cgroups) {
    std::error_code error;
    std::vector<std::filesystem::path> directories = {cgroup};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cgroup, error)) {
      if (entry.is_directory(error)) directories.push_back(entry.path());
    }
    for (const std::filesystem::path& directory : directories) {
      std::ifstream threads(directory / "cgroup.threads");
      for (pid_t tid; threads >> tid;) tids.insert(tid);
    }
  }
  return tids;
}

}  // namespace offcpu
