#include "output/pprof_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "output/pprof_labels.h"
#include "proto/profile.pb.h"

namespace offcpu {
namespace {

namespace pb = offcpu::pprof;

constexpr uint64_t kMaxSum = std::numeric_limits<int64_t>::max();

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("is damaged: a sample with ", std::string(what)));
}

bool IsPid(int64_t value) { return value >= 0 && value <= std::numeric_limits<int32_t>::max(); }

// Of a frame without a name, the symbolizer makes one out of file and address.
bool IsNamed(const PprofLocation& location) {
  return location.module != nullptr &&
         !(location.name.starts_with(location.file) && location.name.substr(location.file.size()).starts_with("+0x"));
}

// What stands for callers that are not known.
bool IsMarker(const PprofLocation& location) {
  return location.module == nullptr && !location.kernel && location.address == 0;
}

// What an entry says instead of frames; nothing if it is no such word.
std::optional<UserStackEntry> EntryOf(std::string_view no_user_stack, std::string_view user_end) {
  UserStackEntry entry;
  if (no_user_stack == kOther) {
    entry.overflow = true;
    return entry;
  }
  if (!no_user_stack.empty()) {
    const std::optional<NoUserStack> reason = ByName<NoUserStack>(no_user_stack, kNoUserStackCount);
    if (!reason.has_value() || *reason == NoUserStack::kNone) return std::nullopt;
    entry.missing = *reason;
    return entry;
  }
  const std::optional<EndReason> end = ByName<EndReason>(user_end, kEndReasonCount);
  if (!end.has_value()) return std::nullopt;
  entry.stack.end = *end;
  return entry;
}

// Adds to a sum that stays a number for every format.
bool AddTo(uint64_t value, uint64_t* sum) {
  if (value > kMaxSum - *sum) return false;
  *sum += value;
  return true;
}

}  // namespace

struct PprofRows::LabelNames {
  static constexpr std::pair<std::string_view, int64_t Labels::*> kNumbers[] = {
      {kPidLabel, &Labels::pid},
      {kTidLabel, &Labels::tid},
      {kImageLabel, &Labels::image},
      {kMaxLabel, &Labels::max_ns},
      {kCountErrorLabel, &Labels::count_error},
      {kTimeErrorLabel, &Labels::ns_error},
  };
  static constexpr std::pair<std::string_view, std::string_view Labels::*> kTexts[] = {
      {kProcessLabel, &Labels::process},
      {kCommLabel, &Labels::comm},
      {kContainerLabel, &Labels::container},
      {kKindLabel, &Labels::kind},
      {kUserEndLabel, &Labels::user_end},
      {kNoUserStackLabel, &Labels::no_user_stack},
      {kNoKernelStackLabel, &Labels::no_kernel_stack},
      {kUnwindLabel, &Labels::unwind},
  };
};

template <typename Message>
absl::StatusOr<PprofRows::Labels> PprofRows::ReadLabels(const Message& sample) {
  Labels labels;
  for (const pb::Label& label : sample.label()) {
    const absl::StatusOr<std::string_view> key = tables_.String(label.key());
    if (!key.ok()) return key.status();
    const absl::StatusOr<std::string_view> text = tables_.String(label.str());
    if (!text.ok()) return text.status();
    for (const auto& [name, field] : LabelNames::kNumbers) {
      if (*key == name) labels.*field = label.num();
    }
    for (const auto& [name, field] : LabelNames::kTexts) {
      if (*key == name) labels.*field = *text;
    }
  }
  return labels;
}

absl::Status PprofRows::CheckLabels(const Labels& labels) const {
  if (!IsPid(labels.pid) || !IsPid(labels.tid)) return Damaged("no such pid");
  if (labels.image < 0 || labels.max_ns < 0 || labels.count_error < 0 || labels.ns_error < 0) {
    return Damaged("a negative number");
  }
  if (!labels.no_kernel_stack.empty() && labels.no_kernel_stack != kOther && labels.no_kernel_stack != kLost) {
    return Damaged("an unknown kernel stack");
  }
  return absl::OkStatus();
}

absl::Status PprofRows::ReadValues(std::span<const int64_t> values, ProfileRow* row) {
  if (values.size() != kPprofValues.size()) return Damaged("too few or too many values");
  if (std::any_of(values.begin(), values.end(), [](int64_t value) { return value < 0; })) {
    return Damaged("a negative number");
  }
  row->count = static_cast<uint64_t>(values[0]);
  row->blocked_ns = static_cast<uint64_t>(values[2]);
  row->runnable_ns = static_cast<uint64_t>(values[3]);
  if (static_cast<uint64_t>(values[1]) != row->total_ns()) return Damaged("a time that is not the sum of its parts");
  if (!AddTo(row->count, &count_) || !AddTo(row->total_ns(), &ns_)) return Damaged("more time than there can be");
  return absl::OkStatus();
}

absl::Status PprofRows::CountFrames(size_t frames) {
  if (frames > max_frames_ - frames_) {
    return absl::ResourceExhaustedError(absl::StrCat("is too large: stacks of more than ", max_frames_, " frames"));
  }
  frames_ += frames;
  return absl::OkStatus();
}

