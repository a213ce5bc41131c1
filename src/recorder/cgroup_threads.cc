#include "recorder/cgroup_threads.h"

#include <filesystem>
#include <fstream>

#include "os/directory_tree.h"

namespace offcpu {
namespace {

void AddThreadsOf(const std::filesystem::path& directory, std::unordered_set<pid_t>* tids) {
  std::ifstream threads(directory / "cgroup.threads");
  for (pid_t tid; threads >> tid;) tids->insert(tid);
}

}  // namespace

std::unordered_set<pid_t> ThreadsOfCgroups(const std::vector<std::string>& cgroups) {
  std::unordered_set<pid_t> tids;
  for (const std::string& cgroup : cgroups) {
    AddThreadsOf(cgroup, &tids);
    WalkDirectoriesBelow(cgroup, [&tids](const std::filesystem::path& directory) {
      AddThreadsOf(directory, &tids);
      return true;
    });
  }
  return tids;
}

}  // namespace offcpu
