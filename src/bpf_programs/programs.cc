#include "bpf_programs/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bpf_programs/bpf_object.h"
#include "bpf_programs/counters.h"
#include "bpf_programs/decode.h"
#include "bpf_programs/errno_status.h"
#include "bpf_programs/hidden_tasks.h"
#include "bpf_programs/load_failure.h"
#include "bpf_programs/mapped_array.h"
#include "bpf_programs/request_cost.h"
#include "bpf_programs/sampling_events.h"
#include "bpf_programs/settings.h"
#include "bpf_programs/wire_names.h"
#include "os/now.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

struct LinkDeleter {
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
struct RingDeleter {
  void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
};
using OwnedLink = std::unique_ptr<bpf_link, LinkDeleter>;
using OwnedRing = std::unique_ptr<ring_buffer, RingDeleter>;

// libbpf writes to stderr unless told otherwise.
thread_local LoadFailure load_failure;

int KeepWarning(libbpf_print_level level, const char* format, va_list arguments) {
  if (level != LIBBPF_WARN) return 0;
  char* warning = nullptr;
  const int length = vasprintf(&warning, format, arguments);
  if (length < 0) return 0;
  load_failure.Hear({warning, static_cast<size_t>(length)});
  std::free(warning);
  return 0;
}

TaskDescription Describe(const wire_task& task) {
  return {.process = KeyOf(task.process),
          .tid = static_cast<int32_t>(task.process.tid),
          .code = {.sequence = task.code.sequence, .hash = task.code.hash},
          .recorded = task.recorded != 0,
          .is_kernel = task.is_kernel != 0};
}

// Runs an iterator program to its end and returns what it wrote.
absl::StatusOr<std::vector<std::byte>> Iterate(const bpf_program* program, const TaskScope& scope) {
  bpf_iter_link_info info = {};
  info.task.tid = static_cast<uint32_t>(scope.tid);
  info.task.pid = static_cast<uint32_t>(scope.process);
  auto options = BpfOptions<bpf_iter_attach_opts>();
  options.link_info = &info;
  options.link_info_len = sizeof(info);
  const bool all = scope.tid == 0 && scope.process == 0;
  const OwnedLink link(bpf_program__attach_iter(program, all ? nullptr : &options));
  if (link == nullptr) return ErrnoStatus("cannot list tasks", errno);
  const OwnedFd iterator(bpf_iter_create(bpf_link__fd(link.get())));
  if (!iterator) return ErrnoStatus("cannot list tasks", errno);

  std::vector<std::byte> bytes;
  std::array<std::byte, 16384> chunk;
  while (true) {
    const ssize_t got = read(iterator.get(), chunk.data(), chunk.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return ErrnoStatus("cannot list tasks", errno);
    if (got == 0) return bytes;
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + got);
  }
}

wire_task TaskAt(std::span<const std::byte> bytes) {
  wire_task task;
  std::memcpy(&task, bytes.data(), sizeof(task));
  return task;
}

// Reads a number that a CPU goes on changing.
uint64_t ReadShared(uint64_t& number) { return std::atomic_ref(number).load(std::memory_order_relaxed); }

void Add(wire_timing& of_cpu, wire_timing& sum) {
  sum.timed_ns += ReadShared(of_cpu.timed_ns);
  sum.timed += std::atomic_ref(of_cpu.timed).load(std::memory_order_relaxed);
}

int OnRecord(void* context, void* data, size_t size) {
  const auto& record = *static_cast<const Programs::RecordCallback*>(context);
  record({static_cast<const std::byte*>(data), size});
  return 0;
}

}  // namespace

struct Programs::Impl {
  explicit Impl(BpfObject opened) : bpf(std::move(opened)), control(bpf.control) {}

  const BpfObject bpf;
  wire_control* const control;  // shared with the programs
  std::vector<OwnedLink> links;
  std::unique_ptr<SamplingEvents> sampling;  // null: none
  uint64_t counted_before = 0;               // by them, until recording began
  mutable std::atomic<uint64_t> missed{0};   // samples, as far as it is known: never less than before
  RecordCallback on_record;                  // the rings call back through this
  OwnedRing intervals;
  OwnedRing captures;
  MappedArray<wire_cpu> cpus;
  MappedArray<wire_user> users;  // of each CPU
  MappedArray<wire_user_row_bucket> user_rows;
  MappedArray<wire_user_stack_bucket> user_stacks;
  std::optional<UserRowTables> told;      // in them; none: no user stack is walked
  OwnedFd news;                           // an epoll of both rings and of the following
  OwnedFd hurry;                          // an eventfd
  std::atomic<uint64_t> end_ns{0};        // CLOCK_MONOTONIC
  uint64_t request_ns = 0;                // set before anything is attached
  std::atomic<uint64_t> listed_later{0};  // that were counted as left out of a list, and were in the next
  std::mutex flushing;                    // one thread at a time flushes the sums of a CPU
  std::mutex listing;                     // guards list_min_ns and list_pass of the control page

