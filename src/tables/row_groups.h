// Rows that are one to a reader: the waits of all processes and threads of a program at one stack. Sixteen backends of
// a server that wait for the same lock are one line, not sixteen. Pure functions.
#ifndef OFFCPU_TABLES_ROW_GROUPS_H_
#define OFFCPU_TABLES_ROW_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// What is kept apart.
enum class RowsApart : uint8_t {
  kPrograms,   // by name and executable
  kProcesses,  // by pid
  kThreads,    // and by tid, where the profile knows it
};

struct RowGroup {
  ProfileRow row;                               // the sums; the key is that of the row with most time
  std::string_view wait;                        // what that is (NamedRow::wait)
  uint64_t most_ns = 0;                         // of that row
  std::set<uint32_t> processes;                 // indices into the profile
  std::set<uint32_t> comms;                     // likewise
  std::set<std::pair<uint32_t, int32_t>> tids;  // with their processes; empty where rows have no threads
  std::vector<const NamedRow*> rows;            // they must outlive this

  void Add(const NamedRow& added);
};

// Leaves out numbers in the names of all threads and programs of two recordings that are to be compared. A thread that
// is called like a program keeps the digits that such names keep.
void LeaveOutNumbers(NamedProfile* before, NamedProfile* after);

// Is this what is left of a wait for work, its time for a CPU (idle.h)? It belongs to no wait that is counted.
inline bool IsRemainder(const ProfileRow& row) { return row.count == 0 && row.samples == 0 && row.max_ns == 0; }

// By the index of a process, that of the first one which is the same to the reader; likewise of names of threads.
std::vector<uint32_t> SameProcesses(const NamedProfile& profile, RowsApart apart);
std::vector<uint32_t> SameComms(const NamedProfile& profile);

// What makes a process the same program as another one: its name and its executable.
std::string ProgramOf(const ProcessInfo& process);

// What several names of one program, or of the threads of one pool, are called together.
std::string ProgramText(const std::set<std::string>& names);
std::string ThreadText(const std::set<std::string>& names);

// A group for each stack of functions, whatever was waited for there, and whatever ended that. In the order of the
// rows. Waits that went on at the end have stacks without the functions of the scheduler that they had called: they are
// in the group of those that have ended at the same place, if there is one such group.
std::vector<RowGroup> GroupStacks(const NamedProfile& profile, std::span<const NamedRow> rows, RowsApart apart);

// "postgres", or "kworker/*" of several names; the same of threads.
std::string ProgramText(const NamedProfile& profile, const RowGroup& group);
std::string ThreadText(const NamedProfile& profile, const RowGroup& group);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_ROW_GROUPS_H_
