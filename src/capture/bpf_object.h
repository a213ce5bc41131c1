// The BPF object in the variant that this kernel takes: its maps and BPF programs by the names of its skeleton, which
// all variants share. Opens it; whoever opens it configures, loads and attaches it.
#ifndef OFFCPU_CAPTURE_BPF_OBJECT_H_
#define OFFCPU_CAPTURE_BPF_OBJECT_H_

#include <bpf/libbpf.h>

#include <cstring>
#include <memory>

#include "absl/status/statusor.h"
#include "bpf/wire.h"
#include "capture/kernel.h"

namespace offcpu {

struct BpfMaps {
  bpf_map* intervals = nullptr;
  bpf_map* captures = nullptr;
  bpf_map* buffers = nullptr;
  bpf_map* counters = nullptr;
  bpf_map* stack_hints = nullptr;
  bpf_map* stamps = nullptr;
  bpf_map* sent = nullptr;
  bpf_map* sent_places = nullptr;
  bpf_map* pids = nullptr;
  bpf_map* excluded_pids = nullptr;
  bpf_map* tids = nullptr;
  bpf_map* uids = nullptr;
  bpf_map* cgroups = nullptr;
  bpf_map* globs = nullptr;
};

struct BpfPrograms {
  bpf_program* sched_switch = nullptr;
  bpf_program* sched_exit = nullptr;
  bpf_program* sched_waking = nullptr;
  bpf_program* sched_process_fork = nullptr;
  bpf_program* sched_process_exec = nullptr;
  bpf_program* sched_process_exit = nullptr;
  bpf_program* sched_process_free = nullptr;
  bpf_program* sample = nullptr;
  bpf_program* sample_nmi = nullptr;
  bpf_program* list_tasks = nullptr;
  bpf_program* describe_task = nullptr;
  bpf_program* list_threads = nullptr;
  bpf_program* list_accounts = nullptr;
};

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
  wire_orc_config* orc_config = nullptr;
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

#endif  // OFFCPU_CAPTURE_BPF_OBJECT_H_