  absl::Status Load() {
    load_failure = {};
    const int error = -bpf_object__load_skeleton(bpf.skeleton);
    if (error == 0) return LearnNamespace();
    absl::Status status = ErrnoStatus("the kernel refuses the BPF programs", error);
    if (error == EPERM) return status;  // libbpf can only guess why, and guesses at limits of old kernels
    return absl::Status(status.code(), absl::StrCat(status.message(), " (", load_failure.Text(), ")"));
  }

  // Lets the programs see processes by the numbers that this process has for them.
  absl::Status LearnNamespace() {
    if (bpf.config->own_pids == 0) return absl::OkStatus();
    auto run = BpfOptions<bpf_test_run_opts>();
    const int error = -bpf_prog_test_run_opts(bpf_program__fd(bpf.programs.learn_namespace), &run);
    return error == 0 && run.retval == 1 ? absl::OkStatus() : ErrnoStatus("cannot read the pid namespace", error);
  }

  // Sends the sums of one CPU and returns how many stay; nothing: it cannot be done. The program may have interrupted
  // another one that adds, which takes nanoseconds. On a CPU that is offline no program adds.
  std::optional<size_t> FlushSums(uint64_t cpu) {
    constexpr int kAttempts = 1000;
    const int program = bpf_program__fd(bpf.programs.flush_sums);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto run = BpfOptions<bpf_test_run_opts>();
      run.ctx_in = &cpu;
      run.ctx_size_in = sizeof(cpu);
      run.cpu = static_cast<uint32_t>(cpu);
      run.flags = BPF_F_TEST_RUN_ON_CPU;
      int error = -bpf_prog_test_run_opts(program, &run);
      run.flags = 0;
      run.cpu = 0;
      if (error == ENXIO) error = -bpf_prog_test_run_opts(program, &run);
      if (error != 0) return std::nullopt;
      if (run.retval != WIRE_SUM_PLACES) return run.retval;
    }
    return WIRE_SUM_PLACES;
  }

  absl::Status MapCpus() {
    cpus = MappedArray<wire_cpu>::Of(bpf.maps.cpus);
    users = MappedArray<wire_user>::Of(bpf.maps.users);
    const bool is_mapped = !cpus.all().empty() && !users.all().empty();
    return is_mapped ? absl::OkStatus() : ErrnoStatus("cannot map the per-CPU counts", errno);
  }

  // Maps the tables that the BPF programs walk user stacks by.
  absl::Status MapUserRows() {
    if (bpf.config->walks_user == 0) return absl::OkStatus();
    user_rows = MappedArray<wire_user_row_bucket>::Of(bpf.maps.user_rows);
    user_stacks = MappedArray<wire_user_stack_bucket>::Of(bpf.maps.user_stacks);
    if (user_rows.all().empty() || user_stacks.all().empty()) return ErrnoStatus("cannot map the rows", errno);
    told.emplace(bpf.config->hash_key, user_rows.all(), user_stacks.all());
    return absl::OkStatus();
  }

  wire_counter ReadCounter(uint32_t id) const {
    std::vector<wire_counter> per_cpu(static_cast<size_t>(libbpf_num_possible_cpus()));
    wire_counter sum = {};
    if (bpf_map_lookup_elem(bpf_map__fd(bpf.maps.counters), &id, per_cpu.data()) != 0) return sum;
    for (const wire_counter& counter : per_cpu) {
      sum.count += counter.count;
      sum.ns = id == WIRE_COUNT_CAPTURE_LONGEST ? std::max(sum.ns, counter.ns) : sum.ns + counter.ns;
    }
    return sum;
  }

  // The programs go on counting.
  wire_counter CountPassedOver() const {
    wire_counter sum = {};
    for (wire_cpu& cpu : cpus.all()) {
      sum.count += ReadShared(cpu.passed_over.count);
      sum.ns += ReadShared(cpu.passed_over.ns);
    }
    return sum;
  }

  absl::Status OpenRings() {
    intervals.reset(ring_buffer__new(bpf_map__fd(bpf.maps.intervals), OnRecord, &on_record, nullptr));
    captures.reset(ring_buffer__new(bpf_map__fd(bpf.maps.captures), OnRecord, &on_record, nullptr));
    if (intervals == nullptr || captures == nullptr) return ErrnoStatus("cannot map the rings", errno);
    return absl::OkStatus();
  }

  // Only the rings' wake-ups count as news, not that there is something in them.
  absl::Status WatchNews() {
    news = OwnedFd(epoll_create1(EPOLL_CLOEXEC));
    hurry = OwnedFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    epoll_event event = {.events = EPOLLIN | EPOLLET, .data = {}};
    for (const int fd : {hurry.get(), bpf_map__fd(bpf.maps.intervals), bpf_map__fd(bpf.maps.captures)}) {
      if (epoll_ctl(news.get(), EPOLL_CTL_ADD, fd, &event) != 0) return ErrnoStatus("cannot watch the rings", errno);
    }
    return absl::OkStatus();
  }

  // The end of an interval first: a thread that comes back without a stamp has been away since the beginning.
  absl::Status Attach() {
    const BpfPrograms& programs = bpf.programs;
    absl::Status status = bpf.config->ends_at_switch != 0 ? absl::OkStatus() : Attach(programs.sched_exit);
    for (const bpf_program* program : {programs.sched_process_fork, programs.sched_process_exec,
                                       programs.sched_process_exit, programs.sched_process_free, programs.sched_switch,
                                       programs.sched_migrate_task, programs.sched_waking, programs.sample_nmi}) {
      if (status.ok()) status = Attach(program);
    }
    return status;
  }

  absl::Status Attach(const bpf_program* program) {
    if (!bpf_program__autoload(program)) return absl::OkStatus();
    OwnedLink link(bpf_program__attach(program));
    if (link == nullptr) return ErrnoStatus("cannot attach a BPF program", errno);
    links.push_back(std::move(link));
    return absl::OkStatus();
  }

  // Makes the storage of all threads. Where the kernel hides some of them, sched_switch does not tell of all arrivals.
  absl::Status Seed(const Programs& programs) {
    const std::vector<int32_t> before = bpf.config->ends_at_switch != 0 ? ListThreadsOfProc() : std::vector<int32_t>();
    const auto seeded = programs.ListTasks();
    if (!seeded.ok()) return seeded.status();
    if (!HidesTasks(before, *seeded)) return absl::OkStatus();
    std::atomic_ref(control->hides_tasks).store(1, std::memory_order_release);
    return Attach(bpf.programs.sched_exit);
  }

  absl::Status AttachSampling(uint32_t hz) {
    if (hz == 0) return absl::OkStatus();
    absl::StatusOr<std::unique_ptr<SamplingEvents>> events = SamplingEvents::Open(bpf.programs.sample, hz);
    if (!events.ok()) return events.status();
    sampling = *std::move(events);
    control->sample_period_ns = 1'000'000'000 / hz;
    control->clock_period_ns = sampling->clock_period_ns();
    return absl::OkStatus();
  }

  // The kernel calls no program of an event while it changes a map for a process. What events of the hardware have
  // counted beyond the samples' periods shows it; a period a CPU is still to come. The clock counts idle time too, and
  // what was missed of it is counted by the program.
  uint64_t ReadMissed(const wire_counter& samples) const {
    if (sampling == nullptr || sampling->clock_period_ns() != 0 || samples.count == 0) return missed;
    const uint64_t counted = sampling->counted() - counted_before;
    const uint64_t periods = counted <= samples.ns ? 0 : (counted - samples.ns) / (samples.ns / samples.count + 1);
    const uint64_t now = periods <= sampling->cpus() ? 0 : periods - sampling->cpus();
    return RaiseTo(now, missed);
  }
};

