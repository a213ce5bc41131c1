#include "profile/lost_stacks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/time_buckets.h"

namespace offcpu {
namespace {

// Times are of all that a row has, or not known.
std::string JoinedTimes(const std::string& a, const std::string& b) {
  TimeBuckets all;
  for (const std::string* times : {&a, &b}) {
    const std::optional<std::vector<TimeBucket>> buckets = UnpackTimes(*times);
    if (times->empty() || !buckets.has_value()) return "";
    for (const TimeBucket& bucket : *buckets) all.Add(bucket);
  }
  return PackTimes(all, 0, 0);
}

// By their indices as they are, what they become. Chains that have become the same are one.
std::vector<uint32_t> JoinChains(std::vector<WakerChain>& chains) {
  std::vector<uint32_t> to;
  std::vector<WakerChain> joined;
  absl::flat_hash_map<WakerChain, uint32_t> known;
  for (WakerChain& chain : chains) {
    const auto [it, is_new] = known.try_emplace(chain, static_cast<uint32_t>(joined.size()));
    to.push_back(it->second);
    if (is_new) joined.push_back(std::move(chain));
  }
  chains = std::move(joined);
  return to;
}

void JoinRows(std::vector<NamedRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const NamedRow& a, const NamedRow& b) { return a.key() < b.key(); });
  size_t kept = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].key() == rows[kept].key()) {
      rows[kept].times = JoinedTimes(rows[kept].times, rows[i].times);
      rows[kept].Add(rows[i]);
    } else if (++kept != i) {
      rows[kept] = std::move(rows[i]);
    }
  }
  if (!rows.empty()) rows.resize(kept + 1);
}

}  // namespace

void JoinLostStacks(NamedProfile& profile) {
  const std::vector<NamedKernelStack>& stacks = profile.kernel_stacks;
  const auto is_lost = [](const NamedKernelStack& stack) { return stack.is_lost(); };
  if (std::count_if(stacks.begin(), stacks.end(), is_lost) < 2) return;
  const auto first = static_cast<uint32_t>(std::find_if(stacks.begin(), stacks.end(), is_lost) - stacks.begin());
  const auto join = [&](uint32_t& stack) { stack = stacks[stack].is_lost() ? first : stack; };
  for (WakerChain& chain : profile.wakers) {
    for (Waker& waker : chain) join(waker.kernel_stack);
  }
  const std::vector<uint32_t> chains = JoinChains(profile.wakers);
  for (NamedRow& row : profile.rows) {
    join(row.kernel_stack);
    if (row.waker != 0) row.waker = chains[row.waker - 1] + 1;
  }
  JoinRows(profile.rows);
}

}  // namespace offcpu
