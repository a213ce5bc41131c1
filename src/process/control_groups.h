// Control groups of version 2: the path of one by the id that the kernel gives it, and what a path says of who made it.
#ifndef OFFCPU_PROCESS_CONTROL_GROUPS_H_
#define OFFCPU_PROCESS_CONTROL_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

namespace offcpu {

// Where the hierarchy is mounted. FailedPrecondition if it is not.
absl::StatusOr<std::string> ControlGroupRoot();

// Remembers paths: a control group may be gone when the last is heard of it. Bounded in bytes; ids are never used
// again. One thread.
class ControlGroups {
 public:
  // The path of a group below the root, as "/system.slice/nginx.service"; "" if that cannot be told. Does not block.
  using Find = std::function<std::string(uint64_t id)>;

  explicit ControlGroups(Find find) : find_(std::move(find)) {}

  // "" also without a hierarchy, whose ids are 0.
  std::string Path(uint64_t id);

 private:
  static constexpr size_t kMostBytes = 1 << 20;

  Find find_;
  absl::flat_hash_map<uint64_t, std::string> paths_;
  size_t bytes_ = 0;
};

// Asks the file system that is mounted at `root`. Needs CAP_DAC_READ_SEARCH.
ControlGroups::Find FindControlGroupsBelow(const std::string& root);

// What the names of the directories in a path say; each is "" if they say nothing of it, and lies in `path`.
struct ControlGroupNames {
  std::string_view container;  // see ContainerId
  std::string pod;             // the uid of a pod of Kubernetes, with dashes
  std::string_view unit;       // the innermost service or scope of systemd
};
ControlGroupNames NamesInControlGroup(std::string_view path);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CONTROL_GROUPS_H_
