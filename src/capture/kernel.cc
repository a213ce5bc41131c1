#include "capture/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace offcpu {
namespace {

struct BtfDeleter {
  void operator()(btf* types) const { btf__free(types); }
};
using OwnedBtf = std::unique_ptr<btf, BtfDeleter>;

bool HasType(const btf* types, const char* name, uint32_t kind) {
  return btf__find_by_name_kind(types, name, kind) > 0;
}

// Newer kernels have functions of the older name that are not for programs: the number of arguments tells.
int ArgumentsOf(const btf* types, const char* function) {
  const int id = btf__find_by_name_kind(types, function, BTF_KIND_FUNC);
  if (id <= 0) return -1;
  const btf_type* type = btf__type_by_id(types, static_cast<uint32_t>(id));
  const btf_type* prototype = btf__type_by_id(types, type->type);
  return prototype != nullptr ? btf_vlen(prototype) : -1;
}

// Of the programs of a tracepoint: `void *` and what the tracepoint passes.
int TracepointArguments(const btf* types, const char* tracepoint) {
  const std::string name = std::string("btf_trace_") + tracepoint;
  int id = btf__find_by_name_kind(types, name.c_str(), BTF_KIND_TYPEDEF);
  for (int hops = 0; hops < 2 && id > 0; ++hops) {  // typedef -> pointer -> prototype
    id = static_cast<int>(btf__type_by_id(types, static_cast<uint32_t>(id))->type);
  }
  const btf_type* prototype = id > 0 ? btf__type_by_id(types, static_cast<uint32_t>(id)) : nullptr;
  return prototype != nullptr && btf_is_func_proto(prototype) ? btf_vlen(prototype) - 1 : -1;
}

bool HasMember(const btf* types, const char* structure, const char* member) {
  const int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
  if (id <= 0) return false;
  const btf_type* type = btf__type_by_id(types, static_cast<uint32_t>(id));
  const btf_member* members = btf_members(type);
  for (int i = 0; i < btf_vlen(type); ++i) {
    const char* name = btf__name_by_offset(types, members[i].name_off);
    if (name != nullptr && std::strcmp(name, member) == 0) return true;
  }
  return false;
}

int TaskWorkArguments(const btf* types) {
  if (ArgumentsOf(types, "bpf_task_work_schedule_resume") == 4) return 4;
  if (ArgumentsOf(types, "bpf_task_work_schedule_resume_impl") == 5) return 5;
  return 0;
}

// copy_from_user_nofault could deadlock from 5.19 on; 6.4 mended it.
bool ReadsOfUserMemoryAreSafe() {
  utsname name;
  int major = 0;
  int minor = 0;
  if (uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 4);
}

// The file is there on real-time kernels only.
bool IsRealTime() {
  int value = 0;
  std::ifstream("/sys/kernel/realtime") >> value;
  return value == 1;
}

std::string ReadKallsyms() {
  std::ifstream file("/proc/kallsyms");
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

absl::StatusOr<KernelFeatures> ProbeKernel() {
  libbpf_set_print(nullptr);  // the status says it
  const OwnedBtf types(btf__load_vmlinux_btf());
  if (types == nullptr) {
    return absl::FailedPreconditionError(
        "this kernel gives no type information (/sys/kernel/btf/vmlinux is missing or empty): it needs "
        "CONFIG_DEBUG_INFO_BTF=y");
  }
  if (!HasMember(types.get(), "sched_info", "run_delay")) {
    return absl::FailedPreconditionError(
        "this kernel does not tell how long threads wait for a CPU: it needs CONFIG_SCHEDSTATS=y or "
        "CONFIG_TASK_DELAY_ACCT=y");
  }
  KernelFeatures features;
  features.switch_tp = TracepointArguments(types.get(), "sched_switch") >= 4;
  features.task_iter = HasType(types.get(), "bpf_iter_task_type", BTF_KIND_ENUM);
  features.exit_tp = HasType(types.get(), "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF);
  features.rq_clock = HasMember(types.get(), "sched_entity", "cfs_rq");
  features.task_work_arguments = TaskWorkArguments(types.get());
  features.vma_iter = ArgumentsOf(types.get(), "bpf_iter_task_vma_new") == 3;
  features.locking_vma_iter = !HasMember(types.get(), "bpf_iter_task_vma_kern_data", "snapshot");
  features.real_time = IsRealTime();
  features.can_read_user = ReadsOfUserMemoryAreSafe();
  features.ranges = FindKernelRanges(ReadKallsyms());
  features.orc = HasMember(types.get(), "orc_entry", "signal") && features.ranges.orc.can_walk();
  return features;
}

}  // namespace offcpu
