// Recognizes offcpu and offcpud in the recording of a whole host, and takes their rows out. Pure functions.
#ifndef OFFCPU_TABLES_PROFILERS_H_
#define OFFCPU_TABLES_PROFILERS_H_

#include "profile/named_profile.h"

namespace offcpu {

// By its program file: any process can take any name.
bool IsProfiler(const ProcessInfo& process);

// Takes their rows out of the profile and returns the sums of these. Leaves a profile as it is that has no other rows.
RowSums LeaveOutProfilers(NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_PROFILERS_H_
