#include "labels/profile_filter.h"

namespace offcpu {

void KeepRows(const ProfileFilter& filter, NamedProfile* profile) {
  KeepRows(filter.labels, profile);  // cheaper
  KeepRowsByFrames(filter.focus, filter.ignore, profile);
}

}  // namespace offcpu
