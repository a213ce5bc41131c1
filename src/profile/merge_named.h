// Several recordings that have names as one, as merge.h joins windows. They may be of several hosts and times, read
// from files, so that pointers and start times identify nothing: a module is one by its path and build id, a process by
// its host, pid, name, program and container, a kernel stack by its names. Pure; holds all of them in memory.
#ifndef OFFCPU_PROFILE_MERGE_NAMED_H_
#define OFFCPU_PROFILE_MERGE_NAMED_H_

#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// From the first start on, for as long as all of them lasted together, also where they overlap. One is left as it is.
// Waits for work are marked if all of them mark them.
NamedProfile MergeNamedProfiles(std::vector<NamedProfile> profiles);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_MERGE_NAMED_H_
