#include "tests/harness/ledger_rows.h"

#include <cstdint>
#include <map>
#include <utility>

#include "gtest/gtest.h"

namespace offcpu::integration {

void ExpectRowsAreTheLedger(const Recording& recording) {
  std::map<std::pair<uint32_t, int32_t>, std::pair<uint64_t, uint64_t>> rows;  // by process and tid
  for (const ProfileRow& row : recording.profile.rows) {
    auto& [blocked_ns, runnable_ns] = rows[{row.process, row.tid}];
    blocked_ns += row.blocked_ns;
    runnable_ns += row.runnable_ns;
  }
  for (const LedgerEntry& entry : recording.profile.ledger) {
    const auto& [blocked_ns, runnable_ns] = rows[{entry.process, entry.tid}];
    EXPECT_EQ(blocked_ns, entry.blocked_ns) << entry.comm << " (" << entry.tid << ")\n" << recording.LossesText();
    EXPECT_EQ(runnable_ns, entry.runnable_ns) << entry.comm << " (" << entry.tid << ")\n" << recording.LossesText();
    rows.erase({entry.process, entry.tid});
  }
  for (const auto& [thread, times] : rows) {
    if (times.first + times.second == 0) continue;  // a first wait of no length, before an execve
    const ProcessInfo& process = recording.profile.processes[thread.first];
    ADD_FAILURE() << "rows without an entry: " << process.name << " (" << process.key.pid << ", " << thread.second
                  << "): blocked " << times.first << " runnable " << times.second << "\n"
                  << recording.LossesText();
  }
}

}  // namespace offcpu::integration
