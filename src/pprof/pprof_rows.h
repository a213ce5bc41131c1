// Turns the samples of a pprof file of ours into the rows of a profile, with the processes and names that they share.
// The cause of a wait is not read: it is found again by the same names. Whether it is for work is read, because the
// writer of the file may have had other patterns. Each number, name and reference is checked.
#ifndef OFFCPU_PPROF_PPROF_ROWS_H_
#define OFFCPU_PPROF_PPROF_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "labels/row_labels.h"
#include "pprof/pprof_fields.h"
#include "pprof/pprof_stacks.h"
#include "pprof/pprof_tables.h"
#include "profile/named_profile.h"

namespace offcpu {

class PprofRows {
 public:
  // All must outlive this; `profile.names` is what `tables` reads its strings into, and the comments are read already.
  // `values`: how many a sample has, the first ones of kRowValues.
  PprofRows(PprofTables& tables, size_t values, const PprofLimits& limits, PprofBudget& held, NamedProfile& profile)
      : tables_(tables),
        values_(values),
        held_(held),
        shown_("rows", limits.shown_bytes),
        profile_(profile),
        stacks_(tables, limits.stack_frames, held, profile) {}

  // A Sample message. DataLoss if it is none of ours, ResourceExhausted beyond a limit.
  absl::Status Add(std::string_view sample);

 private:
  // What rows and the wakers of a chain have both.
  struct AnyLabels : PprofStackLabels {
    RowLabelValues values = {};

    std::string_view text(RowLabel label) const { return values[static_cast<size_t>(label)].text; }
    int64_t number(RowLabel label) const { return values[static_cast<size_t>(label)].number; }
    // The bytes of all texts of RowLabels.
    uint64_t bytes() const;
  };
  struct WakerLabels : AnyLabels {
    std::string_view name;

    bool is_one_of(std::string_view word) const {
      return name == word && number(RowLabel::kPid) == 0 && text(RowLabel::kProcess).empty();
    }
  };
  struct Labels : AnyLabels {
    int64_t max_ns = 0;
    int64_t count_error = 0;
    int64_t ns_error = 0;
    int64_t blocked_error = 0;
    int64_t runnable_error = 0;
    int64_t sampled = 0;
    std::array<WakerLabels, kMaxWakers> wakers;
    size_t named_wakers = 0;  // of `wakers` that are named
    std::string times;
  };
  struct LabelNames;
  using ProcessName = std::tuple<int64_t, int64_t, std::string_view, std::string_view, std::string_view>;

  template <typename Message>
  absl::StatusOr<Labels> ReadLabels(const Message& sample);
  template <typename Message>
  absl::Status ReadDetails(const Message& details, Labels* labels);
  static absl::Status CheckAnyLabels(const AnyLabels& labels);
  static absl::Status CheckLabels(const Labels& labels);
  static void SetErrors(const Labels& labels, ProfileRow* row);
  absl::Status ReadValues(std::span<const int64_t> values, ProfileRow* row);
  absl::Status ReadTimes(const std::string& times, ProfileRow* row) const;
  static void ReadAnyLabel(std::string_view key, std::string_view text, int64_t number, AnyLabels* labels);
  static void ReadWakerLabel(std::string_view key, std::string_view text, int64_t number, Labels* labels);
  absl::StatusOr<uint32_t> InternProcess(const AnyLabels& labels);
  uint32_t InternComm(std::string_view comm);
  absl::StatusOr<uint32_t> InternControlGroup(std::string_view path);
  std::string_view Idle(std::string_view pattern);
  // What RowKey::waker is of these stacks, the sample's own first.
  absl::StatusOr<uint32_t> InternWaker(const Labels& labels, const std::vector<PprofStacks::Locations>& stacks);

  PprofTables& tables_;
  const size_t values_;
  PprofBudget& held_;
  PprofBudget shown_;
  NamedProfile& profile_;
  PprofStacks stacks_;
  absl::flat_hash_map<ProcessName, uint32_t> process_index_;
  absl::flat_hash_map<std::string_view, uint32_t> comm_index_;
  absl::flat_hash_map<WakerChain, uint32_t> waker_index_;
  absl::flat_hash_map<std::string_view, uint32_t> control_group_index_;
  absl::flat_hash_set<std::string_view> idle_patterns_;
};

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_ROWS_H_
