// What `offcpu top` shows alike in plain text and on a screen: figures per second, so that intervals of any length
// compare, the head, and a stack on one line. Pure functions.
#ifndef OFFCPU_TABLES_TOP_LINES_H_
#define OFFCPU_TABLES_TOP_LINES_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "labels/row_value.h"
#include "tables/top_table.h"

namespace offcpu {

// What an interval has in a second.
class Rates {
 public:
  explicit Rates(uint64_t duration_ns) : duration_ns_(static_cast<double>(duration_ns)) {}
  double PerSecond(uint64_t amount) const {
    return duration_ns_ == 0 ? 0 : static_cast<double>(amount) * 1e9 / duration_ns_;
  }
  std::string Time(uint64_t ns) const;
  std::string Count(uint64_t count) const;
  std::string Value(const RowSums& sums, RowValue value) const;

 private:
  double duration_ns_;
};

// The title of the column of a value.
const char* RateTitle(RowValue value);

// Four columns: off the CPU, blocked, runnable, waits; and behind the first its standard error, if it `has_errors`.
std::string RateTitles(bool has_errors);
std::string RateColumns(const RowSums& sums, const Rates& rates, bool has_errors);

inline constexpr size_t kThreadNameColumns = 15;  // what the kernel keeps of it

// Who recorded what, all that there was in a second, what is left out and lost.
std::vector<std::string> TopHead(const TopTable& table, const std::string& time_of_day, const std::string& recorder);

// "1234", or "x16" of the processes of a program.
std::string PidText(int32_t pid, const std::set<int32_t>& pids);

std::string TopStackTitle(RowValue value, bool has_errors);
std::string TopStackLine(const TopStack& stack, const Rates& rates, RowValue value, size_t columns, bool has_errors);

// Whether anything in the table is an estimate: then all of it has columns for errors.
inline bool HasErrors(const TopTable& table) { return table.sums.ns_variance > 0; }

// How many of `room` lines for two tables the first one gets: half, or what it needs, or what the second leaves.
size_t ShareOfLines(size_t room, size_t first, size_t second);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_LINES_H_
