#include "recorder/cgroup_threads.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace offcpu {
namespace {

// Who owns a part of the hierarchy makes as many there as they like.
constexpr size_t kMaxDirectories = 1 << 18;

// Adds the threads in and below `root`. Control groups come and go meanwhile. One that has gone ends the look at itself
// only, which is why the directories are walked one at a time; the others in its parent are still found.
void AddThreadsBelow(const std::string& root, std::unordered_set<pid_t>* tids) {
  std::vector<std::filesystem::path> todo = {root};
  for (size_t seen = 0; !todo.empty() && seen < kMaxDirectories; ++seen) {
    const std::filesystem::path directory = std::move(todo.back());
    todo.pop_back();
    std::ifstream threads(directory / "cgroup.threads");
    for (pid_t tid; threads >> tid;) tids->insert(tid);
    std::error_code error;
    std::filesystem::directory_iterator it(directory, error);
    for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
      std::error_code gone;
      if (it->is_symlink(gone) || !it->is_directory(gone)) continue;
      if (todo.size() < kMaxDirectories) todo.push_back(it->path());
    }
  }
}

}  // namespace

std::unordered_set<pid_t> ThreadsOfCgroups(const std::vector<std::string>& cgroups) {
  std::unordered_set<pid_t> tids;
  for (const std::string& cgroup : cgroups) AddThreadsBelow(cgroup, &tids);
  return tids;
}

}  // namespace offcpu
