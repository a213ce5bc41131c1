#include "bpf_programs/hidden_tasks.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// The entries of a directory that are numbers. A process may end meanwhile.
std::vector<int32_t> NumbersIn(const std::string& directory) {
  std::vector<int32_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    int32_t number = 0;
    const auto [stop, failed] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (failed == std::errc() && stop == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<int32_t> ListThreadsOfProc() {
  std::vector<int32_t> threads;
  for (const int32_t process : NumbersIn("/proc")) {
    const std::vector<int32_t> members = NumbersIn(absl::StrCat("/proc/", process, "/task"));
    threads.insert(threads.end(), members.begin(), members.end());
  }
  return threads;
}

bool HidesTasks(const std::vector<int32_t>& shown, const std::vector<TaskDescription>& listed) {
  absl::flat_hash_set<int32_t> told;
  for (const TaskDescription& task : listed) told.insert(task.tid);
  return std::any_of(shown.begin(), shown.end(), [&](int32_t tid) {
    return !told.contains(tid) && access(absl::StrCat("/proc/", tid).c_str(), F_OK) == 0;
  });
}

}  // namespace offcpu
