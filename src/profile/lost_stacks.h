// Kernel stacks of which the frames were lost have ids that no output tells. So they are made one, and what differs in
// nothing else is joined: else the same row would be there twice in one format, and once in another. Pure.
#ifndef OFFCPU_PROFILE_LOST_STACKS_H_
#define OFFCPU_PROFILE_LOST_STACKS_H_

#include "profile/named_profile.h"

namespace offcpu {

// To be called before waits for work are marked. Rows stay sorted by their keys.
void JoinLostStacks(NamedProfile& profile);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_LOST_STACKS_H_
