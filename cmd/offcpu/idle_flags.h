// The flags about waits for work: whether they are shown, and which patterns recognize them.
#ifndef OFFCPU_CMD_OFFCPU_IDLE_FLAGS_H_
#define OFFCPU_CMD_OFFCPU_IDLE_FLAGS_H_

#include <string>
#include <vector>

#include "classify/idle_patterns.h"
#include "offcpu/flag.h"
#include "profile/named_profile.h"

namespace offcpu {

struct IdleFlags {
  std::string idle;                   // "show", "count" or "", which is "count" for waits for work
  std::vector<std::string> patterns;  // files

  bool hides() const { return idle != "show"; }
};

// `what` is said of --idle.
void AddIdleFlags(const std::string& what, IdleFlags* values, std::vector<Flag>* flags);

// In what comes from a file or the service: what that says of its waits holds, if it says anything, unless there are
// patterns of one's own.
void MarkStoredIdle(const IdleFlags& flags, const IdlePatterns& patterns, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_IDLE_FLAGS_H_
