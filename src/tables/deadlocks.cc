#include "tables/deadlocks.h"

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_map.h"

namespace offcpu {

std::vector<std::vector<int32_t>> FindDeadlocks(std::span<const LockWait> waits) {
  absl::flat_hash_map<int32_t, int32_t> owners;
  for (const LockWait& wait : waits) {
    if (wait.owner != 0) owners[wait.tid] = wait.owner;
  }
  // From each thread the way of the owners is walked until it ends, or is on a way that was walked before.
  absl::flat_hash_map<int32_t, size_t> way_of;
  std::vector<std::vector<int32_t>> circles;
  for (size_t way = 0; way < waits.size(); ++way) {
    std::vector<int32_t> walked;
    int32_t tid = waits[way].tid;
    while (owners.contains(tid) && way_of.try_emplace(tid, way).second) {
      walked.push_back(tid);
      tid = owners[tid];
    }
    const auto it = way_of.find(tid);
    if (walked.empty() || it == way_of.end() || it->second != way) continue;
    circles.emplace_back(std::find(walked.begin(), walked.end(), tid), walked.end());
  }
  return circles;
}

}  // namespace offcpu
