// Whether the kernel hides tasks from BPF programs, as kernels of some sandboxes hide their supervisor and threads of
// the kernel: iterators leave such tasks out, and no program is called where one of them is the current task. /proc
// shows them. Reads /proc; keeps nothing.
#ifndef OFFCPU_BPF_PROGRAMS_HIDDEN_TASKS_H_
#define OFFCPU_BPF_PROGRAMS_HIDDEN_TASKS_H_

#include <cstdint>
#include <vector>

#include "bpf_programs/programs.h"

namespace offcpu {

// The numbers of all threads, in no order.
std::vector<int32_t> ListThreadsOfProc();

// Is one of the threads that /proc had shown before an iterator listed all not in its list, though it has not ended?
bool HidesTasks(const std::vector<int32_t>& shown, const std::vector<TaskDescription>& listed);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_HIDDEN_TASKS_H_