Programs::Programs(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Programs::~Programs() = default;

absl::StatusOr<std::unique_ptr<Programs>> Programs::LoadListing(const KernelFeatures& features) {
  libbpf_set_print(KeepWarning);
  absl::StatusOr<BpfObject> object = BpfObject::Open(features);
  if (!object.ok()) return object.status();
  auto impl = std::make_unique<Impl>(*std::move(object));
  absl::Status status = Configure(impl->bpf, ProgramsConfig(), features);
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, impl->bpf.object) {
    bpf_program__set_autoload(program, bpf_program__expected_attach_type(program) == BPF_TRACE_ITER);
  }
  bpf_program__set_autoload(impl->bpf.programs.learn_namespace, impl->bpf.config->own_pids != 0);
  if (status.ok()) status = impl->Load();
  if (!status.ok()) return status;
  return std::unique_ptr<Programs>(new Programs(std::move(impl)));
}

absl::StatusOr<std::unique_ptr<Programs>> Programs::Load(const ProgramsConfig& config, const KernelFeatures& features) {
  libbpf_set_print(KeepWarning);
  absl::StatusOr<BpfObject> object = BpfObject::Open(features);
  if (!object.ok()) return object.status();
  auto impl = std::make_unique<Impl>(*std::move(object));
  absl::Status status = Configure(impl->bpf, config, features);
  if (status.ok()) status = impl->Load();
  if (status.ok()) impl->control->orc_registers = features.orc_registers;
  if (status.ok() && impl->bpf.config->sums != 0 && !impl->FlushSums(0).has_value()) {
    ProgramsConfig others = config;
    others.sums = false;
    return Load(others, features);
  }
  if (status.ok() && impl->bpf.config->has_task_work != 0) {
    impl->request_ns = MeasureRequestNs(impl->bpf.programs.ask_for_nothing);
  }
  if (status.ok()) status = FillFilters(impl->bpf, config);
  if (status.ok()) status = impl->OpenRings();
  if (status.ok()) status = impl->WatchNews();
  if (status.ok()) status = impl->MapCpus();
  if (status.ok()) status = impl->MapUserRows();
  if (status.ok()) status = impl->Attach();
  if (status.ok()) status = impl->AttachSampling(config.oncpu_hz);
  if (!status.ok()) return status;
  std::unique_ptr<Programs> programs(new Programs(std::move(impl)));
  status = programs->impl_->Seed(*programs);
  if (!status.ok()) return status;
  return programs;
}

