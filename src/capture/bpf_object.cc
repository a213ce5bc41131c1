#include "capture/bpf_object.h"

#include <cerrno>

#include "capture/errno_status.h"
#include "offcpu_plain.skel.h"
#include "offcpu_tw4.skel.h"
#include "offcpu_tw5.skel.h"
#include "offcpu_vma.skel.h"

namespace offcpu {
namespace {

constexpr char kKernelBtf[] = "/sys/kernel/btf/vmlinux";

template <typename Skeleton>
BpfMaps MapsOf(const Skeleton& skeleton) {
  const auto& maps = skeleton.maps;
  return {.intervals = maps.intervals,
          .captures = maps.captures,
          .buffers = maps.buffers,
          .counters = maps.counters,
          .stack_hints = maps.stack_hints,
          .stamps = maps.stamps,
          .sent = maps.sent,
          .sent_places = maps.sent_places,
          .pids = maps.pids,
          .excluded_pids = maps.excluded_pids,
          .tids = maps.tids,
          .uids = maps.uids,
          .cgroups = maps.cgroups,
          .globs = maps.globs};
}

template <typename Skeleton>
BpfPrograms ProgramsOf(const Skeleton& skeleton) {
  const auto& programs = skeleton.progs;
  return {.sched_switch = programs.sched_switch,
          .sched_exit = programs.sched_exit,
          .sched_waking = programs.sched_waking,
          .sched_process_fork = programs.sched_process_fork,
          .sched_process_exec = programs.sched_process_exec,
          .sched_process_exit = programs.sched_process_exit,
          .sched_process_free = programs.sched_process_free,
          .sample = programs.sample,
          .sample_nmi = programs.sample_nmi,
          .list_tasks = programs.list_tasks,
          .describe_task = programs.describe_task,
          .list_threads = programs.list_threads,
          .list_accounts = programs.list_accounts};
}

template <typename Skeleton>
absl::StatusOr<BpfObject> OpenVariant() {
  auto options = BpfOptions<bpf_object_open_opts>();
  // As if it were another kernel's: else libbpf 1.1 looks for types that this kernel has not in its modules too, which
  // takes CAP_SYS_ADMIN, and gives up without it.
  options.btf_custom_path = kKernelBtf;
  Skeleton* skeleton = Skeleton::open(&options);
  if (skeleton == nullptr) return ErrnoStatus("cannot open the BPF object", errno);
  return BpfObject{.owner = std::shared_ptr<Skeleton>(skeleton, Skeleton::destroy),
                   .skeleton = skeleton->skeleton,
                   .object = skeleton->obj,
                   .maps = MapsOf(*skeleton),
                   .programs = ProgramsOf(*skeleton),
                   .config = &skeleton->rodata_config->config,
                   .waker_config = &skeleton->rodata_wakers->waker_config,
                   .orc_config = &skeleton->rodata_orc->orc_config,
                   .control = &skeleton->bss->control};
}

}  // namespace

// The variant that names no function that this kernel has not.
absl::StatusOr<BpfObject> BpfObject::Open(const KernelFeatures& features) {
  if (features.task_work_arguments == 5) return OpenVariant<offcpu_tw5>();
  if (features.task_work_arguments == 4) return OpenVariant<offcpu_tw4>();
  return features.vma_iter ? OpenVariant<offcpu_vma>() : OpenVariant<offcpu_plain>();
}

}  // namespace offcpu
