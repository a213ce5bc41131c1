// What recording has cost the host, for people: a line of the summary and of the service's status. Pure.
#ifndef OFFCPU_TABLES_COST_TEXT_H_
#define OFFCPU_TABLES_COST_TEXT_H_

#include <string>

#include "profile/profile.h"

namespace offcpu {

// "0.84 % of the host (budget 1%): BPF programs 12.0 ms, captures 22.0 ms, recorder 50.0 ms"; empty if it is not known.
// Where the budget was only a part of what the CPUs were busy with: "budget 0.45 %: 1% of the CPU time in use".
std::string CostText(const ProfileStats& stats);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_COST_TEXT_H_
