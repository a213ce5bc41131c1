// Names frames of a stored profile that were recorded where there were no names or no debug information for them: a
// frame has its module's build id and its address in it, whatever host it was recorded on.
#ifndef OFFCPU_SYMBOLIZE_NAME_AGAIN_H_
#define OFFCPU_SYMBOLIZE_NAME_AGAIN_H_

#include <string>

#include "profile/named_profile.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

// From the files DIRECTORY/.build-id/xx/yyy.debug that carry the build ids, and from those that `fetch` gets, if it is
// not empty. Frames that have a place in the source keep what they have. What could not be read is among the losses.
void NameAgain(const std::string& directory, const FetchDebugFile& fetch, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_NAME_AGAIN_H_