void Programs::Arm() {
  if (impl_->sampling != nullptr) impl_->counted_before = impl_->sampling->counted();
  // Any switch tells it, and this is one.
  constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 10'000};
  const std::atomic_ref clock_offset(impl_->control->clock_offset);
  for (int i = 0; i < 1000 && impl_->bpf.config->has_rq_clock != 0 && clock_offset.load() == 0; ++i)
    nanosleep(&kMoment, nullptr);
  impl_->control->start_ns = NowNs(CLOCK_MONOTONIC) + clock_offset.load();
  std::atomic_ref(impl_->control->phase).store(WIRE_RECORDING, std::memory_order_release);
}

uint64_t Programs::clock_offset() const {
  return std::atomic_ref(impl_->control->clock_offset).load(std::memory_order_relaxed);
}

void Programs::SetClockOffset(uint64_t offset) {
  if (impl_->bpf.config->has_rq_clock != 0 && impl_->end_ns == 0)
    std::atomic_ref(impl_->control->clock_offset).store(offset, std::memory_order_relaxed);
}

void Programs::Disarm() {
  if (impl_->end_ns != 0) return;
  impl_->end_ns = impl_->control->end_ns = NowNs(CLOCK_MONOTONIC);
  std::atomic_ref(impl_->control->phase).store(WIRE_ENDED, std::memory_order_release);
  if (impl_->sampling != nullptr) impl_->sampling->Disable();
}

void Programs::BeginLastListing() {
  std::atomic_ref(impl_->control->phase).store(WIRE_LISTING, std::memory_order_release);
}

// Programs run inside RCU's read sections, and the barrier is one of RCU. Kernels for full dynticks refuse it: then a
// program, which takes microseconds, is given a long time.
void Programs::Settle() {
  constexpr timespec kLongForAProgram = {.tv_sec = 0, .tv_nsec = 50'000'000};
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0) nanosleep(&kLongForAProgram, nullptr);
}

void Programs::CutSums(uint64_t ns) {
  std::atomic_ref(impl_->control->cut_ns).store(ns, std::memory_order_release);
  Settle();
}

size_t Programs::FlushSums() {
  if (!SumsUp()) return 0;
  const std::lock_guard lock(impl_->flushing);
  const auto cpus = static_cast<uint64_t>(libbpf_num_possible_cpus());
  size_t left = 0;
  for (uint64_t cpu = 0; cpu < cpus; ++cpu) left += impl_->FlushSums(cpu).value_or(WIRE_SUM_PLACES);
  return left;
}

