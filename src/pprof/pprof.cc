#include "pprof/pprof.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bytes/gzip.h"
#include "bytes/utf8.h"
#include "labels/row_error.h"
#include "labels/row_labels.h"
#include "labels/row_value.h"
#include "labels/stack_labels.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_comments.h"
#include "pprof/pprof_functions.h"
#include "pprof/pprof_labels.h"

namespace offcpu {
namespace {

namespace pb = offcpu::pprof;

int64_t Number(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

// pprof shows the first mapping as the name of the whole.
bool LooksLikeProgram(const CodeObject* code) {
  return code->path.find(".so") == std::string::npos && !code->path.starts_with('[');
}

// A message is the same as its parts one after the other, so each table entry and each sample is written as soon as it
// is complete: only the tables that later ones refer to are kept.
class Writer {
 public:
  Writer(const NamedProfile& profile, ByteSink sink)
      : profile_(profile),
        gzip_(sink),
        user_locations_(profile.user_stacks.size()),
        kernel_locations_(profile.kernel_stacks.size()),
        labels_(profile) {}

  void Write() {
    String("");
    WriteHeader();
    WriteMappings();
    for (const NamedRow& row : profile_.rows) WriteSample(row);
    WriteStrings();
    gzip_.Finish();
  }

 private:
  using Locations = std::optional<std::vector<uint64_t>>;  // ids, leaf first; nothing: not made yet
  struct Place {
    uint64_t mapping = 0;
    uint64_t address = 0;
  };
  using Line = std::tuple<uint64_t, uint32_t, uint32_t>;  // id of a function, and line and column in its file

  void WritePart(const pb::Profile& part) {
    part.SerializeToString(&buffer_);
    gzip_.Append(buffer_);
  }

  // The same few texts come again and again: as they are, they are found without being checked again.
  int64_t String(std::string_view text) {
    const auto known = string_index_.find(absl::string_view(text.data(), text.size()));
    if (known != string_index_.end()) return known->second;
    const std::string valid = Printable(text);
    const auto [it, inserted] = string_index_.try_emplace(valid, static_cast<int64_t>(strings_.size()));
    if (inserted) strings_.push_back(valid);
    const int64_t index = it->second;
    if (valid != text) string_index_.try_emplace(std::string(text), index);
    return index;
  }

  void SetType(const RowValueInfo& info, pb::ValueType* value_type) {
    value_type->set_type(String(info.type));
    value_type->set_unit(String(info.unit()));
  }

  void WriteHeader() {
    pb::Profile part;
    for (const RowValueInfo& info : kRowValues) SetType(info, part.add_sample_type());
    part.set_default_sample_type(String(InfoOf(RowValue::kOffCpu).type));
    part.set_drop_frames(String(DropFrames(profile_)));
    SetType(InfoOf(RowValue::kCount), part.mutable_period_type());
    part.set_period(1);
    part.set_time_nanos(Number(profile_.start_unix_ns));
    part.set_duration_nanos(Number(profile_.duration_ns));
    for (const std::string& comment : PprofComments(profile_)) part.add_comment(String(comment));
    if (profile_.times.bucket_ns != 0) {
      part.mutable_times()->set_bucket_ns(Number(profile_.times.bucket_ns));
      part.mutable_times()->set_begin_ns(profile_.times.begin_ns);
    }
    WritePart(part);
  }

  std::span<const Waker> WakersOf(const ProfileRow& row) const {
    if (row.waker == 0) return {};
    return profile_.wakers[row.waker - 1];
  }

  // In the order of their first use, so that it does not depend on what no row refers to.
  std::vector<const CodeObject*> CodeObjects() const {
    std::vector<const CodeObject*> objects;
    absl::flat_hash_map<const CodeObject*, bool> seen = {{nullptr, true}};
    std::vector<bool> done(profile_.user_stacks.size());
    const auto add = [&](uint32_t user_stack) {
      if (done[user_stack]) return;
      done[user_stack] = true;
      for (const NamedFrame& frame : profile_.user_stacks[user_stack].frames) {
        if (seen.try_emplace(frame.code, true).second) objects.push_back(frame.code);
      }
    };
    for (const ProfileRow& row : profile_.rows) {
      add(row.user_stack);
      for (const Waker& waker : WakersOf(row)) add(waker.user_stack);
    }
    std::stable_partition(objects.begin(), objects.end(), LooksLikeProgram);
    return objects;
  }

  uint64_t WriteMapping(std::string_view path, std::string_view build_id, std::string_view file_hash) {
    pb::Profile part;
    pb::Mapping* mapping = part.add_mapping();
    mapping->set_id(++mappings_);
    mapping->set_memory_limit(std::numeric_limits<uint64_t>::max());
    mapping->set_filename(String(path));
    mapping->set_build_id(String(build_id));
    mapping->set_file_hash(String(file_hash));
    mapping->set_has_functions(true);
    WritePart(part);
    return mappings_;
  }

  void WriteMappings() {
    mapping_of_[nullptr] = 0;
    for (const CodeObject* code : CodeObjects()) {
      mapping_of_[code] = WriteMapping(code->path, code->build_id, code->file_hash);
    }
    kernel_mapping_ = WriteMapping(kKernelMapping, "", "");
  }

  // Where its name is shown as it is, its system_name stays empty: pprof demangles, and so spoils, names that are the
  // same in both.
  uint64_t Function(int64_t name, int64_t file, uint32_t start_line, bool is_interrupted) {
    const auto [it, inserted] =
        function_of_.try_emplace({name, file, start_line, is_interrupted}, function_of_.size() + 1);
    if (inserted) {
      pb::Profile part;
      pb::Function* function = part.add_function();
      function->set_id(it->second);
      const std::string whole = strings_[static_cast<size_t>(name)];  // String may move what is there
      const std::string shown = is_interrupted ? InterruptedFunction(whole) : std::string(ShownFunction(whole));
      function->set_name(String(shown));
      if (shown != whole) function->set_system_name(name);
      function->set_filename(file);
      function->set_start_line(start_line);
      WritePart(part);
    }
    return it->second;
  }

  uint64_t Location(const Place& place, std::span<const FrameLine> lines, bool may_be_interrupted = false) {
    std::vector<Line> key;
    for (const FrameLine& line : lines) {
      const bool is_interrupted = may_be_interrupted && IsOfScheduler(line.function);
      const int64_t name = String(line.function);
      key.emplace_back(Function(name, String(line.file), line.start_line, is_interrupted), line.line, line.column);
    }
    const uint64_t next = location_of_.size() + 1;
    const auto [it, inserted] = location_of_.try_emplace({place.mapping, place.address, std::move(key)}, next);
    if (inserted) {
      pb::Profile part;
      pb::Location* location = part.add_location();
      location->set_id(next);
      location->set_mapping_id(place.mapping);
      location->set_address(place.address);
      for (const auto& [function, line, column] : std::get<std::vector<Line>>(it->first)) {
        pb::Line* added = location->add_line();
        added->set_function_id(function);
        added->set_line(line);
        added->set_column(column);
      }
      WritePart(part);
    }
    return it->second;
  }

  // Stands for frames that are not known.
  uint64_t Word(const Place& place, std::string_view word) {
    const FrameLine line = {.function = word};
    return Location(place, {&line, 1});
  }

  Place PlaceOf(const NamedFrame& frame) {
    return {frame.kind == FrameKind::kKernel ? kernel_mapping_ : mapping_of_[frame.code], frame.lookup_address()};
  }

  // What an interrupt came in below begins at the frame `interrupted`.
  std::vector<uint64_t> Frames(const std::vector<NamedFrame>& frames, size_t interrupted) {
    std::vector<uint64_t> ids;
    ids.reserve(frames.size() + 1);
    for (const NamedFrame& frame : frames)
      ids.push_back(Location(PlaceOf(frame), frame.lines, /*may_be_interrupted=*/ids.size() >= interrupted));
    return ids;
  }

  const std::vector<uint64_t>& UserLocations(uint32_t index) {
    Locations& locations = user_locations_[index];
    const NamedUserStack& stack = profile_.user_stacks[index];
    if (locations.has_value()) return *locations;
    locations = Frames(stack.frames, stack.frames.size());
    if (const std::string end = EndLabel(stack); !end.empty()) locations->push_back(Word({}, end));
    return *locations;
  }

  const std::vector<uint64_t>& KernelLocations(uint32_t index) {
    Locations& locations = kernel_locations_[index];
    const NamedKernelStack& stack = profile_.kernel_stacks[index];
    if (locations.has_value()) return *locations;
    locations = Frames(stack.frames, BeginOfInterrupted(stack));
    if (const std::string missing = MissingLabel(stack); !missing.empty())
      locations->push_back(Word({kernel_mapping_, 0}, missing));
    return *locations;
  }

  void AddText(std::string_view key, std::string_view text, pb::Sample* sample) {
    if (text.empty()) return;
    pb::Label* label = sample->add_label();
    label->set_key(String(key));
    label->set_str(String(text));
  }

  void AddNumber(std::string_view key, int64_t number, pb::Sample* sample) {
    pb::Label* label = sample->add_label();
    label->set_key(String(key));
    label->set_num(number);
  }

  void AddRowLabels(const RowLabelValues& values, const std::string& prefix, pb::Sample* sample) {
    VisitLabels(values, [&](const RowLabelInfo& info, const RowLabelValue& value) {
      const std::string key = absl::StrCat(prefix, std::string(info.name));
      if (info.is_number) {
        AddNumber(key, value.number, sample);
      } else {
        AddText(key, value.text, sample);
      }
    });
  }

  // Returns what is said of how its frames were found.
  int64_t AddUserLabels(uint32_t user_stack, const std::string& prefix, pb::Sample* sample) {
    const auto add = [&](std::string_view key, std::string_view text) {
      AddText(absl::StrCat(prefix, std::string(key)), text, sample);
    };
    const NamedUserStack& user = profile_.user_stacks[user_stack];
    if (user.overflow) {
      add(kNoUserStackLabel, kOtherStack);
    } else if (user.missing != NoUserStack::kNone) {
      add(kNoUserStackLabel, Name(user.missing));
    } else {
      add(kUserEndLabel, Name(user.end));
      return String(SourcesText(user.frames));
    }
    return 0;
  }

  void AddKernelLabels(uint32_t kernel_stack, const std::string& prefix, pb::Sample* sample) {
    const std::string key = absl::StrCat(prefix, std::string(kNoKernelStackLabel));
    const NamedKernelStack& kernel = profile_.kernel_stacks[kernel_stack];
    if (kernel.overflow) {
      AddText(key, kOtherStack, sample);
    } else if (kernel.user_mode) {
      AddText(key, kUserModeStack, sample);
    } else if (kernel.is_lost()) {
      AddText(key, kLostStack, sample);
    }
  }

  void AddWakerLabels(const ProfileRow& row, pb::Sample* sample) {
    if (row.waker == 0) return;
    const std::span<const Waker> chain = WakersOf(row);
    if (chain.empty()) AddText(kWakerLabel, kOtherStack, sample);
    for (size_t i = 0; i < chain.size(); ++i) {
      const std::string prefix = WakerPrefix(i);
      int64_t unwind = 0;
      if (chain[i].interrupt) {
        AddText(WakerLabel(i), kInterrupt, sample);
      } else {
        AddText(WakerLabel(i), ThreadLabel(profile_.comms[chain[i].comm]), sample);
        AddRowLabels(labels_.OfProcess(chain[i].process), prefix, sample);
        unwind = AddUserLabels(chain[i].user_stack, prefix, sample);
      }
      sample->mutable_details()->add_waker_unwind(unwind);
      AddKernelLabels(chain[i].kernel_stack, prefix, sample);
    }
  }

  // The chain's last waker first, each from its outermost frame to its leaf, and the mark behind it: as in the folded
  // form, the wait goes on where it was ended.
  void AddWakerLocations(const ProfileRow& row, pb::Sample* sample) {
    if (row.waker == 0) return;
    auto& ids = *sample->mutable_location_id();
    const std::span<const Waker> chain = WakersOf(row);
    if (chain.empty()) {
      ids.Add(Word({}, "[other]"));
      ids.Add(Word({}, kWakerMark));
    }
    for (auto waker = chain.rbegin(); waker != chain.rend(); ++waker) {
      if (waker->interrupt) {
        ids.Add(Word({}, kInterrupt));
      } else {
        const std::vector<uint64_t>& user = UserLocations(waker->user_stack);
        ids.Add(user.rbegin(), user.rend());
      }
      const std::vector<uint64_t>& kernel = KernelLocations(waker->kernel_stack);
      ids.Add(kernel.rbegin(), kernel.rend());
      ids.Add(Word({}, kWakerMark));
    }
  }

  void AddLabels(const NamedRow& row, pb::Sample* sample) {
    AddRowLabels(labels_.OfRow(row), "", sample);
    pb::SampleDetails* details = sample->mutable_details();
    details->set_max_ns(Number(row.max_ns));
    details->set_count_error(Number(row.count_error()));
    details->set_time_error(Number(row.ns_error()));
    details->set_blocked_error(Number(ErrorOf(row, RowValue::kBlocked)));
    details->set_runnable_error(Number(ErrorOf(row, RowValue::kRunnable)));
    details->set_draws(Number(row.sampled));
    details->set_unwind(AddUserLabels(row.user_stack, "", sample));
    if (profile_.times.bucket_ns != 0) details->set_times(row.times);
    AddKernelLabels(row.kernel_stack, "", sample);
    AddWakerLabels(row, sample);
  }

  void WriteSample(const NamedRow& row) {
    pb::Profile part;
    pb::Sample* sample = part.add_sample();
    AddWakerLocations(row, sample);
    const std::vector<uint64_t>& kernel = KernelLocations(row.kernel_stack);
    const std::vector<uint64_t>& user = UserLocations(row.user_stack);
    sample->mutable_location_id()->Add(kernel.begin(), kernel.end());
    sample->mutable_location_id()->Add(user.begin(), user.end());
    for (const RowValueInfo& info : kRowValues) sample->add_value(Number(ValueOf(row, info.value)));
    AddLabels(row, sample);
    WritePart(part);
  }

  void WriteStrings() {
    for (const std::string& text : strings_) {
      pb::Profile part;
      part.add_string_table(text);
      WritePart(part);
    }
  }

  const NamedProfile& profile_;
  GzipWriter gzip_;
  std::string buffer_;
  absl::flat_hash_map<std::string, int64_t> string_index_;  // by the text as it is, and as it is written
  std::vector<std::string> strings_;
  uint64_t mappings_ = 0;
  uint64_t kernel_mapping_ = 0;
  absl::flat_hash_map<const CodeObject*, uint64_t> mapping_of_;
  // By name, file, and whether it was interrupted.
  absl::flat_hash_map<std::tuple<int64_t, int64_t, uint32_t, bool>, uint64_t> function_of_;
  absl::flat_hash_map<std::tuple<uint64_t, uint64_t, std::vector<Line>>, uint64_t> location_of_;  // by place and lines
  std::vector<Locations> user_locations_;
  std::vector<Locations> kernel_locations_;
  RowLabels labels_;
};

}  // namespace

void WritePprof(const NamedProfile& profile, ByteSink sink) { Writer(profile, sink).Write(); }

}  // namespace offcpu
