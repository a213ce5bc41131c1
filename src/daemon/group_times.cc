#include "daemon/group_times.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "classify/idle.h"
#include "classify/wait_cause.h"
#include "process/control_groups.h"

namespace offcpu {
namespace {

TimeGroup GroupOf(const NamedProfile& profile, const NamedRow& row) {
  const std::string& container = profile.processes[row.process].container;
  if (row.control_group == 0) return {.unit = "", .pod = "", .container = container};
  ControlGroupNames names = NamesInControlGroup(profile.control_groups[row.control_group - 1]);
  const bool is_service = container.empty() && names.pod.empty() && NamesAService(names.unit);
  return {.unit = is_service ? std::string(names.unit) : "", .pod = std::move(names.pod), .container = container};
}

}  // namespace

uint64_t GroupTime::total_ns() const {
  uint64_t total = runnable_ns;
  for (const auto& [cause, ns] : blocked_ns) total += ns;
  return total;
}

void GroupTime::Add(const GroupTime& other) {
  for (const auto& [cause, ns] : other.blocked_ns) blocked_ns[cause] += ns;
  runnable_ns += other.runnable_ns;
}

std::map<TimeGroup, GroupTime> GroupTimesOf(const NamedProfile& profile) {
  WaitCauses causes(profile);
  std::map<TimeGroup, GroupTime> times;
  for (const NamedRow& row : profile.rows) {
    if (row.blocked_ns == 0 && row.runnable_ns == 0) continue;
    GroupTime& time = times[GroupOf(profile, row)];
    time.runnable_ns += row.runnable_ns;
    if (!IsIdle(row) && row.blocked_ns != 0) time.blocked_ns[std::string(Family(causes.Of(row)))] += row.blocked_ns;
  }
  return times;
}

void TopGroups::Show(const TimeGroup& group, const GroupTime& time) {
  if (shown_.size() == kMost) {
    const auto least = std::min_element(recent_ns_.begin(), recent_ns_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (least->second >= time.total_ns()) return others_.Add(time);
    others_.Add(shown_[least->first]);
    shown_.erase(least->first);
    recent_ns_.erase(least);
  }
  shown_.emplace(group, time);
  recent_ns_.emplace(group, time.total_ns());
}

void TopGroups::Add(const std::map<TimeGroup, GroupTime>& window) {
  for (auto& [group, ns] : recent_ns_) ns /= 2;
  std::vector<std::pair<uint64_t, const TimeGroup*>> fresh;
  for (const auto& [group, time] : window) {
    const auto known = shown_.find(group);
    if (known == shown_.end()) {
      fresh.emplace_back(time.total_ns(), &group);
      continue;
    }
    known->second.Add(time);
    recent_ns_[group] += time.total_ns();
  }
  std::sort(fresh.begin(), fresh.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [ns, group] : fresh) Show(*group, window.at(*group));
}

}  // namespace offcpu
