#include "pprof/pprof_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classify/idle_patterns.h"
#include "classify/system_calls.h"
#include "labels/row_value.h"
#include "labels/stack_labels.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_labels.h"
#include "profile/time_buckets.h"

namespace offcpu {
namespace {

namespace pb = offcpu::pprof;

absl::Status DamagedRow(std::string_view what) {
  return absl::DataLossError(absl::StrCat("is damaged: a sample with ", std::string(what)));
}

bool IsPid(int64_t value) { return value >= 0 && value <= std::numeric_limits<int32_t>::max(); }

bool IsKernelLabel(std::string_view label) {
  return label.empty() || label == kOtherStack || label == kLostStack || label == kUserModeStack;
}

}  // namespace

struct PprofRows::LabelNames {
  static constexpr std::pair<std::string_view, std::string_view PprofStackLabels::*> kTexts[] = {
      {kUserEndLabel, &PprofStackLabels::user_end},
      {kNoUserStackLabel, &PprofStackLabels::no_user_stack},
      {kNoKernelStackLabel, &PprofStackLabels::no_kernel_stack},
  };
};

uint64_t PprofRows::AnyLabels::bytes() const {
  uint64_t bytes = 0;
  for (const RowLabelValue& value : values) bytes += value.text.size();
  return bytes;
}

void PprofRows::ReadAnyLabel(std::string_view key, std::string_view text, int64_t number, AnyLabels* labels) {
  for (size_t i = 0; i < kRowLabelCount; ++i) {
    if (key != kRowLabels[i].name) continue;
    if (kRowLabels[i].is_number) {
      labels->values[i].number = number;
    } else {
      labels->values[i].text = text;
    }
  }
  for (const auto& [name, field] : LabelNames::kTexts) {
    if (key == name) labels->*field = text;
  }
}

// `key` begins with kWakerLabel.
void PprofRows::ReadWakerLabel(std::string_view key, std::string_view text, int64_t number, Labels* labels) {
  for (size_t i = kMaxWakers; i-- > 0;) {
    const std::string name = WakerLabel(i);
    const std::string prefix = WakerPrefix(i);
    if (key != name && !key.starts_with(prefix)) continue;
    const std::string_view rest = key == name ? "" : key.substr(prefix.size());
    WakerLabels& waker = labels->wakers[i];
    if (rest.empty()) {
      waker.name = text;
    } else {
      ReadAnyLabel(rest, text, number, &waker);
    }
    return;
  }
}

template <typename Message>
absl::StatusOr<PprofRows::Labels> PprofRows::ReadLabels(const Message& sample) {
  Labels labels;
  for (const pb::Label& label : sample.label()) {
    const absl::StatusOr<std::string_view> key = tables_.String(label.key());
    if (!key.ok()) return key.status();
    const absl::StatusOr<std::string_view> text = tables_.String(label.str());
    if (!text.ok()) return text.status();
    if (key->starts_with(kWakerLabel)) {
      ReadWakerLabel(*key, *text, label.num(), &labels);
      continue;
    }
    ReadAnyLabel(*key, *text, label.num(), &labels);
  }
  const absl::Status status = ReadDetails(sample.details(), &labels);
  if (!status.ok()) return status;
  while (labels.named_wakers < kMaxWakers && !labels.wakers[labels.named_wakers].name.empty()) ++labels.named_wakers;
  return labels;
}

template <typename Message>
absl::Status PprofRows::ReadDetails(const Message& details, Labels* labels) {
  labels->max_ns = details.max_ns();
  labels->count_error = details.count_error();
  labels->ns_error = details.time_error();
  labels->blocked_error = details.blocked_error();
  labels->runnable_error = details.runnable_error();
  labels->sampled = details.draws();
  labels->times = details.times();
  const absl::StatusOr<std::string_view> unwind = tables_.String(details.unwind());
  if (!unwind.ok()) return unwind.status();
  labels->unwind = *unwind;
  for (int i = 0; i < details.waker_unwind_size() && i < static_cast<int>(kMaxWakers); ++i) {
    const absl::StatusOr<std::string_view> of_waker = tables_.String(details.waker_unwind(i));
    if (!of_waker.ok()) return of_waker.status();
    labels->wakers[static_cast<size_t>(i)].unwind = *of_waker;
  }
  return absl::OkStatus();
}

absl::Status PprofRows::CheckAnyLabels(const AnyLabels& labels) {
  if (!IsPid(labels.number(RowLabel::kPid)) || !IsPid(labels.number(RowLabel::kTid))) return DamagedRow("no such pid");
  if (labels.number(RowLabel::kImage) < 0) return DamagedRow("a negative number");
  if (!IsKernelLabel(labels.no_kernel_stack)) return DamagedRow("an unknown kernel stack");
  return absl::OkStatus();
}

absl::Status PprofRows::CheckLabels(const Labels& labels) {
  if (absl::Status status = CheckAnyLabels(labels); !status.ok()) return status;
  for (const int64_t number : {labels.max_ns, labels.count_error, labels.ns_error, labels.blocked_error,
                               labels.runnable_error, labels.sampled}) {
    if (number < 0) return DamagedRow("a negative number");
  }
  for (const WakerLabels& waker : labels.wakers) {
    if (absl::Status status = CheckAnyLabels(waker); !status.ok()) return status;
    if (waker.no_kernel_stack == kUserModeStack) return DamagedRow("an unknown kernel stack");
  }
  return absl::OkStatus();
}

// Older files do not tell the errors of the parts of the time, which are not above that of the whole.
void PprofRows::SetErrors(const Labels& labels, ProfileRow* row) {
  const auto square = [](int64_t error) { return static_cast<double>(error) * static_cast<double>(error); };
  const bool has_parts = labels.blocked_error != 0 || labels.runnable_error != 0;
  row->count_variance = square(labels.count_error);
  row->ns_variance = square(labels.ns_error);
  row->blocked_variance = square(has_parts || row->blocked_ns == 0 ? labels.blocked_error : labels.ns_error);
  row->runnable_variance = square(has_parts || row->runnable_ns == 0 ? labels.runnable_error : labels.ns_error);
  row->sampled = static_cast<uint64_t>(labels.sampled);
}

absl::Status PprofRows::ReadValues(std::span<const int64_t> values, ProfileRow* row) {
  if (values.size() != values_) return DamagedRow("too few or too many values");
  if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; }))
    return DamagedRow("a negative time");
  for (size_t i = 0; i < values.size(); ++i) {
    const RowValueInfo& info = kRowValues[i];
    if (info.sum != nullptr) row->*info.sum = static_cast<uint64_t>(values[i]);
  }
  if (static_cast<uint64_t>(values[static_cast<size_t>(RowValue::kOffCpu)]) != row->total_ns())
    return DamagedRow("a time that is not the sum of its parts");
  return absl::OkStatus();
}

