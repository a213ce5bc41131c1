// Turns the frames of the samples of a pprof file of ours into the stacks of a profile, each held once.
#ifndef OFFCPU_PPROF_PPROF_STACKS_H_
#define OFFCPU_PPROF_PPROF_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "pprof/pprof_fields.h"
#include "pprof/pprof_tables.h"
#include "profile/named_profile.h"

namespace offcpu {

// The labels of a sample, by their names in pprof_labels.h; "": it has none.
struct PprofStackLabels {
  std::string_view user_end, no_user_stack, no_kernel_stack, unwind;
};

// What a function of a frame with such names counts for PprofLimits: they, and what is held and written beside them.
inline uint64_t PprofFrameBytes(std::string_view name, std::string_view file) { return name.size() + file.size() + 64; }

class PprofStacks {
 public:
  struct Stacks {
    uint32_t kernel = 0;  // indices into the profile
    uint32_t user = 0;
    uint64_t bytes = 0;  // of their frames
  };

  // All must outlive this; `profile.names` is what `tables` reads its strings into.
  PprofStacks(const PprofTables& tables, size_t max_frames, PprofBudget& held, NamedProfile& profile)
      : tables_(tables), max_frames_(max_frames), held_(held), profile_(profile) {}

  using Locations = std::vector<uint32_t>;  // of one stack, leaf first; indices into the tables

  // The locations of a sample, taken apart where its wakers meet: its own, and those of `wakers`, the first one
  // first. DataLoss if there are more or fewer, ResourceExhausted if one is too deep.
  absl::StatusOr<std::vector<Locations>> Split(std::span<const uint64_t> location_ids, size_t wakers) const;
  // The stacks of these locations. DataLoss if they are none of ours, ResourceExhausted if there are, with all others,
  // too many.
  absl::StatusOr<Stacks> Intern(const Locations& locations, const PprofStackLabels& labels);
  // The stacks of an interrupt, which has no user stack.
  absl::StatusOr<Stacks> InternInterrupt(const Locations& locations, const PprofStackLabels& labels);

 private:
  using LocationSpan = std::span<const uint32_t>;
  using StackIndex = absl::flat_hash_map<std::vector<uint32_t>, uint32_t>;  // by locations, and what else tells apart

  absl::StatusOr<std::vector<uint32_t>> Find(std::span<const uint64_t> location_ids) const;
  size_t Functions(LocationSpan locations) const;
  uint64_t Bytes(LocationSpan locations) const;
  bool IsMark(uint32_t index) const;
  bool TakeMarker(const NamedUserStack& stack, LocationSpan* locations) const;
  bool FillFrames(LocationSpan locations, std::string_view sources, NamedUserStack* stack) const;
  static void SetName(const PprofLocation& location, NamedFrame* frame);
  absl::StatusOr<uint32_t> InternKernel(LocationSpan locations, std::string_view label);
  absl::StatusOr<uint32_t> InternUser(LocationSpan locations, const PprofStackLabels& labels);

  const PprofTables& tables_;
  size_t max_frames_;
  PprofBudget& held_;
  NamedProfile& profile_;
  absl::flat_hash_map<std::string_view, uint32_t> sources_index_;
  StackIndex kernel_index_;
  StackIndex user_index_;
  std::optional<uint32_t> no_user_of_interrupts_;
};

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_STACKS_H_
