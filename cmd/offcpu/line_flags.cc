#include "offcpu/line_flags.h"

#include "output/source_places.h"

namespace offcpu {

void AddLineFlags(LineFlags* values, std::vector<Flag>* flags) {
  flags->push_back({"--no-inlines", &values->no_inlined, "Leave out functions that were inlined into others"});
  flags->push_back(
      {"--no-lines", &values->none, "Take names only from symbol tables: no source lines and no inlined functions"});
}

void ApplyLineFlags(const LineFlags& flags, NamedProfile* profile) {
  if (flags.none) {
    DropPlaces(profile);
  } else if (flags.no_inlined) {
    DropInlined(profile);
  }
}

}  // namespace offcpu