size_t Programs::Drain(const RecordCallback& record) {
  size_t bytes = 0;
  impl_->on_record = [&](std::span<const std::byte> drained) {
    bytes += drained.size();
    record(drained);
  };
  ring_buffer__consume(impl_->intervals.get());
  ring_buffer__consume(impl_->captures.get());
  impl_->on_record = nullptr;
  return bytes;
}

bool Programs::AwaitNews(std::chrono::milliseconds patience) {
  epoll_event event;
  return epoll_wait(impl_->news.get(), &event, 1, static_cast<int>(patience.count())) > 0;
}

void Programs::Hurry() { eventfd_write(impl_->hurry.get(), 1); }

std::optional<Programs::ProcessDescription> Programs::DescribeProcess(pid_t pid) const {
  const absl::StatusOr<std::vector<std::byte>> bytes = Iterate(impl_->bpf.programs.describe_task, {.tid = pid});
  if (!bytes.ok() || bytes->size() < sizeof(wire_task)) return std::nullopt;
  const auto all = std::span(*bytes);
  return ProcessDescription{.task = Describe(TaskAt(all.last(sizeof(wire_task)))),
                            .mappings = DecodeMappings(all.first(all.size() - sizeof(wire_task)))};
}

absl::StatusOr<std::vector<TaskDescription>> Programs::ListTasks() const {
  const absl::StatusOr<std::vector<std::byte>> bytes = Iterate(impl_->bpf.programs.list_tasks, {});
  if (!bytes.ok()) return bytes.status();
  std::vector<TaskDescription> tasks;
  for (auto left = std::span(*bytes); left.size() >= sizeof(wire_task); left = left.subspan(sizeof(wire_task))) {
    tasks.push_back(Describe(TaskAt(left)));
  }
  return tasks;
}

absl::StatusOr<std::vector<WaitingThread>> Programs::ListThreads(const TaskScope& scope, uint64_t min_off_ns,
                                                                 uint64_t open_at_ns) const {
  constexpr int kAttempts = 3;
  const std::lock_guard lock(impl_->listing);
  wire_control& control = *impl_->control;
  control.list_min_ns = min_off_ns;
  ++control.list_pass;
  // Captures may have all buffers for a moment; who is left out is counted.
  for (int attempt = 1;; ++attempt) {
    const uint64_t left_out = impl_->ReadCounter(WIRE_COUNT_NOT_LISTED).count;
    const auto bytes = Iterate(impl_->bpf.programs.list_threads, scope);
    if (!bytes.ok()) return bytes.status();
    const uint64_t still_left_out = impl_->ReadCounter(WIRE_COUNT_NOT_LISTED).count;
    if (attempt == kAttempts || still_left_out == left_out) {
      const uint64_t end_ns = control.phase == WIRE_RECORDING ? NowNs(CLOCK_MONOTONIC) : impl_->end_ns.load();
      if (open_at_ns == 0 && end_ns != 0) open_at_ns = end_ns + control.clock_offset;
      return DecodeThreads(*bytes, control.start_ns, open_at_ns);
    }
    impl_->listed_later += still_left_out - left_out;
  }
}

absl::StatusOr<std::vector<ThreadAccount>> Programs::ListAccounts() const {
  const absl::StatusOr<std::vector<std::byte>> bytes = Iterate(impl_->bpf.programs.list_accounts, {});
  if (!bytes.ok()) return bytes.status();
  return DecodeAccounts(*bytes);
}

RecordedSpan Programs::span() const {
  const wire_control& control = *impl_->control;
  return {.start_ns = control.start_ns, .end_ns = impl_->end_ns + control.clock_offset};
}

void Programs::SetStackHint(pid_t tid, const StackHint& hint) {
  const auto key = static_cast<uint32_t>(tid);
  wire_stack_hint value = {.bytes = hint.bytes,
                           .pieces = static_cast<uint32_t>(std::min<size_t>(hint.pieces.size(), WIRE_PIECES))};
  std::copy_n(hint.pieces.begin(), value.pieces, value.begins);
  bpf_map_update_elem(bpf_map__fd(impl_->bpf.maps.stack_hints), &key, &value, BPF_ANY);
}

void Programs::ForgetDefinition(uint64_t id) {
  const auto place = static_cast<uint32_t>(id % WIRE_SENT_PLACES);
  const uint64_t nothing = 0;
  bpf_map_delete_elem(bpf_map__fd(impl_->bpf.maps.sent), &id);
  bpf_map_update_elem(bpf_map__fd(impl_->bpf.maps.sent_places), &place, &nothing, BPF_ANY);
}

