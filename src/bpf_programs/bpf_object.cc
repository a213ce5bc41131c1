#include "bpf_programs/bpf_object.h"

#include <cerrno>

#include "bpf_programs/errno_status.h"
#include "offcpu_plain.skel.h"
#include "offcpu_tw4.skel.h"
#include "offcpu_tw5.skel.h"

namespace offcpu {
namespace {

constexpr char kKernelBtf[] = "/sys/kernel/btf/vmlinux";

#define OFFCPU_MEMBER(name) .name = members.name,
template <typename Members>
BpfMaps MapsOf(const Members& members) {
  return {OFFCPU_BPF_MAPS(OFFCPU_MEMBER)};
}

template <typename Members>
BpfPrograms ProgramsOf(const Members& members) {
  return {OFFCPU_BPF_PROGRAMS(OFFCPU_MEMBER)};
}
#undef OFFCPU_MEMBER

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
                   .maps = MapsOf(skeleton->maps),
                   .programs = ProgramsOf(skeleton->progs),
                   .config = &skeleton->rodata_config->config,
                   .waker_config = &skeleton->rodata_wakers->waker_config,
                   .walk_config = &skeleton->rodata_walk->walk_config,
                   .control = &skeleton->bss->control};
}

}  // namespace

// The variant that names no function that this kernel has not.
absl::StatusOr<BpfObject> BpfObject::Open(const KernelFeatures& features) {
  if (features.task_work_arguments == 5) return OpenVariant<offcpu_tw5>();
  if (features.task_work_arguments == 4) return OpenVariant<offcpu_tw4>();
  return OpenVariant<offcpu_plain>();
}

}  // namespace offcpu
