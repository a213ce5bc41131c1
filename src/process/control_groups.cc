#include "process/control_groups.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

constexpr int kKernfsHandle = 0xfe;  // FILEID_KERNFS of linux/exportfs.h: the handle is the id
constexpr size_t kUidLength = 36;
constexpr size_t kHashLength = 32;

// What /proc says that an open file's path is; "" if it is gone.
std::string PathOf(const OwnedFd& fd) {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd.get()).c_str(), path.data(), path.size());
  return size > 0 ? std::string(path.data(), static_cast<size_t>(size)) : "";
}

std::optional<std::string> FindPath(const OwnedFd& root, const std::string& root_path, uint64_t id) {
  alignas(file_handle) std::array<char, sizeof(file_handle) + sizeof(id)> bytes = {};
  auto* handle = reinterpret_cast<file_handle*>(bytes.data());
  handle->handle_bytes = sizeof(id);
  handle->handle_type = kKernfsHandle;
  std::memcpy(handle->f_handle, &id, sizeof(id));
  const OwnedFd group(open_by_handle_at(root.get(), handle, O_PATH | O_CLOEXEC));
  if (!group) return errno == ESTALE || errno == ENOENT ? std::optional<std::string>("") : std::nullopt;
  const std::string path = PathOf(group);
  if (path == root_path) return "/";
  const bool is_below = path.starts_with(root_path) && path[root_path.size()] == '/';
  return is_below && !path.ends_with(" (deleted)") ? path.substr(root_path.size()) : "";
}

// "1b2c3d4e-0000-4111-8222-333344445555"; of a pod that no API server has made, as those of the control plane, the hash
// of its configuration: "0123456789abcdef0123456789abcdef".
bool IsUid(std::string_view uid) {
  if (uid.size() != kUidLength && uid.size() != kHashLength) return false;
  for (size_t i = 0; i < uid.size(); ++i) {
    const bool is_dash = uid.size() == kUidLength && (i == 8 || i == 13 || i == 18 || i == 23);
    if (is_dash ? uid[i] != '-' : std::strchr("0123456789abcdef", uid[i]) == nullptr) return false;
  }
  return true;
}

// "kubepods-burstable-pod1b2c_..._.slice" or "pod1b2c-...": the uid is written with dashes or, where dashes mean
// something else, with underscores.
std::string PodOf(std::string_view component) {
  constexpr std::string_view kSlice = ".slice";
  component = component.substr(0, component.find(':'));  // containerd without systemd puts the container behind it
  if (component.ends_with(kSlice)) component.remove_suffix(kSlice.size());
  const size_t pod = component.rfind("pod");
  if (pod == std::string_view::npos || (pod != 0 && component[pod - 1] != '-')) return "";
  std::string uid(component.substr(pod + 3));
  std::replace(uid.begin(), uid.end(), '_', '-');
  return IsUid(uid) ? uid : "";
}

bool IsUnit(std::string_view component) { return component.ends_with(".service") || component.ends_with(".scope"); }

}  // namespace

absl::StatusOr<std::string> ControlGroupRoot() {
  const std::unique_ptr<FILE, int (*)(FILE*)> mounts(setmntent("/proc/self/mounts", "r"), endmntent);
  if (mounts == nullptr) return absl::FailedPreconditionError("/proc/self/mounts cannot be read");
  while (const mntent* mount = getmntent(mounts.get())) {
    if (std::strcmp(mount->mnt_type, "cgroup2") == 0) return std::string(mount->mnt_dir);
  }
  return absl::FailedPreconditionError("no cgroup v2 hierarchy is mounted");
}

const std::string& ControlGroups::Path(uint64_t id) {
  if (id == 0) return none_;
  if (const auto known = paths_.find(id); known != paths_.end()) return known->second;
  std::optional<std::string> path = find_(id);
  if (!path.has_value()) {
    ++not_told_;
    return none_;
  }
  if (path->size() > kMostPathBytes) path->clear();
  const size_t bytes = sizeof(id) + sizeof(std::string) + path->size();
  if (bytes_ + bytes > kMostBytes) {
    paths_.clear();
    bytes_ = 0;
  }
  bytes_ += bytes;
  return paths_.emplace(id, *std::move(path)).first->second;
}

ControlGroups::Find FindControlGroupsBelow(const std::string& root) {
  auto fd = std::make_shared<const OwnedFd>(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!*fd) return [](uint64_t) { return std::optional<std::string>(""); };
  return [fd, root](uint64_t id) { return FindPath(*fd, root, id); };
}

ControlGroupNames NamesInControlGroup(std::string_view path) {
  ControlGroupNames names;
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    const std::string_view component = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (names.unit.empty() && IsUnit(component)) names.unit = component;
    if (names.pod.empty()) names.pod = PodOf(component);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
  return names;
}

std::string UnitWithoutNumber(std::string_view unit) {
  const size_t dot = unit.rfind('.');
  for (const std::string_view prefix : {"session-", "run-"}) {
    if (!unit.starts_with(prefix) || dot == std::string_view::npos || dot <= prefix.size()) continue;
    const std::string_view made = unit.substr(prefix.size(), dot - prefix.size());
    const bool is_numbered = made.find_first_of("0123456789") != std::string_view::npos &&
                             made.substr(1).find_first_not_of("0123456789abcdefi-") == std::string_view::npos;
    if (is_numbered) return absl::StrCat(std::string(prefix), "*", std::string(unit.substr(dot)));
  }
  return std::string(unit);
}

bool NamesAService(std::string_view unit) {
  return unit.ends_with(".service") && !unit.starts_with("user@") && UnitWithoutNumber(unit) == unit;
}

}  // namespace offcpu
