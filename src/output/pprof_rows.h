// Turns the samples of a pprof file of ours into the rows of a profile, with the processes, names and stacks that they
// share. Each number, name and reference is checked; equal stacks are held once.
#ifndef OFFCPU_OUTPUT_PPROF_ROWS_H_
#define OFFCPU_OUTPUT_PPROF_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "output/pprof_tables.h"
#include "profile/profile.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

class PprofRows {
 public:
  // All must outlive this; `symbols.names` is what `tables` reads its strings into.
  PprofRows(PprofTables& tables, size_t max_frames, Profile& profile, SymbolizedProfile& symbols)
      : tables_(tables), max_frames_(max_frames), profile_(profile), symbols_(symbols) {}

  // A Sample message. DataLoss if it is none of ours, ResourceExhausted if the stacks have more frames than allowed.
  absl::Status Add(std::string_view sample);

 private:
  struct Labels {
    int64_t pid = 0;
    int64_t tid = 0;
    int64_t image = 0;
    int64_t max_ns = 0;
    int64_t count_error = 0;
    int64_t ns_error = 0;
    std::string_view process, comm, container, kind, user_end, no_user_stack, no_kernel_stack, unwind;
  };
  struct LabelNames;
  using StackKey = std::vector<uint32_t>;  // locations, then what else tells stacks apart
  using ProcessName = std::tuple<int64_t, int64_t, std::string_view, std::string_view>;

  template <typename Message>
  absl::StatusOr<Labels> ReadLabels(const Message& sample);
  absl::Status CheckLabels(const Labels& labels) const;
  // Values in the order of kPprofValues.
  absl::Status ReadValues(std::span<const int64_t> values, ProfileRow* row);
  template <typename Message>
  absl::Status ReadStacks(const Message& sample, const Labels& labels, ProfileRow* row);
  absl::Status CountFrames(size_t frames);

  uint32_t InternProcess(const Labels& labels);
  uint32_t InternComm(std::string_view comm);
  absl::StatusOr<uint32_t> InternKernel(std::span<const uint32_t> locations, const Labels& labels);
  absl::StatusOr<uint32_t> InternUser(std::span<const uint32_t> locations, const Labels& labels);
  absl::Status FillUser(std::span<const uint32_t> locations, std::string_view sources, UserStackEntry* entry);

  PprofTables& tables_;
  size_t max_frames_;
  Profile& profile_;
  SymbolizedProfile& symbols_;
  uint64_t count_ = 0;  // of all rows
  uint64_t ns_ = 0;
  size_t frames_ = 0;
  absl::flat_hash_map<ProcessName, uint32_t> process_index_;
  absl::flat_hash_map<std::string_view, uint32_t> comm_index_;
  absl::flat_hash_map<std::string_view, uint32_t> sources_index_;
  absl::flat_hash_map<StackKey, uint32_t> kernel_index_;
  absl::flat_hash_map<StackKey, uint32_t> user_index_;
};

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_PPROF_ROWS_H_
