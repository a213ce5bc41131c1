// Names that tell how each user frame was found: "main [sframe]". For the formats that have no other place for it.
#ifndef OFFCPU_OUTPUT_FRAME_SOURCES_H_
#define OFFCPU_OUTPUT_FRAME_SOURCES_H_

#include "profile/named_profile.h"

namespace offcpu {

NamedProfile WithFrameSources(NamedProfile profile);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FRAME_SOURCES_H_
