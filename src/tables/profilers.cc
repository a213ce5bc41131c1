#include "tables/profilers.h"

#include <algorithm>
#include <string_view>

namespace offcpu {

bool IsProfiler(const ProcessInfo& process) {
  const std::string_view path = process.executable;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  return file == "offcpu" || file == "offcpud";
}

RowSums LeaveOutProfilers(NamedProfile* profile) {
  const auto is_left_out = [profile](const NamedRow& row) { return IsProfiler(profile->processes[row.process]); };
  RowSums sums;
  if (std::all_of(profile->rows.begin(), profile->rows.end(), is_left_out)) return sums;
  for (const NamedRow& row : profile->rows) {
    if (is_left_out(row)) sums.Add(row);
  }
  std::erase_if(profile->rows, is_left_out);
  return sums;
}

}  // namespace offcpu
