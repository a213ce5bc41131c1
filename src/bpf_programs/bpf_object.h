// The BPF object in the variant that this kernel takes: its maps and BPF programs by the names of its skeleton, which
// all variants share. Opens it; the caller configures, loads and attaches it.
#ifndef OFFCPU_BPF_PROGRAMS_BPF_OBJECT_H_
#define OFFCPU_BPF_PROGRAMS_BPF_OBJECT_H_

#include <bpf/libbpf.h>

#include <cstring>
#include <memory>

#include "absl/status/statusor.h"
#include "bpf/wire.h"
#include "bpf_programs/kernel.h"

namespace offcpu {

// Those that are used by name, in one list for the structs and for what fills them: X(name) of each.
// clang-format off
#define OFFCPU_BPF_MAPS(X) \
  X(intervals) X(captures) X(buffers) X(counters) X(cpus) X(users) X(stack_hints) X(stamps) X(sent) X(sent_places) X(user_rows) X(user_memos) X(kernel_memos) X(user_stacks) X(sums) \
  X(pids) X(excluded_pids) X(tids) X(uids) X(cgroups) X(globs)
#define OFFCPU_BPF_PROGRAMS(X) \
  X(sched_switch) X(sched_exit) X(sched_waking) X(sched_migrate_task) \
  X(sched_process_fork) X(sched_process_exec) X(sched_process_exit) X(sched_process_free) \
  X(sample) X(sample_nmi) X(list_tasks) X(describe_task) X(list_threads) X(list_accounts) \
  X(flush_sums) X(ask_for_nothing) X(learn_namespace)
// clang-format on

#define OFFCPU_MEMBER(name) bpf_map* name = nullptr;
struct BpfMaps {
  OFFCPU_BPF_MAPS(OFFCPU_MEMBER)
};
#undef OFFCPU_MEMBER

#define OFFCPU_MEMBER(name) bpf_program* name = nullptr;
struct BpfPrograms {
  OFFCPU_BPF_PROGRAMS(OFFCPU_MEMBER)
};
#undef OFFCPU_MEMBER

struct BpfObject {
  static absl::StatusOr<BpfObject> Open(const KernelFeatures& features);

  std::shared_ptr<void> owner;  // of all that follows
  bpf_object_skeleton* skeleton = nullptr;
  bpf_object* object = nullptr;
  BpfMaps maps;
  BpfPrograms programs;
  // Read-only once the object is loaded.
  wire_config* config = nullptr;
  wire_waker_config* waker_config = nullptr;
  wire_kernel_walk_config* walk_config = nullptr;
  // Once it is loaded, shared with the BPF programs.
  wire_control* control = nullptr;
};

// What LIBBPF_OPTS makes, without GNU extensions. libbpf refuses options whose padding is not zero.
template <typename T>
T BpfOptions() {
  T options;
  std::memset(&options, 0, sizeof(options));
  options.sz = sizeof(options);
  return options;
}

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_BPF_OBJECT_H_
