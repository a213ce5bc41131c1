// The labels of a row: what a reader sees of its key beside its stacks. This is the one list of them; every format that
// has labels goes through it, and so does who reads them back.
#ifndef OFFCPU_LABELS_ROW_LABELS_H_
#define OFFCPU_LABELS_ROW_LABELS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "classify/wait_cause.h"
#include "process/control_groups.h"
#include "profile/named_profile.h"

namespace offcpu {

enum class RowLabel : uint8_t {
  kPid,
  kProcess,
  kExecutable,
  kContainer,
  kImage,
  kTid,
  kComm,
  kControlGroup,
  kPod,
  kUnit,
  kKind,
  kCause,
  kWait,
  kSystemCall,
  kIdle
};
inline constexpr size_t kRowLabelCount = static_cast<size_t>(RowLabel::kIdle) + 1;

struct RowLabelInfo {
  RowLabel label = {};
  std::string_view name;        // in pprof and JSON
  std::string_view attribute;   // in OTLP
  bool is_number = false;       // so that a filter finds 12 and not 123, and stores need not index it
  bool is_of_resource = false;  // in OTLP: it says what runs, not how it waits
};

// In the order in which they are written.
inline constexpr std::array<RowLabelInfo, kRowLabelCount> kRowLabels = {{
    {.label = RowLabel::kPid, .name = "pid", .attribute = "process.pid", .is_number = true, .is_of_resource = true},
    {.label = RowLabel::kProcess, .name = "process", .attribute = "process.title", .is_of_resource = true},
    {.label = RowLabel::kExecutable, .name = "exe", .attribute = "process.executable.path", .is_of_resource = true},
    {.label = RowLabel::kContainer, .name = "container", .attribute = "container.id", .is_of_resource = true},
    // Which program of this pid, in order; none: the first.
    {.label = RowLabel::kImage,
     .name = "image",
     .attribute = "offcpu.image",
     .is_number = true,
     .is_of_resource = true},
    {.label = RowLabel::kTid,
     .name = "tid",
     .attribute = "thread.id",
     .is_number = true},  // only if threads have rows of their own
    {.label = RowLabel::kComm, .name = "comm", .attribute = "thread.name"},
    // The control group of the thread, of version 2: its path, and what its names say.
    {.label = RowLabel::kControlGroup, .name = "cgroup", .attribute = "offcpu.cgroup", .is_of_resource = true},
    {.label = RowLabel::kPod, .name = "pod", .attribute = "k8s.pod.uid", .is_of_resource = true},
    // A service or scope of systemd.
    {.label = RowLabel::kUnit, .name = "unit", .attribute = "offcpu.unit", .is_of_resource = true},
    {.label = RowLabel::kKind, .name = "kind", .attribute = "offcpu.kind"},
    {.label = RowLabel::kCause,
     .name = "cause",
     .attribute = "offcpu.cause"},  // the family of the cause; told by the kind, the system call and the kernel stack
    {.label = RowLabel::kWait, .name = "wait", .attribute = "offcpu.wait"},  // the cause; told by the user stack, too
    {.label = RowLabel::kSystemCall, .name = "syscall", .attribute = "offcpu.syscall"},  // of the kernel entry
    {.label = RowLabel::kIdle,
     .name = "idle",
     .attribute = "offcpu.idle"},  // the pattern of waiting for work that it matches
}};

static_assert([] {
  for (size_t i = 0; i < kRowLabelCount; ++i) {
    if (static_cast<size_t>(kRowLabels[i].label) != i) return false;
  }
  return true;
}());

constexpr const RowLabelInfo& InfoOf(RowLabel label) { return kRowLabels[static_cast<size_t>(label)]; }

// By its name; InvalidArgument that lists the names there are.
absl::StatusOr<RowLabel> ParseRowLabel(const std::string& name);

// Only one of both is used, as RowLabelInfo::is_number says. Without text, or 0, a row does not have the label; the
// number of a process is written even if it is 0.
struct RowLabelValue {
  std::string_view text;
  int64_t number = 0;
};
using RowLabelValues = std::array<RowLabelValue, kRowLabelCount>;

inline bool HasLabel(const RowLabelValues& values, RowLabel label) {
  const RowLabelValue& value = values[static_cast<size_t>(label)];
  return InfoOf(label).is_number ? value.number != 0 || label == RowLabel::kPid : !value.text.empty();
}

// As people read it; "" without the label.
std::string TextOf(const RowLabelValues& values, RowLabel label);

// Tells the labels of rows and of processes. The profile must outlive this, and this the values.
class RowLabels {
 public:
  explicit RowLabels(const NamedProfile& profile);

  // The labels of a row of the profile.
  RowLabelValues OfRow(const NamedRow& row);
  RowLabelValues OfProcess(uint32_t process);

 private:
  void NumberImages();
  void FillControlGroup(uint32_t control_group, RowLabelValues& values);

  const NamedProfile& profile_;
  WaitCauses causes_;
  std::vector<int64_t> images_;                  // by process
  std::map<int32_t, std::string> system_calls_;  // what is in maps stays where it is
  std::map<uint32_t, ControlGroupNames> control_groups_;
};

// Calls visit(info, value) for each label that is there.
template <typename Visit>
void VisitLabels(const RowLabelValues& values, Visit visit) {
  for (size_t i = 0; i < kRowLabelCount; ++i) {
    if (HasLabel(values, static_cast<RowLabel>(i))) visit(kRowLabels[i], values[i]);
  }
}

}  // namespace offcpu

#endif  // OFFCPU_LABELS_ROW_LABELS_H_
