#include "labels/row_labels.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/nearest_word.h"
#include "classify/system_calls.h"

namespace offcpu {
namespace {

RowLabelValue& At(RowLabel label, RowLabelValues& values) { return values[static_cast<size_t>(label)]; }

}  // namespace

absl::StatusOr<RowLabel> ParseRowLabel(const std::string& name) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kRowLabelCount; ++i) {
    if (kRowLabels[i].name == name) return static_cast<RowLabel>(i);
    names.emplace_back(kRowLabels[i].name);
  }
  return absl::InvalidArgumentError(absl::StrCat("no label is called '", name, "'", DidYouMean(name, names),
                                                 "; the labels are ", absl::StrJoin(names, ", ")));
}

std::string TextOf(const RowLabelValues& values, RowLabel label) {
  if (!HasLabel(values, label)) return "";
  const RowLabelValue& value = values[static_cast<size_t>(label)];
  return InfoOf(label).is_number ? absl::StrCat(value.number) : std::string(value.text);
}

RowLabels::RowLabels(const NamedProfile& profile)
    : profile_(profile), causes_(profile), images_(profile.processes.size(), -1) {
  NumberImages();
}

// How many other processes of the same pid come before: in the order of the rows, and then of the wakers.
void RowLabels::NumberImages() {
  absl::flat_hash_map<int32_t, int64_t> images_of_pid;
  const auto number = [&](uint32_t process) {
    if (images_[process] < 0) images_[process] = images_of_pid[profile_.processes[process].key.pid]++;
  };
  for (const ProfileRow& row : profile_.rows) number(row.process);
  for (const WakerChain& chain : profile_.wakers) {
    for (const Waker& waker : chain) {
      if (!waker.interrupt) number(waker.process);
    }
  }
}

RowLabelValues RowLabels::OfProcess(uint32_t process) {
  const ProcessInfo& info = profile_.processes[process];
  RowLabelValues values;
  At(RowLabel::kProcess, values).text = info.name;
  At(RowLabel::kExecutable, values).text = info.executable;
  At(RowLabel::kPid, values).number = info.key.pid;
  At(RowLabel::kImage, values).number = images_[process];
  At(RowLabel::kContainer, values).text = info.container;
  return values;
}

void RowLabels::FillControlGroup(uint32_t control_group, RowLabelValues& values) {
  if (control_group == 0) return;
  const std::string& path = profile_.control_groups[control_group - 1];
  const auto [it, is_new] = control_groups_.try_emplace(control_group);
  if (is_new) it->second = NamesInControlGroup(path);
  const ControlGroupNames& names = it->second;
  At(RowLabel::kControlGroup, values).text = path;
  At(RowLabel::kPod, values).text = names.pod;
  At(RowLabel::kUnit, values).text = names.unit;
}

RowLabelValues RowLabels::OfRow(const NamedRow& row) {
  RowLabelValues values = OfProcess(row.process);
  At(RowLabel::kTid, values).number = row.tid;
  At(RowLabel::kComm, values).text = profile_.comms[row.comm];
  FillControlGroup(row.control_group, values);
  At(RowLabel::kKind, values).text = Name(row.kind);
  if (row.kind != WaitKind::kRunning) {
    At(RowLabel::kCause, values).text = Family(causes_.Of(row));
    At(RowLabel::kWait, values).text = causes_.NameOf(row);
  }
  const auto [call, is_new] = system_calls_.try_emplace(row.syscall);
  if (is_new) call->second = SystemCallName(row.syscall);
  At(RowLabel::kSystemCall, values).text = call->second;
  At(RowLabel::kIdle, values).text = row.idle;
  return values;
}

}  // namespace offcpu