absl::Status PprofRows::Add(std::string_view bytes) {
  pb::Sample sample;
  if (!sample.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return Damaged("no valid form");
  const absl::StatusOr<Labels> labels = ReadLabels(sample);
  if (!labels.ok()) return labels.status();
  if (absl::Status status = CheckLabels(*labels); !status.ok()) return status;
  ProfileRow row;
  if (absl::Status status = ReadValues({sample.value().data(), static_cast<size_t>(sample.value_size())}, &row);
      !status.ok()) {
    return status;
  }
  const std::optional<WaitKind> kind = ByName<WaitKind>(labels->kind, kWaitKindCount);
  if (!kind.has_value()) return Damaged("an unknown kind of wait");
  if (absl::Status status = ReadStacks(sample, *labels, &row); !status.ok()) return status;
  row.process = InternProcess(*labels);
  row.tid = static_cast<int32_t>(labels->tid);
  row.comm = InternComm(labels->comm);
  row.kind = *kind;
  row.max_ns = static_cast<uint64_t>(labels->max_ns);
  row.count_variance = static_cast<double>(labels->count_error) * static_cast<double>(labels->count_error);
  row.ns_variance = static_cast<double>(labels->ns_error) * static_cast<double>(labels->ns_error);
  profile_.rows.push_back(row);
  return absl::OkStatus();
}

template <typename Message>
absl::Status PprofRows::ReadStacks(const Message& sample, const Labels& labels, ProfileRow* row) {
  std::vector<uint32_t> locations;
  for (const uint64_t id : sample.location_id()) {
    const absl::StatusOr<uint32_t> location = tables_.FindLocation(id);
    if (!location.ok()) return location.status();
    locations.push_back(*location);
  }
  const auto is_kernel = [this](uint32_t index) { return tables_.location(index).kernel; };
  const auto user = std::find_if_not(locations.begin(), locations.end(), is_kernel);
  if (std::any_of(user, locations.end(), is_kernel)) return Damaged("a kernel frame that user code called");
  const absl::StatusOr<uint32_t> kernel_stack = InternKernel({locations.begin(), user}, labels);
  if (!kernel_stack.ok()) return kernel_stack.status();
  const absl::StatusOr<uint32_t> user_stack = InternUser({user, locations.end()}, labels);
  if (!user_stack.ok()) return user_stack.status();
  row->kernel_stack = *kernel_stack;
  row->user_stack = *user_stack;
  return absl::OkStatus();
}

uint32_t PprofRows::InternProcess(const Labels& labels) {
  const auto next = static_cast<uint32_t>(profile_.processes.size());
  const ProcessName name = {labels.pid, labels.image, labels.process, labels.container};
  const auto [it, inserted] = process_index_.try_emplace(name, next);
  if (inserted) {
    ProcessInfo& process = profile_.processes.emplace_back();
    process.key.pid = static_cast<int32_t>(labels.pid);
    process.key.exec_id = static_cast<uint64_t>(labels.image);
    process.name = std::string(labels.process);
    process.container = std::string(labels.container);
  }
  return it->second;
}

uint32_t PprofRows::InternComm(std::string_view comm) {
  const auto [it, inserted] = comm_index_.try_emplace(comm, static_cast<uint32_t>(profile_.comms.size()));
  if (inserted) profile_.comms.emplace_back(comm);
  return it->second;
}

absl::StatusOr<uint32_t> PprofRows::InternKernel(std::span<const uint32_t> locations, const Labels& labels) {
  if (!labels.no_kernel_stack.empty()) locations = {};
  const bool overflow = labels.no_kernel_stack == kOther;
  StackKey key(locations.begin(), locations.end());
  key.push_back(overflow ? 1 : 0);
  const auto [it, inserted] =
      kernel_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.kernel_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = CountFrames(locations.size()); !status.ok()) return status;
  KernelStack& stack = profile_.kernel_stacks.emplace_back();
  std::vector<std::string_view>& names = symbols_.kernel_stacks.emplace_back();
  stack.overflow = overflow;
  for (const uint32_t index : locations) {
    stack.addresses.push_back(tables_.location(index).address + 1);  // the address to return to
    names.push_back(tables_.location(index).name);
  }
  return it->second;
}

absl::StatusOr<uint32_t> PprofRows::InternUser(std::span<const uint32_t> locations, const Labels& labels) {
  std::optional<UserStackEntry> entry = EntryOf(labels.no_user_stack, labels.user_end);
  if (!entry.has_value()) return Damaged("an unknown user stack");
  const bool walked = entry->missing == NoUserStack::kNone && !entry->overflow;
  if (!walked) locations = {};
  if (!locations.empty() && entry->stack.end != EndReason::kComplete && IsMarker(tables_.location(locations.back()))) {
    locations = locations.first(locations.size() - 1);
  }
  StackKey key(locations.begin(), locations.end());
  key.push_back(sources_index_.try_emplace(labels.unwind, static_cast<uint32_t>(sources_index_.size())).first->second);
  key.push_back(static_cast<uint32_t>(entry->stack.end));
  key.push_back(static_cast<uint32_t>(entry->missing));
  key.push_back(entry->overflow ? 1 : 0);
  const auto [it, inserted] =
      user_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.user_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = CountFrames(locations.size()); !status.ok()) return status;
  if (walked) {
    if (absl::Status status = FillUser(locations, labels.unwind, &*entry); !status.ok()) return status;
  }
  profile_.user_stacks.push_back(*std::move(entry));
  std::vector<SymbolizedFrame>& symbols = symbols_.user_stacks.emplace_back();
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    symbols.push_back({.name = location.name, .module = location.file, .named = IsNamed(location)});
  }
  return it->second;
}

absl::Status PprofRows::FillUser(std::span<const uint32_t> locations, std::string_view sources, UserStackEntry* entry) {
  std::vector<Frame>& frames = entry->stack.frames;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    frames.push_back({.module = location.module, .address = location.address});
  }
  if (!ReadSources(sources, frames)) return Damaged("frames left out or put in");
  for (Frame& frame : frames) {
    if (!frame.exact) ++frame.address;  // back to the return address
  }
  return absl::OkStatus();
}

}  // namespace offcpu
