// Several windows as one profile, as if they had been recorded in one go. Pure; linear in what the windows hold. Module
// pointers are shared, everything else is copied. Sums of statistics and of losses are here, too.
//
// What no sum can tell: a wait that was cut by the end of a window is open there and counts once in each window that it
// touches, and the longest wait of a row is the longest part of one. Figures of a sample keep their errors.
#ifndef OFFCPU_PROFILE_MERGE_H_
#define OFFCPU_PROFILE_MERGE_H_

#include <memory>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "profile/profile.h"

namespace offcpu {

// Whether the rows of a process and a thread name are wanted; asked once for each pair in a window.
using RowFilter = absl::FunctionRef<bool(const ProcessInfo& process, const std::string& comm)>;
inline bool Everything(const ProcessInfo&, const std::string&) { return true; }

// From the first start on, for as long as the windows lasted together: time between them was not recorded. Processes,
// names, stacks and ledger entries are those that are left by `keep`; the statistics are the windows', whatever is
// kept.
Profile MergeProfiles(std::span<const std::shared_ptr<const Profile>> windows, RowFilter keep);

// Sums and losses; not the numbers of processes and of threads that slept throughout, which are no sums.
void AddStats(const ProfileStats& from, ProfileStats& to);
// By reason.
void AddLoss(const Loss& loss, std::vector<Loss>& to);
void AddLosses(const std::vector<Loss>& from, std::vector<Loss>& to);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_MERGE_H_
