// Waits for work as people read of them: how much of them is hidden, or shown. Plain text.
#ifndef OFFCPU_TABLES_IDLE_TABLE_H_
#define OFFCPU_TABLES_IDLE_TABLE_H_

#include <string>
#include <vector>

#include "bytes/byte_sink.h"
#include "classify/idle.h"

namespace offcpu {

// "waiting for work: 12 waits, 3.4 s, hidden; --idle=show shows them\n", or "" if there are none.
std::string IdleLine(const std::vector<IdleSum>& sums);

// A line for each pattern below a title with the sum and "hidden" or "shown"; nothing if there are none.
void WriteIdleTable(const std::vector<IdleSum>& sums, bool hidden, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_IDLE_TABLE_H_
