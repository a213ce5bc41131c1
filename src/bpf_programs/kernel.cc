#include "bpf_programs/kernel.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "bpf_programs/kernel_code.h"
#include "bpf_programs/orc_format.h"
#include "process/machine.h"

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

// How many arguments a tracepoint's programs get: `void *` and what the tracepoint passes.
int TracepointArguments(const btf* types, const char* tracepoint) {
  const std::string name = std::string("btf_trace_") + tracepoint;
  int id = btf__find_by_name_kind(types, name.c_str(), BTF_KIND_TYPEDEF);
  for (int hops = 0; hops < 2 && id > 0; ++hops) {  // typedef -> pointer -> prototype
    id = static_cast<int>(btf__type_by_id(types, static_cast<uint32_t>(id))->type);
  }
  const btf_type* prototype = id > 0 ? btf__type_by_id(types, static_cast<uint32_t>(id)) : nullptr;
  return prototype != nullptr && btf_is_func_proto(prototype) ? btf_vlen(prototype) - 1 : -1;
}

// In bits, from the structure's begin, that of members of unnamed unions and structures in it, too.
std::optional<uint32_t> OffsetIn(const btf* types, const btf_type* structure, std::string_view member) {
  const btf_member* members = btf_members(structure);
  for (uint32_t i = 0; i < btf_vlen(structure); ++i) {
    const std::string_view name = btf__name_by_offset(types, members[i].name_off);
    const uint32_t offset = btf_member_bit_offset(structure, i);
    if (name == member) return offset;
    const btf_type* inner = btf__type_by_id(types, members[i].type);
    if (!name.empty() || inner == nullptr || !btf_is_composite(inner)) continue;
    if (const std::optional<uint32_t> within = OffsetIn(types, inner, member)) return offset + *within;
  }
  return std::nullopt;
}

std::optional<uint32_t> OffsetOf(const btf* types, const char* structure, std::string_view member) {
  const int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
  if (id <= 0) return std::nullopt;
  return OffsetIn(types, btf__type_by_id(types, static_cast<uint32_t>(id)), member);
}

bool HasMember(const btf* types, const char* structure, std::string_view member) {
  return OffsetOf(types, structure, member).has_value();
}

std::optional<uint32_t> EnumValue(const btf* types, const char* enumeration, std::string_view name) {
  const int id = btf__find_by_name_kind(types, enumeration, BTF_KIND_ENUM);
  if (id <= 0) return std::nullopt;
  const btf_type* type = btf__type_by_id(types, static_cast<uint32_t>(id));
  const struct btf_enum* values = btf_enum(type);
  for (uint32_t i = 0; i < btf_vlen(type); ++i) {
    if (btf__name_by_offset(types, values[i].name_off) == name) return static_cast<uint32_t>(values[i].val);
  }
  return std::nullopt;
}

// mm->context.tlb_gen: x86.
bool HasTlbGeneration(const btf* types) {
  int id = btf__find_by_name_kind(types, "mm_context_t", BTF_KIND_TYPEDEF);
  if (id > 0) id = static_cast<int>(btf__type_by_id(types, static_cast<uint32_t>(id))->type);
  return id > 0 && OffsetIn(types, btf__type_by_id(types, static_cast<uint32_t>(id)), "tlb_gen").has_value();
}

// In the form that bpf/mm_tree.bpf.h reads, with a number by which changes show.
bool HasMmTree(const btf* types) {
  constexpr uint32_t kWordBits = 64;
  return HasMember(types, "mm_struct", "mm_mt") && OffsetOf(types, "maple_range_64", "pivot") == kWordBits &&
         OffsetOf(types, "maple_range_64", "slot") == (1 + 15) * kWordBits &&
         OffsetOf(types, "maple_arange_64", "pivot") == kWordBits &&
         OffsetOf(types, "maple_arange_64", "slot") == (1 + 9) * kWordBits &&
         EnumValue(types, "maple_type", "maple_leaf_64") == 1u &&
         EnumValue(types, "maple_type", "maple_range_64") == 2u &&
         EnumValue(types, "maple_type", "maple_arange_64") == 3u &&
         (HasMember(types, "mm_struct", "mm_lock_seq") || HasTlbGeneration(types));
}

