#include "process/container.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "process/directory_tree.h"

namespace offcpu {
namespace {

constexpr size_t kIdLength = 64;
constexpr size_t kMinPrefix = 8;

bool IsHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

// The id in one component of a cgroup path: "<id>", "docker-<id>.scope", "kubepods-x.slice:cri-containerd:<id>".
std::string_view IdOfComponent(std::string_view component) {
  constexpr std::string_view kScope = ".scope";
  if (component.ends_with(kScope)) component.remove_suffix(kScope.size());
  if (component.size() < kIdLength) return {};
  std::string_view id = component.substr(component.size() - kIdLength);
  std::string_view before = component.substr(0, component.size() - kIdLength);
  if (!IsHex(id)) return {};
  if (before.empty()) return id;
  // The monitor of a container runs outside of it, in a cgroup named like it.
  if (before.ends_with("conmon-")) return {};
  return before.back() == '-' || before.back() == ':' ? id : std::string_view();
}

// Appends the directories below `root` that are named by a container id with this prefix. False if there are too many
// directories to look at. Those that go away meanwhile are passed over.
bool FindBelow(const std::string& root, const std::string& prefix, std::vector<std::string>* found) {
  return WalkDirectoriesBelow(root, [&](const std::filesystem::path& directory) {
    const std::string name = directory.filename().string();
    const std::string_view id = IdOfComponent(name);
    const bool is_it = !id.empty() && id.starts_with(prefix);
    if (is_it) found->push_back(directory.string());
    return !is_it;  // what is inside of the container belongs to it
  });
}

}  // namespace

std::string_view ContainerIdInPath(std::string_view path) {
  while (!path.empty()) {
    size_t slash = path.rfind('/');
    std::string_view component = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (std::string_view id = IdOfComponent(component); !id.empty()) return id;
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return {};
}

std::string ContainerId(std::string_view cgroup_file_text) {
  while (!cgroup_file_text.empty()) {
    size_t length = std::min(cgroup_file_text.find('\n'), cgroup_file_text.size());
    std::string_view line = cgroup_file_text.substr(0, length);
    cgroup_file_text.remove_prefix(std::min(length + 1, cgroup_file_text.size()));
    // hierarchy-ID:controllers:path, where the path may hold colons and the controllers not.
    size_t colon = line.find(':');
    if (colon != std::string_view::npos) colon = line.find(':', colon + 1);
    if (colon == std::string_view::npos) continue;
    if (std::string_view id = ContainerIdInPath(line.substr(colon + 1)); !id.empty()) return std::string(id);
  }
  return "";
}

absl::StatusOr<std::string> FindContainerCgroup(const std::string& root, const std::string& id) {
  if (id.size() < kMinPrefix || id.size() > kIdLength || !IsHex(id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a container id is ", kMinPrefix, " to ", kIdLength, " lower-case hex digits: ", id));
  }
  std::vector<std::string> found;
  if (!FindBelow(root, id, &found)) return absl::ResourceExhaustedError(absl::StrCat("too many cgroups below ", root));
  if (found.empty()) return absl::NotFoundError(absl::StrCat("no cgroup of container ", id, " below ", root));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("container id ", id, " is ambiguous: ", found[0], " and ", found[1], " among others"));
  }
  return found[0];
}

}  // namespace offcpu
