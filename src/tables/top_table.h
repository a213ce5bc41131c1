// What `offcpu top` shows of one interval: the processes and the stacks that were off the CPU longest in it. A pure
// function of a profile; how it looks on a screen is another one, top_screen.h.
#ifndef OFFCPU_TABLES_TOP_TABLE_H_
#define OFFCPU_TABLES_TOP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "bytes/byte_sink.h"
#include "classify/idle.h"
#include "classify/wait_cause.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"
#include "tables/row_groups.h"

namespace offcpu {

// Sums over the interval; its length makes rates of them. Names have no control characters.
struct TopProcess {
  int32_t pid = 0;  // of the first of them
  std::string name;
  RowSums sums;
  std::string program = {};     // as ProgramOf in row_groups.h, where all processes of a program are one line
  std::set<int32_t> pids = {};  // of those then
};

// Stacks that look the same to who reads them are one.
struct TopStack {
  int32_t pid = 0;
  std::string process;
  std::string thread;
  WaitKind kind = WaitKind::kSleeping;  // that most of its time is of
  std::string cause;                    // likewise
  std::string cause_family;             // of that: classify/wait_cause.h
  // The innermost one first. Without those of the C library at either end, if there are others; those of the kernel if
  // there are none at all; a label in brackets for a stack, or the end of one, that is missing.
  std::vector<std::string> frames;
  bool is_kernel = false;  // the frames are the kernel's
  std::string waits_in;    // function of the kernel
  RowSums sums;
  // As of processes.
  std::string program = {};
  std::set<int32_t> pids = {};
};

struct TopTable {
  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;
  std::string host;
  RowSums sums;  // over everything
  bool is_sample = false;
  uint64_t unsampled_most_ns = 0;  // that may be of any process and stack, or none, beside what it has here
  uint64_t slept_throughout = 0;
  std::vector<IdleSum> idle;  // waits for work that are left out of all else
  std::vector<Loss> losses;   // those that lost most time first
  size_t all_processes = 0;
  std::vector<TopProcess> processes;  // the costliest first
  std::vector<TopStack> stacks;       // likewise
};

// With at most `limit` processes and as many stacks, the first by `value`. Waits for work that are marked are left out
// if `hide_idle`, and so are threads that slept throughout, which are counted. `apart`: kPrograms, where the threads of
// a pool are one as well, or kProcesses.
TopTable MakeTopTable(const NamedProfile& profile, RowValue value, size_t limit, bool hide_idle = true,
                      RowsApart apart = RowsApart::kProcesses);

// One object, on a line of its own.
void WriteTopJson(const TopTable& table, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_TABLE_H_
