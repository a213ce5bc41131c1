#include "process/container.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "os/directory_tree.h"

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

// "my\x2dname": systemd writes so what means something else in the name of a unit.
std::string Unescaped(std::string_view name) { return absl::StrReplaceAll(std::string(name), {{"\\x2d", "-"}}); }

// `name` without what it begins and ends with; nothing if it does not, or if nothing is left.
std::optional<std::string_view> Within(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size())
    return std::nullopt;
  return name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
}

// The name of a container that has no id, by one component of a cgroup path and the one before it: of LXC and Incus
// "lxc.payload.NAME", or "lxc/NAME" and "lxc.payload/NAME" in older versions; of systemd-nspawn and libvirt, below
// machine.slice, "machine-NAME.scope" and "systemd-nspawn@NAME.service".
std::string NameOfComponent(std::string_view before, std::string_view component) {
  if (const auto name = Within(component, "lxc.payload.", "")) return std::string(*name);
  if ((before == "lxc" && component != "lxc") || before == "lxc.payload") return std::string(component);
  if (before != "machine.slice") return "";
  if (const auto name = Within(component, "machine-", ".scope")) return Unescaped(*name);
  if (const auto name = Within(component, "systemd-nspawn@", ".service")) return Unescaped(*name);
  return "";
}

// What one component says of a container: its id, or its name.
std::string ContainerOf(std::string_view before, std::string_view component) {
  const std::string_view id = IdOfComponent(component);
  return id.empty() ? NameOfComponent(before, component) : std::string(id);
}

// Appends the directories below `root` that are named by a container id with this prefix, or are those of a container
// of this name. False if there are too many directories to look at. Those that go away meanwhile are passed over.
bool FindBelow(const std::string& root, const std::string& wanted, std::vector<std::string>* found) {
  return WalkDirectoriesBelow(root, [&](const std::filesystem::path& directory) {
    const std::string name = directory.filename().string();
    const std::string_view id = IdOfComponent(name);
    const bool is_it = id.empty() ? NameOfComponent(directory.parent_path().filename().string(), name) == wanted
                                  : wanted.size() >= kMinPrefix && id.starts_with(wanted);
    if (is_it) found->push_back(directory.string());
    return !is_it;  // what is inside of the container belongs to it
  });
}

}  // namespace

std::string ContainerIdInPath(std::string_view path) {
  std::string all;
  std::string_view before;
  while (!path.empty()) {
    const std::string_view component = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(component.size() + 1, path.size()));
    const std::string container = ContainerOf(before, component);
    // An id is nobody else's, whatever it is in.
    if (!IdOfComponent(component).empty()) all.clear();
    if (!container.empty()) absl::StrAppend(&all, all.empty() ? "" : "/", container);
    before = component;
  }
  return all;
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
    if (std::string id = ContainerIdInPath(line.substr(colon + 1)); !id.empty()) return id;
  }
  return "";
}

absl::StatusOr<std::string> FindContainerCgroup(const std::string& root, const std::string& id) {
  if (id.empty() || id.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("name a container by ", kMinPrefix, " or more digits of its id, or by its name: ", id));
  }
  std::vector<std::string> found;
  if (!FindBelow(root, id, &found)) return absl::ResourceExhaustedError(absl::StrCat("too many cgroups below ", root));
  if (found.empty()) return absl::NotFoundError(absl::StrCat("no cgroup belongs to container ", id, " below ", root));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("container id ", id, " is ambiguous: ", found[0], " and ", found[1], " among others"));
  }
  return found[0];
}

}  // namespace offcpu
