// Which rows of a profile a user wants, whatever the profile comes from: by what their labels say, and by the functions
// in their stacks. The one value that every verb filters by. Pure functions.
#ifndef OFFCPU_LABELS_PROFILE_FILTER_H_
#define OFFCPU_LABELS_PROFILE_FILTER_H_

#include <vector>

#include "labels/frame_filter.h"
#include "labels/label_filter.h"
#include "profile/named_profile.h"

namespace offcpu {

// A row has to pass all three. Default: everything.
struct ProfileFilter {
  std::vector<LabelFilter> labels;  // of those of one label, one has to let it through
  std::vector<FramePattern> focus;  // one of them has to be in it, if there are any
  std::vector<FramePattern> ignore;

  bool is_everything() const { return labels.empty() && focus.empty() && ignore.empty(); }
};

// Leaves out the other rows, and threads of the ledger by their labels (label_filter.h). Figures of the whole recording
// (intervals, losses) stay.
void KeepRows(const ProfileFilter& filter, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_PROFILE_FILTER_H_
