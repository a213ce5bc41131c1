// Where this host keeps the cgroups of a controller, in version 1 or 2, and making one there.
#ifndef OFFCPU_TESTS_HARNESS_CGROUP_HIERARCHY_H_
#define OFFCPU_TESTS_HARNESS_CGROUP_HIERARCHY_H_

#include <optional>
#include <string>

namespace offcpu::integration {

struct CgroupHierarchy {
  bool is_v2 = false;
  std::string mount;  // directory of its root
  std::string own;    // of this process's group

  // Where a group with members below it can be made: in version 2 a group with members has no groups with controllers
  // below it, but for the root.
  const std::string& parent() const { return is_v2 ? mount : own; }
};

// Nothing: there is no hierarchy with that controller.
std::optional<CgroupHierarchy> FindCgroupHierarchy(const std::string& controller);

// The hierarchy of version 2, whatever controllers it has: nothing if there is none.
std::optional<CgroupHierarchy> FindUnifiedHierarchy();

// A file of a cgroup: false if the kernel does not take `text`; its first line without spaces before it.
bool WriteCgroupFile(const std::string& path, const std::string& text);
std::string ReadCgroupFile(const std::string& path);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_CGROUP_HIERARCHY_H_
