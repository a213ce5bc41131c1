// The flags that say which rows of a profile are wanted, and the one value that all of them are. Each is a short way of
// writing --only, or a pattern for frames.
#ifndef OFFCPU_CMD_OFFCPU_FILTER_FLAGS_H_
#define OFFCPU_CMD_OFFCPU_FILTER_FLAGS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "labels/profile_filter.h"
#include "offcpu/flag.h"

namespace offcpu {

struct FilterFlags {
  std::vector<std::string> only;
  std::vector<std::string> containers;
  std::vector<std::string> cgroups;
  std::vector<std::string> units;
  std::vector<std::string> comms;
  std::vector<int> pids;
  std::vector<std::string> causes;
  std::vector<std::string> focus;
  std::vector<std::string> ignore;
};

// --only by itself, for a verb that uses the other names for what it records.
void AddOnlyFlag(FilterFlags* values, std::vector<Flag>* flags);
void AddFilterFlags(FilterFlags* values, std::vector<Flag>* flags);

// InvalidArgument for what no row can have: a label or a cause that there is not, or what is no regular expression.
absl::StatusOr<ProfileFilter> FilterOf(const FilterFlags& flags);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_FILTER_FLAGS_H_
