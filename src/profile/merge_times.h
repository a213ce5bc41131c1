// The times of several profiles in one grid of buckets: as wide as the widest of theirs, or wider where they would be
// too many. Profiles of one recording share its buckets; those of others are up to half a second beside theirs, or half
// a bucket if these are narrower, and all of what they have is kept. A row that is without times in one of the profiles
// is without times in what is made: the times of a row are of all that it has.
#ifndef OFFCPU_PROFILE_MERGE_TIMES_H_
#define OFFCPU_PROFILE_MERGE_TIMES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "profile/profile.h"
#include "profile/time_table.h"

namespace offcpu {

class MergedTimes {
 public:
  // `windows` are all that will be added.
  explicit MergedTimes(std::span<const std::shared_ptr<const Profile>> windows);

  // Adds the times of a row of a window to the row that is made of it, by its index.
  void Add(const Profile& window, const ProfileRow& row, size_t to);
  // To the rows, each by its index; the profile has its start.
  void Finish(Profile& profile);

 private:
  // By whichever clock; later than all that anything is before.
  uint64_t StartOf(const ProfileFacts& profile) const;
  uint64_t BeginOf(const Profile& window) const;  // of its buckets

  bool by_boot_clock_ = true;
  uint64_t origin_ns_ = 0;          // when the first of all buckets begins
  std::optional<TimeTable> table_;  // none: no window has times
  size_t rows_ = 0;                 // of it
  std::vector<bool> untimed_;       // by row; those behind the last have times
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_MERGE_TIMES_H_
