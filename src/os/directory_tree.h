// Walks the directories of a tree that others make and remove meanwhile, as that of control groups. Follows no symbolic
// links. What goes away is passed over, and the others beside it are still found. Any thread.
#ifndef OFFCPU_OS_DIRECTORY_TREE_H_
#define OFFCPU_OS_DIRECTORY_TREE_H_

#include <cstddef>
#include <filesystem>
#include <string>

#include "absl/functional/function_ref.h"

namespace offcpu {

// Who owns a part of a tree makes as many directories there as they like.
inline constexpr size_t kMaxDirectories = 1 << 18;

// `visit` says whether to go on below a directory; `root` is not visited. False if there are more than kMaxDirectories:
// the rest is not.
bool WalkDirectoriesBelow(const std::string& root, absl::FunctionRef<bool(const std::filesystem::path&)> visit);

}  // namespace offcpu

#endif  // OFFCPU_OS_DIRECTORY_TREE_H_
