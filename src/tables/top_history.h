// What each process has cost in the last refreshes of `offcpu top`. One thread.
#ifndef OFFCPU_TABLES_TOP_HISTORY_H_
#define OFFCPU_TABLES_TOP_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "labels/row_value.h"
#include "tables/top_table.h"

namespace offcpu {

class TopHistory {
 public:
  static constexpr size_t kMaxRefreshes = 60;
  static constexpr size_t kMaxProcesses = 2000;  // of a refresh, the first of its table

  void Add(const TopTable& table);

  // Per second of each refresh, the oldest first; 0 where the process did not wait. Where its waits are a sample,
  // nothing if none was sampled: it may have waited.
  std::vector<std::optional<double>> Of(const TopProcess& process, RowValue value) const;

 private:
  using Key = std::pair<int32_t, std::string>;  // a process, or 0 and a program
  static Key KeyOf(const TopProcess& process);
  struct Costs {
    std::array<float, static_cast<size_t>(RowValue::kSamples)> by_value = {};
    bool is_estimate = false;
  };
  struct Refresh {
    absl::flat_hash_map<Key, Costs> processes;
    bool is_sample = false;
  };
  std::deque<Refresh> refreshes_;
};

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_HISTORY_H_
