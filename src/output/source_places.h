// What of a profile's inlined functions and places in the source is shown. Pure functions.
#ifndef OFFCPU_OUTPUT_SOURCE_PLACES_H_
#define OFFCPU_OUTPUT_SOURCE_PLACES_H_

#include "profile/named_profile.h"

namespace offcpu {

// Each frame is in one function, at the place in it that its address belongs to: where another one was inlined, that is
// the call of it.
void DropInlined(NamedProfile* profile);
// Leaves of each frame its function, and nothing else.
void DropPlaces(NamedProfile* profile);

// Names that say where in the source a user frame is: "main server.cc:123". For the formats that have no other place
// for it. The kernel's keep their names, by which waits and their causes are known.
NamedProfile WithPlaces(NamedProfile profile);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_SOURCE_PLACES_H_
