#include "tables/top_history.h"

#include <algorithm>

#include "tables/top_lines.h"

namespace offcpu {

TopHistory::Key TopHistory::KeyOf(const TopProcess& process) {
  return process.program.empty() ? Key(process.pid, process.name) : Key(0, process.program);
}

void TopHistory::Add(const TopTable& table) {
  const Rates rates(table.duration_ns);
  Refresh& refresh = refreshes_.emplace_back(Refresh{.processes = {}, .is_sample = table.unsampled_most_ns != 0});
  for (size_t i = 0; i < std::min(table.processes.size(), kMaxProcesses); ++i) {
    const TopProcess& process = table.processes[i];
    Costs costs = {.by_value = {}, .is_estimate = process.sums.ns_variance > 0};
    for (const RowValueInfo& info : RowValues(false)) {
      costs.by_value[static_cast<size_t>(info.value)] =
          static_cast<float>(rates.PerSecond(ValueOf(process.sums, info.value)));
    }
    refresh.processes.try_emplace(KeyOf(process), costs);
  }
  if (refreshes_.size() > kMaxRefreshes) refreshes_.pop_front();
}

std::vector<std::optional<double>> TopHistory::Of(const TopProcess& process, RowValue value) const {
  const Key key = KeyOf(process);
  bool is_estimate = process.sums.ns_variance > 0;
  for (const Refresh& refresh : refreshes_) {
    const auto it = refresh.processes.find(key);
    is_estimate = is_estimate || (it != refresh.processes.end() && it->second.is_estimate);
  }
  std::vector<std::optional<double>> costs;
  for (const Refresh& refresh : refreshes_) {
    const auto it = refresh.processes.find(key);
    if (it != refresh.processes.end()) {
      costs.emplace_back(it->second.by_value.at(static_cast<size_t>(value)));
    } else {
      costs.push_back(is_estimate && refresh.is_sample ? std::nullopt : std::optional<double>(0));
    }
  }
  return costs;
}

}  // namespace offcpu
