#include "bpf_programs/settings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <tuple>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bpf_programs/errno_status.h"
#include "bpf_programs/glob.h"
#include "bpf_programs/process_context.h"
#include "bpf_programs/stack_ids.h"
#include "bpf_programs/wire_names.h"
#include "os/owned_fd.h"
#include "profile/run_queue_waits.h"

namespace offcpu {
namespace {

uint32_t PageBytes() { return static_cast<uint32_t>(sysconf(_SC_PAGESIZE)); }

uint32_t RingBytes(uint32_t wanted) { return std::bit_ceil(std::clamp<uint32_t>(wanted, PageBytes(), 1u << 30)); }

// Is the stamp of a thread enough to sample by? Where the wait's kind or its thread's control group decides what is
// recorded, or where accounts and wakers need each wait, more has to be known.
bool SamplesAtSwitch(const ProgramsConfig& config, const KernelFeatures& features) {
  const bool is_narrow = config.min_wait_ns != 0 || config.max_wait_ns != 0 || !config.kinds.empty() ||
                         !config.cgroups.empty() || !config.excluded_cgroups.empty();
  return config.is_sampled && !is_narrow && !config.wakers && !config.ledger && features.rq_clock;
}

uint32_t RandomSalt() {
  uint32_t salt = 0;
  while (getrandom(&salt, sizeof(salt), 0) != sizeof(salt)) {
  }
  return salt;
}

wire_config WireConfig(const ProgramsConfig& config, const KernelFeatures& features, uint32_t buffers) {
  wire_config wire = {};
  wire.min_wait_ns = config.min_wait_ns;
  wire.max_wait_ns = config.max_wait_ns;
  wire.samples_at_switch = SamplesAtSwitch(config, features);
  wire.user_salt = RandomSalt();
  for (const WaitKind kind : config.kinds) {
    wire.kinds |= static_cast<uint16_t>(1u << WireKind(kind));
    // Both were taken from the CPU.
    if (kind == WaitKind::kPreempted) wire.kinds |= static_cast<uint16_t>(1u << WIRE_KIND_THROTTLED);
  }
  wire.filter_uids = !config.uids.empty();
  wire.kernel_threads = config.kernel_threads;
  wire.ledger = config.ledger;
  wire.excluded_globs = static_cast<uint8_t>(config.excluded_comms.size());
  wire.excluded_cgroups = static_cast<uint8_t>(config.excluded_cgroups.size());
  wire.exclude_pids = !config.excluded_pids.empty();
  wire.schedule_begin = features.ranges.schedule.begin;
  wire.schedule_end = features.ranges.schedule.end;
  wire.schedule_tail_begin = features.ranges.schedule_tail.begin;
  wire.schedule_tail_end = features.ranges.schedule_tail.end;
  wire.entry_begin = features.ranges.entry.begin;
  wire.entry_end = features.ranges.entry.end;
  wire.capture_bytes_per_second = config.capture_bytes_per_second;
  wire.task_works_per_second = config.task_works_per_second;
  wire.own_tgid = static_cast<uint32_t>(getpid());
  wire.own_pids = ReadProcessContext().pids != PidNamespace::kHost;
  wire.page_bytes = PageBytes();
  wire.command_tgid = static_cast<uint32_t>(config.command);
  wire.buffers = buffers;
  wire.mappings_per_second = config.mappings_per_second;
  wire.process_ns_per_second = config.process_ns_per_second;
  wire.ends_at_switch = !features.can_defer();
  wire.has_rq_clock = features.rq_clock;
  wire.has_task_work = features.can_defer() && config.task_works_per_second != 0;
  wire.reads_mappings = features.mm_tree;
  wire.can_read_user = features.can_read_user;
  wire.filter_pids = !config.pids.empty() || config.command != 0;
  wire.filter_tids = !config.tids.empty();
  wire.follow_forks = config.follow_forks;
  wire.globs = static_cast<uint8_t>(config.comms.size());
  wire.cgroups = static_cast<uint8_t>(config.cgroups.size());
  wire.selects = wire.filter_pids != 0 || wire.exclude_pids != 0 || wire.filter_tids != 0 || wire.filter_uids != 0 ||
                 wire.globs != 0 || wire.excluded_globs != 0 || wire.cgroups != 0 || wire.excluded_cgroups != 0;
  return wire;
}

wire_range WireRange(const AddressRange& range) { return {.begin = range.begin, .end = range.end}; }

// A place for each thread that a host may have, up to `most`.
uint32_t StampPlaces(uint32_t most) {
  uint32_t numbers = 0;
  std::ifstream("/proc/sys/kernel/pid_max") >> numbers;
  return std::clamp<uint32_t>(numbers, 1, most);
}

// One more than the highest number of a CPU. There may be gaps below it.
uint32_t CpuNumbers() {
  std::string possible;  // "0-3", "0-3,8-11"
  std::getline(std::ifstream("/sys/devices/system/cpu/possible"), possible);
  uint32_t highest = 0;
  if (absl::SimpleAtoi(possible.substr(possible.find_last_of(",-") + 1), &highest)) return highest + 1;
  return static_cast<uint32_t>(libbpf_num_possible_cpus());
}

// The kernel takes no more of a stack.
uint32_t MaxFrames() {
  uint32_t frames = 0;
  std::ifstream("/proc/sys/kernel/perf_event_max_stack") >> frames;
  return std::min<uint32_t>(frames, WIRE_KERNEL_FRAMES);
}

wire_kernel_walk_config WireKernelWalkConfig(const KernelWalkRanges& walk) {
  return {.text = WireRange(walk.text),
          .sched_text = WireRange(walk.sched_text),
          .lock_text = WireRange(walk.lock_text),
          .addresses = walk.orc.addresses.begin,
          .entries = walk.orc.entries.begin,
          .modules = walk.orc.modules,
          .ret_from_fork = walk.ret_from_fork,
          .trampolines = {walk.trampolines[0], walk.trampolines[1]},
          .rows = walk.orc.rows(),
          .enabled = 1,
          .checks_all = 0,
          .max_frames = MaxFrames()};
}

// As many as can be in use at one time: one where each CPU's thread returns to user mode, and one in an interrupt of
// that. Each takes 80 KiB, and a host may have hundreds of CPUs that are seldom all at it.
uint32_t CaptureBuffers() {
  constexpr long kMaxBuffers = 128;
  return static_cast<uint32_t>(std::clamp(2 * sysconf(_SC_NPROCESSORS_ONLN) + 2, 4L, kMaxBuffers));
}

wire_waker_config WireWakerConfig(const ProgramsConfig& config, const WakerRanges& ranges) {
  static_assert(std::tuple_size_v<decltype(ranges.interrupts)> == WIRE_INTERRUPT_ENTRIES);
  wire_waker_config wire = {};
  wire.enabled = config.wakers ? 1 : 0;
  wire.max_frames = MaxFrames();
  wire.try_to_wake_up = WireRange(ranges.try_to_wake_up);
  std::transform(ranges.interrupts.begin(), ranges.interrupts.end(), wire.interrupts, WireRange);
  std::transform(ranges.softirqs.begin(), ranges.softirqs.end(), wire.softirqs, WireRange);
  wire.backlog = WireRange(ranges.backlog);
  return wire;
}

template <typename Id>
absl::Status FillSet(const bpf_map* map, const std::vector<Id>& members) {
  const uint64_t zero = 0;  // as large as any value of a set
  for (const Id member : members) {
    const auto key = static_cast<uint32_t>(member);
    if (bpf_map_update_elem(bpf_map__fd(map), &key, &zero, BPF_ANY) != 0)
      return ErrnoStatus("cannot set a filter", errno);
  }
  return absl::OkStatus();
}

std::vector<std::string> Joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Accounts and wakers need each interval.
bool SumsUp(const ProgramsConfig& config, const wire_config& wire) {
  static_assert(kRunQueueBoundsNs[WIRE_SUM_BOUNDS - 1] >= WIRE_SUM_MOST_NS);
  return config.sums && wire.walks_user != 0 && !config.ledger && !config.wakers;
}

absl::Status FillCgroups(const bpf_map* map, const std::vector<std::string>& paths) {
  if (paths.size() > WIRE_CGROUPS) {
    return absl::InvalidArgumentError(absl::StrCat("at most ", WIRE_CGROUPS, " cgroups can be selected and excluded"));
  }
  for (uint32_t i = 0; i < paths.size(); ++i) {
    const OwnedFd directory(open(paths[i].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return absl::NotFoundError(absl::StrCat("cgroup ", paths[i], ": ", strerror(errno)));
    const int fd = directory.get();
    if (bpf_map_update_elem(bpf_map__fd(map), &i, &fd, BPF_ANY) != 0) {
      return absl::InvalidArgumentError(absl::StrCat(paths[i], " is not a directory of a cgroup v2 hierarchy"));
    }
  }
  return absl::OkStatus();
}

absl::Status FillGlobs(const bpf_map* map, const std::vector<std::string>& patterns) {
  if (patterns.size() > WIRE_GLOBS) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", WIRE_GLOBS, " thread names can be selected and excluded"));
  }
  for (uint32_t i = 0; i < patterns.size(); ++i) {
    const absl::StatusOr<wire_glob> glob = CompileGlob(patterns[i]);
    if (!glob.ok()) return glob.status();
    if (bpf_map_update_elem(bpf_map__fd(map), &i, &*glob, BPF_ANY) != 0)
      return ErrnoStatus("cannot set a filter", errno);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Configure(const BpfObject& bpf, const ProgramsConfig& config, const KernelFeatures& features) {
  if (config.wakers && !features.ranges.wakers.can_tell()) {
    return absl::FailedPreconditionError(
        "wakers cannot be recorded: without /proc/kallsyms, interrupts cannot be told from threads; see kernel symbols "
        "in `offcpu doctor`");
  }
  const absl::StatusOr<wire_hash_key> key = config.hash_key.has_value() ? *config.hash_key : NewHashKey();
  if (!key.ok()) return key.status();
  const uint32_t buffers = CaptureBuffers();
  *bpf.config = WireConfig(config, features, buffers);
  bpf.config->hash_key = *key;
  *bpf.waker_config = WireWakerConfig(config, features.ranges.wakers);
  if (features.kernel_walk) *bpf.walk_config = WireKernelWalkConfig(features.ranges.walk);
  bpf.walk_config->checks_all = config.checks_kernel_walks ? 1 : 0;
  bpf.config->keeps_stacks = features.kernel_walk && !bpf.config->ends_at_switch;
  if (bpf.config->keeps_stacks != 0) bpf_map__set_max_entries(bpf.maps.kernel_memos, WIRE_KERNEL_MEMOS);
  bpf.config->proof_odds = config.proof_odds;
  bpf.config->walks_user = config.proof_odds != 0 && features.mm_tree && features.can_read_user;
  if (bpf.config->walks_user != 0) {
    bpf_map__set_max_entries(bpf.maps.user_rows, WIRE_USER_ROW_BUCKETS);
    bpf_map__set_max_entries(bpf.maps.user_memos, WIRE_USER_MEMOS);
    bpf_map__set_max_entries(bpf.maps.user_stacks, WIRE_USER_STACK_BUCKETS);
  }
  if (SumsUp(config, *bpf.config)) {
    bpf.config->sums = 1;
    bpf.config->per_thread = config.per_thread ? 1 : 0;
    bpf.config->sum_ns = static_cast<uint32_t>(config.bucket_ns);
    std::copy_n(kRunQueueBoundsNs.begin(), WIRE_SUM_BOUNDS, bpf.config->run_queue_bounds_ns);
    bpf_map__set_max_entries(bpf.maps.sums, WIRE_SUM_PLACES * static_cast<uint32_t>(libbpf_num_possible_cpus()));
  }
  bpf.config->has_stamps = features.can_defer();
  if (features.can_defer()) bpf_map__set_max_entries(bpf.maps.stamps, StampPlaces(config.stamp_places));
  bpf_map__set_max_entries(bpf.maps.cpus, CpuNumbers());
  bpf_map__set_max_entries(bpf.maps.users, CpuNumbers() * WIRE_USERS);
  bpf_map__set_max_entries(bpf.maps.intervals, RingBytes(config.interval_ring_bytes));
  bpf_map__set_max_entries(bpf.maps.captures, RingBytes(config.capture_ring_bytes));
  bpf_map__set_max_entries(bpf.maps.buffers, buffers);
  const BpfPrograms& programs = bpf.programs;
  bpf_program__set_autoload(programs.sched_exit, bpf.config->ends_at_switch == 0);
  bpf_program__set_autoload(programs.flush_sums, bpf.config->sums != 0);
  bpf_program__set_autoload(programs.ask_for_nothing, bpf.config->has_task_work != 0);
  bpf_program__set_autoload(programs.learn_namespace, bpf.config->own_pids != 0);
  bpf_program__set_autoload(programs.sample, config.oncpu_hz != 0);
  bpf_program__set_autoload(programs.sample_nmi, config.oncpu_in_nmi);
  bpf_program__set_autoload(programs.sched_waking, config.wakers);
  bpf_program__set_autoload(programs.sched_migrate_task, features.delays_dequeue);
  bpf_program__set_autoload(programs.sched_process_free, bpf.config->filter_pids || bpf.config->exclude_pids);
  return absl::OkStatus();
}

absl::Status FillFilters(const BpfObject& bpf, const ProgramsConfig& config) {
  const BpfMaps& maps = bpf.maps;
  absl::Status status = FillSet(maps.pids, config.pids);
  if (status.ok()) status = FillSet(maps.tids, config.tids);
  if (status.ok()) status = FillSet(maps.uids, config.uids);
  if (status.ok()) status = FillSet(maps.excluded_pids, config.excluded_pids);
  if (status.ok()) status = FillCgroups(maps.cgroups, Joined(config.cgroups, config.excluded_cgroups));
  if (status.ok()) status = FillGlobs(maps.globs, Joined(config.comms, config.excluded_comms));
  return status;
}

}  // namespace offcpu
