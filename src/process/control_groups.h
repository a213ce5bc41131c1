// Control groups of version 2: the path of one by the id that the kernel gives it, and what a path says of who made it.
#ifndef OFFCPU_PROCESS_CONTROL_GROUPS_H_
#define OFFCPU_PROCESS_CONTROL_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  // The path of a group below the root, as "/system.slice/nginx.service"; "" if there is no such group any more, or if
  // the path is longer than kMostPathBytes; nothing if it could not be found this time. Waits for the kernel only.
  using Find = std::function<std::optional<std::string>(uint64_t id)>;
  static constexpr size_t kMostPathBytes = 1024;  // who owns a part of the hierarchy chooses names there

  explicit ControlGroups(Find find) : find_(std::move(find)) {}

  // "" also without a hierarchy, whose ids are 0. Valid until the next call.
  const std::string& Path(uint64_t id);
  // How often a path could not be found.
  uint64_t not_told() const { return not_told_; }

 private:
  static constexpr size_t kMostBytes = 1 << 20;

  Find find_;
  absl::flat_hash_map<uint64_t, std::string> paths_;
  size_t bytes_ = 0;
  uint64_t not_told_ = 0;
  const std::string none_;
};

// Asks the file system that is mounted at `root`. Needs CAP_DAC_READ_SEARCH.
ControlGroups::Find FindControlGroupsBelow(const std::string& root);

// What the names of the directories in a path say; each is "" if they say nothing of it.
struct ControlGroupNames {
  std::string pod;        // the uid of a pod of Kubernetes, with dashes
  std::string_view unit;  // the innermost service or scope of systemd; lies in the path
};
ControlGroupNames NamesInControlGroup(std::string_view path);

// "session-*.scope" of "session-12.scope", and "run-*.service" of what systemd-run starts: of units that systemd makes
// for a moment each would be a series of its own. Others stay as they are.
std::string UnitWithoutNumber(std::string_view unit);

// Does the name of a unit say which service its threads are? Scopes are logins and the like; users' managers, and units
// that systemd makes for a moment, run programs of any kind.
bool NamesAService(std::string_view unit);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CONTROL_GROUPS_H_
