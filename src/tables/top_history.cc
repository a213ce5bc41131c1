#include "tables/top_history.h"

#include <algorithm>

#include "tables/top_lines.h"

namespace offcpu {

void TopHistory::Add(const TopTable& table) {
  const Rates rates(table.duration_ns);
  auto& refresh = refreshes_.emplace_back();
  for (size_t i = 0; i < std::min(table.processes.size(), kMaxProcesses); ++i) {
    const TopProcess& process = table.processes[i];
    Costs costs = {};
    for (const RowValueInfo& info : RowValues(false)) {
      costs[static_cast<size_t>(info.value)] = static_cast<float>(rates.PerSecond(ValueOf(process.sums, info.value)));
    }
    refresh.try_emplace({process.pid, process.name}, costs);
  }
  if (refreshes_.size() > kMaxRefreshes) refreshes_.pop_front();
}

std::vector<double> TopHistory::Of(const TopProcess& process, RowValue value) const {
  const Key key = {process.pid, process.name};
  std::vector<double> costs;
  for (const auto& refresh : refreshes_) {
    const auto it = refresh.find(key);
    costs.push_back(it == refresh.end() ? 0 : it->second.at(static_cast<size_t>(value)));
  }
  return costs;
}

}  // namespace offcpu