// They are all that the row has, or there are none.
absl::Status PprofRows::ReadTimes(const std::string& times, ProfileRow* row) const {
  if (times.empty() || profile_.times.bucket_ns == 0) return absl::OkStatus();
  const std::optional<std::vector<TimeBucket>> buckets = UnpackTimes(times);
  constexpr char kOthers[] = "times that are not those of its values";
  if (!buckets.has_value()) return DamagedRow(kOthers);
  TimeBucket left = TimeBucket::Of(0, *row);
  for (const TimeBucket& bucket : *buckets) {
    for (const auto figure : kBucketFigures) {
      if (bucket.*figure > left.*figure) return DamagedRow(kOthers);
      left.*figure -= bucket.*figure;
    }
  }
  for (const auto figure : kBucketFigures) {
    if (left.*figure != 0) return DamagedRow(kOthers);
  }
  row->times = times;
  return absl::OkStatus();
}

absl::Status PprofRows::Add(std::string_view bytes) {
  pb::Sample sample;
  if (!sample.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return DamagedRow("no valid form");
  // What others write again lacks them, and perhaps frames and labels, and nothing says which.
  if (!sample.has_details()) {
    return absl::InvalidArgumentError(
        "was rewritten by another program, such as go tool pprof; give the file that offcpu wrote");
  }
  const absl::StatusOr<Labels> labels = ReadLabels(sample);
  if (!labels.ok()) return labels.status();
  if (absl::Status status = CheckLabels(*labels); !status.ok()) return status;
  NamedRow row;
  if (absl::Status status = ReadValues({sample.value().data(), static_cast<size_t>(sample.value_size())}, &row);
      !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadTimes(labels->times, &row); !status.ok()) return status;
  const auto kind = ByName<WaitKind>(labels->text(RowLabel::kKind), kWaitKindCount);
  if (!kind.has_value()) return DamagedRow("an unknown kind of wait");
  const std::optional<int32_t> syscall = SystemCallNumber(labels->text(RowLabel::kSystemCall));
  if (!syscall.has_value()) return DamagedRow("an unknown system call");
  const auto split = stacks_.Split({sample.location_id().data(), static_cast<size_t>(sample.location_id_size())},
                                   labels->named_wakers);
  if (!split.ok()) return split.status();
  const auto stacks = stacks_.Intern(split->front(), *labels);
  if (!stacks.ok()) return stacks.status();
  const absl::StatusOr<uint32_t> process = InternProcess(*labels);
  if (!process.ok()) return process.status();
  if (absl::Status status = shown_.Take(stacks->bytes + labels->bytes()); !status.ok()) return status;
  row.kernel_stack = stacks->kernel;
  row.user_stack = stacks->user;
  row.process = *process;
  row.tid = static_cast<int32_t>(labels->number(RowLabel::kTid));
  row.comm = InternComm(labels->text(RowLabel::kComm));
  const absl::StatusOr<uint32_t> control_group = InternControlGroup(labels->text(RowLabel::kControlGroup));
  if (!control_group.ok()) return control_group.status();
  row.control_group = *control_group;
  if (labels->named_wakers != 0) {
    const absl::StatusOr<uint32_t> waker = InternWaker(*labels, *split);
    if (!waker.ok()) return waker.status();
    row.waker = *waker;
  }
  row.kind = *kind;
  row.syscall = *syscall;
  row.max_ns = static_cast<uint64_t>(labels->max_ns);
  SetErrors(*labels, &row);
  row.idle = Idle(labels->text(RowLabel::kIdle));
  row.wait = labels->text(RowLabel::kWait);
  profile_.rows.push_back(std::move(row));
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> PprofRows::InternWaker(const Labels& labels,
                                                const std::vector<PprofStacks::Locations>& stacks) {
  WakerChain chain;
  uint64_t bytes = 0;
  for (size_t i = 0; i + 1 < stacks.size() && !labels.wakers[0].is_one_of(kOtherStack); ++i) {
    const WakerLabels& waker = labels.wakers[i];
    const bool interrupt = waker.is_one_of(kInterrupt);
    const auto found = interrupt ? stacks_.InternInterrupt(stacks[i + 1], waker) : stacks_.Intern(stacks[i + 1], waker);
    if (!found.ok()) return found.status();
    Waker& entry = chain.emplace_back();
    entry = {.interrupt = interrupt, .kernel_stack = found->kernel, .user_stack = found->user};
    bytes += found->bytes + waker.name.size() + waker.bytes();
    if (interrupt) continue;
    const absl::StatusOr<uint32_t> process = InternProcess(waker);
    if (!process.ok()) return process.status();
    entry.process = *process;
    entry.comm = InternComm(waker.name);
  }
  if (absl::Status status = shown_.Take(bytes); !status.ok()) return status;
  const auto [it, inserted] = waker_index_.try_emplace(chain, static_cast<uint32_t>(profile_.wakers.size() + 1));
  if (inserted) profile_.wakers.push_back(std::move(chain));
  return it->second;
}

absl::StatusOr<uint32_t> PprofRows::InternProcess(const AnyLabels& labels) {
  const auto next = static_cast<uint32_t>(profile_.processes.size());
  const std::string_view text = labels.text(RowLabel::kProcess);
  const std::string_view executable = labels.text(RowLabel::kExecutable);
  const std::string_view container = labels.text(RowLabel::kContainer);
  const int64_t pid = labels.number(RowLabel::kPid);
  const int64_t image = labels.number(RowLabel::kImage);
  const auto [it, inserted] = process_index_.try_emplace({pid, image, text, executable, container}, next);
  if (inserted) {
    const size_t bytes = text.size() + executable.size() + container.size();
    if (absl::Status status = held_.Take(bytes); !status.ok()) return status;
    ProcessInfo& process = profile_.processes.emplace_back();
    process.key.pid = static_cast<int32_t>(pid);
    process.key.exec_id = static_cast<uint64_t>(image);
    process.name = std::string(text);
    process.container = std::string(container);
    process.executable = std::string(executable);
  }
  return it->second;
}

uint32_t PprofRows::InternComm(std::string_view comm) {
  const auto [it, inserted] = comm_index_.try_emplace(comm, static_cast<uint32_t>(profile_.comms.size()));
  if (inserted) profile_.comms.emplace_back(comm);
  return it->second;
}

absl::StatusOr<uint32_t> PprofRows::InternControlGroup(std::string_view path) {
  if (path.empty()) return 0;
  const auto [it, inserted] =
      control_group_index_.try_emplace(path, static_cast<uint32_t>(profile_.control_groups.size() + 1));
  if (inserted) {
    if (absl::Status status = held_.Take(sizeof(std::string) + path.size()); !status.ok()) return status;
    profile_.control_groups.emplace_back(path);
  }
  return it->second;
}

// More patterns than anybody can have say nothing.
std::string_view PprofRows::Idle(std::string_view pattern) {
  if (!profile_.idle_is_told || pattern.empty()) return "";
  if (idle_patterns_.contains(pattern)) return pattern;
  if (idle_patterns_.size() >= kMaxIdlePatterns) return "";
  idle_patterns_.insert(pattern);
  return pattern;
}

}  // namespace offcpu
