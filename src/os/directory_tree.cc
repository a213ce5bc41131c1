#include "os/directory_tree.h"

#include <system_error>
#include <vector>

namespace offcpu {

// One directory at a time: a recursive iterator ends, or throws, where one has gone.
bool WalkDirectoriesBelow(const std::string& root, absl::FunctionRef<bool(const std::filesystem::path&)> visit) {
  std::vector<std::filesystem::path> todo = {root};
  size_t seen = 0;
  while (!todo.empty()) {
    std::error_code error;
    std::filesystem::directory_iterator it(todo.back(), error);
    todo.pop_back();
    for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
      std::error_code gone;
      if (it->is_symlink(gone) || !it->is_directory(gone)) continue;
      if (++seen > kMaxDirectories) return false;
      if (visit(it->path())) todo.push_back(it->path());
    }
  }
  return true;
}

}  // namespace offcpu