int TaskWorkArguments(const btf* types) {
  if (ArgumentsOf(types, "bpf_task_work_schedule_resume") == 4) return 4;
  if (ArgumentsOf(types, "bpf_task_work_schedule_resume_impl") == 5) return 5;
  return 0;
}

// From 5.19 on copy_from_user_nofault could take a lock that a waker holds (mended by d319f344561d, which also has it
// call nmi_uaccess_okay): in 6.4, and in older kernels as their distributors mended them.
bool ReadsOfUserMemoryAreSafe(const KernelRanges& ranges) {
  utsname name;
  int major = 0;
  int minor = 0;
  if (uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  const auto version = std::pair(major, minor);
  if (version < std::pair(5, 19) || version >= std::pair(6, 4)) return true;
  if (ranges.nofault_copy.begin == 0 || ranges.uaccess_check == 0) return false;
  absl::StatusOr<std::vector<uint8_t>> code = ReadKernelCode(ranges.nofault_copy.begin);
  if (!code.ok()) return false;
  const uint64_t bytes = ranges.nofault_copy.end - ranges.nofault_copy.begin;
  if (bytes < code->size()) code->resize(bytes);
  return Calls(*code, ranges.nofault_copy.begin, ranges.uaccess_check);
}

// The form of the unwind tables.
std::optional<wire_orc_registers> OrcRegisters(const KernelRanges& ranges) {
  const absl::StatusOr<std::vector<uint8_t>> header = ReadKernelCode(ranges.walk.orc.header.begin);
  uint32_t hash = 0;
  if (!header.ok() || header->size() < sizeof(hash)) return std::nullopt;
  std::memcpy(&hash, header->data(), sizeof(hash));
  return OrcRegistersOf(hash);
}

// Is it known how the kernel's frames follow one another?
bool KnowsFrames(const btf* types, KernelFeatures* features) {
  if (&kHostMachine == &kAArch64) return true;
  if (!HasMember(types, "orc_entry", "signal")) return false;
  const std::optional<wire_orc_registers> registers = OrcRegisters(features->ranges);
  if (registers.has_value()) features->orc_registers = *registers;
  return registers.has_value();
}

// For tests: as a kernel before 6.16 would be recorded on.
bool ActsAsOld() { return std::getenv("OFFCPU_AS_OLD_KERNEL") != nullptr; }

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
        "this kernel has no type information (/sys/kernel/btf/vmlinux is missing or empty): it needs "
        "CONFIG_DEBUG_INFO_BTF=y");
  }
  if (!HasMember(types.get(), "sched_info", "run_delay")) {
    return absl::FailedPreconditionError(
        "this kernel does not count how long threads wait for a CPU: it needs CONFIG_SCHEDSTATS=y or "
        "CONFIG_TASK_DELAY_ACCT=y");
  }
  KernelFeatures features;
  features.switch_tp = TracepointArguments(types.get(), "sched_switch") >= 4;
  features.task_iter = HasType(types.get(), "bpf_iter_task_type", BTF_KIND_ENUM);
  features.exit_tp = !ActsAsOld() && HasType(types.get(), "btf_trace_sched_exit_tp", BTF_KIND_TYPEDEF);
  features.rq_clock = HasMember(types.get(), "sched_entity", "cfs_rq");
  features.delays_dequeue = HasMember(types.get(), "sched_entity", "sched_delayed");
  features.task_work_arguments = ActsAsOld() ? 0 : TaskWorkArguments(types.get());
  features.mm_tree = HasMmTree(types.get());
  features.real_time = IsRealTime();
  features.ranges = FindKernelRanges(kHostMachine, ReadKallsyms());
  features.can_read_user = ReadsOfUserMemoryAreSafe(features.ranges);
  features.kernel_walk = features.ranges.walk.can_walk(kHostMachine) && KnowsFrames(types.get(), &features);
  return features;
}

}  // namespace offcpu
