#include "tables/top_text.h"

#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "tables/columns.h"
#include "tables/top_lines.h"

namespace offcpu {

std::vector<std::string> TopText(const TopTable& table, const std::string& time_of_day, const std::string& recorder,
                                 RowValue value) {
  const Rates rates(table.duration_ns);
  std::vector<std::string> lines = TopHead(table, time_of_day, recorder);
  lines.emplace_back();
  lines.push_back(absl::StrFormat("%7s %-15s %s %9s", "PID", "PROCESS", RateTitles(HasErrors(table)), "LONGEST"));
  for (const TopProcess& process : table.processes) {
    lines.push_back(
        absl::StrFormat("%7s %s %s %9s", PidText(process.pid, process.pids), Cell(process.name, kThreadNameColumns),
                        RateColumns(process.sums, rates, HasErrors(table)), FormatDuration(process.sums.max_ns)));
  }
  lines.emplace_back();
  lines.push_back(TopStackTitle(value, HasErrors(table)));
  for (const TopStack& stack : table.stacks)
    lines.push_back(TopStackLine(stack, rates, value, kNoLimit, HasErrors(table)));
  for (std::string& line : lines) line = ForScreen(line, kNoLimit);
  return lines;
}

}  // namespace offcpu
