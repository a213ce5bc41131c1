#include "tests/harness/cgroup_hierarchy.h"

#include <mntent.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace offcpu::integration {
namespace {

// Empty: nowhere. An empty controller is in every hierarchy of version 2.
std::string FindMount(const std::string& controller, bool is_v2) {
  std::unique_ptr<FILE, int (*)(FILE*)> mounts(setmntent("/proc/self/mounts", "r"), endmntent);
  while (const mntent* mount = getmntent(mounts.get())) {
    const std::string directory = mount->mnt_dir;
    if (!is_v2 && std::strcmp(mount->mnt_type, "cgroup") == 0 && hasmntopt(mount, controller.c_str()) != nullptr) {
      return directory;
    }
    if (is_v2 && std::strcmp(mount->mnt_type, "cgroup2") == 0) {
      const std::string controllers = " " + ReadCgroupFile(directory + "/cgroup.subtree_control") + " ";
      if (controller.empty() || controllers.find(" " + controller + " ") != std::string::npos) return directory;
    }
  }
  return "";
}

// The path of this process's cgroup from the hierarchy's root on: lines are ID:CONTROLLERS:PATH, without controllers in
// version 2.
std::string OwnPath(const std::string& controller, bool is_v2) {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(':', controllers) + 1;
    const std::string named = "," + line.substr(controllers, path - 1 - controllers) + ",";
    if (is_v2 ? named == ",," : named.find("," + controller + ",") != std::string::npos) return line.substr(path);
  }
  return "/";
}

}  // namespace

std::optional<CgroupHierarchy> FindCgroupHierarchy(const std::string& controller) {
  for (const bool is_v2 : {false, true}) {
    const std::string mount = FindMount(controller, is_v2);
    if (!mount.empty()) return CgroupHierarchy{is_v2, mount, mount + OwnPath(controller, is_v2)};
  }
  return std::nullopt;
}

std::optional<CgroupHierarchy> FindUnifiedHierarchy() {
  const std::string mount = FindMount("", true);
  if (mount.empty()) return std::nullopt;
  return CgroupHierarchy{true, mount, mount + OwnPath("", true)};
}

bool WriteCgroupFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

std::string ReadCgroupFile(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

}  // namespace offcpu::integration