wire_hash_key Programs::hash_key() const { return impl_->bpf.config->hash_key; }
bool Programs::SumsUp() const { return impl_->bpf.config->sums != 0; }
bool Programs::WalksUserStacks() const { return impl_->told.has_value(); }
void Programs::TellWalk(const ToldWalk& walk) { impl_->told->Tell(walk); }
void Programs::ForgetWalks() { impl_->told->Clear(); }

Programs::ToldCounts Programs::CountTold() const {
  return impl_->told.has_value() ? ToldCounts{.rows = impl_->told->rows(), .stacks = impl_->told->stacks()}
                                 : ToldCounts();
}

uint64_t Programs::request_ns() const { return impl_->request_ns; }

Counters Programs::ReadCounters() const {
  Counters counters = {};
  for (uint32_t id = 0; id < WIRE_COUNTERS; ++id) counters[id] = impl_->ReadCounter(id);
  const wire_counter passed_over = impl_->CountPassedOver();
  counters[WIRE_COUNT_NOT_SAMPLED].count += passed_over.count;
  counters[WIRE_COUNT_NOT_SAMPLED].ns += passed_over.ns;
  uint64_t& not_listed = counters[WIRE_COUNT_NOT_LISTED].count;
  not_listed -= std::min(not_listed, impl_->listed_later.load());
  const uint64_t missed = impl_->ReadMissed(counters[WIRE_COUNT_SAMPLE]);
  counters[WIRE_COUNT_SAMPLE_MISSED].count += missed;
  counters[WIRE_COUNT_SAMPLE_MISSED].ns += missed * impl_->control->sample_period_ns;
  return counters;
}

uint64_t Programs::CountOpenAccounts() const {
  const uint64_t settled = impl_->ReadCounter(WIRE_COUNT_ACCOUNT_SETTLED).count;
  return impl_->ReadCounter(WIRE_COUNT_ACCOUNT_MADE).count - settled;
}

void Programs::SetThresholds(std::span<const uint64_t> thresholds_ns) {
  for (size_t user = 0; user < WIRE_USERS; ++user) {
    std::atomic_ref(impl_->control->sample_ns[user])
        .store(std::min(thresholds_ns[user], kMostThresholdNs), std::memory_order_relaxed);
  }
}

std::array<wire_user, WIRE_USERS> Programs::ReadUsers() const {
  std::array<wire_user, WIRE_USERS> sums = {};
  const std::span<wire_user> users = impl_->users.all();
  for (size_t i = 0; i < users.size(); ++i) {
    sums[i % WIRE_USERS].waits += ReadShared(users[i].waits);
    sums[i % WIRE_USERS].captures += ReadShared(users[i].captures);
    sums[i % WIRE_USERS].left_out += ReadShared(users[i].left_out);
    sums[i % WIRE_USERS].lifecycles += ReadShared(users[i].lifecycles);
  }
  return sums;
}

ProgramTimes Programs::ReadTimes() const {
  wire_timing switches = {};
  wire_timing arrivals = {};
  wire_timing kernel_stacks = {};
  wire_timing wakes = {};
  for (wire_cpu& cpu : impl_->cpus.all()) {
    Add(cpu.switches, switches);
    Add(cpu.arrivals, arrivals);
    Add(cpu.kernel_stacks, kernel_stacks);
    Add(cpu.wakes, wakes);
  }
  // Kernel stacks, and there arrivals, are timed within the program at each switch as well.
  const uint64_t exits_ns = impl_->bpf.config->ends_at_switch != 0 ? 0 : arrivals.timed_ns;
  return {.all_ns = (switches.timed_ns + exits_ns + wakes.timed_ns) * WIRE_TIMED_EVERY,
          .recorded_ns = (arrivals.timed_ns + kernel_stacks.timed_ns) * WIRE_TIMED_EVERY,
          .waits = uint64_t{arrivals.timed} * WIRE_TIMED_EVERY};
}

// Iterators run in the process that reads them, which is this one.
ProgramRuns Programs::ReadRuns() const {
  ProgramRuns runs;
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, impl_->bpf.object) {
    if (!bpf_program__autoload(program) || bpf_program__expected_attach_type(program) == BPF_TRACE_ITER) continue;
    bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) != 0) continue;
    runs.ns += info.run_time_ns;
    if (program == impl_->bpf.programs.sched_switch) runs.switches = info.run_cnt;
  }
  return runs;
}

}  // namespace offcpu
