#include "output/row_labels.h"

#include "symbolize/system_calls.h"

namespace offcpu {
namespace {

RowLabelValue& At(RowLabel label, RowLabelValues& values) { return values[static_cast<size_t>(label)]; }

}  // namespace

RowLabels::RowLabels(const Profile& profile, const SymbolizedProfile& symbols)
    : profile_(profile), symbols_(symbols), causes_(symbols), images_(profile.processes.size()) {}

// How many other processes of this pid came before.
int64_t RowLabels::Image(uint32_t process) {
  std::optional<int64_t>& image = images_[process];
  if (!image.has_value()) image = images_of_pid_[profile_.processes[process].key.pid]++;
  return *image;
}

RowLabelValues RowLabels::OfProcess(uint32_t process) {
  const ProcessInfo& info = profile_.processes[process];
  RowLabelValues values;
  At(RowLabel::kProcess, values).text = info.name;
  At(RowLabel::kPid, values).number = info.key.pid;
  At(RowLabel::kImage, values).number = Image(process);
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
  // Of the process it is known by now and not of its control group of old hierarchies.
  if (RowLabelValue& container = At(RowLabel::kContainer, values); container.text.empty())
    container.text = names.container;
}

RowLabelValues RowLabels::OfRow(size_t index) {
  const ProfileRow& row = profile_.rows[index];
  RowLabelValues values = OfProcess(row.process);
  At(RowLabel::kTid, values).number = row.tid;
  At(RowLabel::kComm, values).text = profile_.comms[row.comm];
  FillControlGroup(row.control_group, values);
  At(RowLabel::kKind, values).text = Name(row.kind);
  if (row.kind != WaitKind::kRunning) At(RowLabel::kCause, values).text = Name(causes_.Of(row));
  const auto [call, is_new] = system_calls_.try_emplace(row.syscall);
  if (is_new) call->second = SystemCallName(row.syscall);
  At(RowLabel::kSystemCall, values).text = call->second;
  if (!symbols_.idle.empty()) At(RowLabel::kIdle, values).text = symbols_.idle[index];
  return values;
}

}  // namespace offcpu
