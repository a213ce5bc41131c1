// Names that tell how each user frame was found: "main [sframe]". For the formats that have no other place for it.
#ifndef OFFCPU_OUTPUT_FRAME_SOURCES_H_
#define OFFCPU_OUTPUT_FRAME_SOURCES_H_

#include "profile/profile.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

// `symbols` must outlive the result.
SymbolizedProfile WithFrameSources(const Profile& profile, const SymbolizedProfile& symbols);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FRAME_SOURCES_H_
