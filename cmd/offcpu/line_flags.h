// The flags about places in the source: whether debug information is read, and what of it is shown.
#ifndef OFFCPU_CMD_OFFCPU_LINE_FLAGS_H_
#define OFFCPU_CMD_OFFCPU_LINE_FLAGS_H_

#include <vector>

#include "offcpu/flag.h"
#include "profile/named_profile.h"

namespace offcpu {

struct LineFlags {
  bool in_names = false;    // where the format has no other place for them
  bool none = false;        // neither places nor inlined functions
  bool no_inlined = false;  // a frame is one function
};

void AddLineFlags(LineFlags* values, std::vector<Flag>* flags);

void ApplyLineFlags(const LineFlags& flags, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_LINE_FLAGS_H_
