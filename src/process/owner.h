// Whose a process is, for quotas: nobody's processes may use up what the processes of others need.
#ifndef OFFCPU_PROCESS_OWNER_H_
#define OFFCPU_PROCESS_OWNER_H_

#include <sys/types.h>

namespace offcpu {

inline constexpr uid_t kNoOwner = static_cast<uid_t>(-1);  // the process is gone

// Its real uid, which no program but root's can change: neither a set-user-id program nor one that is not dumpable, and
// whose files in /proc are root's therefore, is another's. Does not block.
uid_t OwnerOf(pid_t pid);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_OWNER_H_
