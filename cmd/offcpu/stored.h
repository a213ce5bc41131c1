// What verbs do with a profile that comes from a file or from the service: reading it from a file, which rows of it are
// wanted, and where they go.
#ifndef OFFCPU_CMD_OFFCPU_STORED_H_
#define OFFCPU_CMD_OFFCPU_STORED_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "classify/idle_patterns.h"
#include "labels/profile_filter.h"
#include "offcpu/outputs.h"
#include "profile/named_profile.h"

namespace offcpu {

// From a file, with its waits for work marked. InvalidArgument, NotFound, or what is wrong with the file.
absl::StatusOr<NamedProfile> ReadStored(const std::string& file, const IdleFlags& flags, const IdlePatterns& idle);

// Leaves out what is not wanted, and says so on the standard error if nothing is left.
void KeepWanted(const ProfileFilter& filter, NamedProfile* profile);

// Writes the files that the flags name, or prints the tables. Internal if that fails, and InvalidArgument for a value
// or threads that the profile does not have. `is_whole`: no filter was given.
absl::Status ShowStored(const OutputFlags& flags, NamedProfile profile, bool is_whole);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_STORED_H_
