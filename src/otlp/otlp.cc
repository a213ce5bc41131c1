#include "otlp/otlp.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>

#include "absl/strings/str_join.h"
#include "labels/row_labels.h"
#include "labels/stack_labels.h"
#include "otlp/otlp_attributes.h"
#include "otlp/otlp_request.h"
#include "otlp/otlp_stacks.h"
#include "pprof/pprof_comments.h"

namespace offcpu {
namespace {

constexpr std::string_view kTooLarge = "too large";
constexpr std::string_view kRecording = "recording";
constexpr std::string_view kExport = "export";

int64_t Number(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

int64_t& At(OtlpType type, OtlpValues& values) { return values[static_cast<size_t>(type)]; }

OtlpValues ValuesOf(const ProfileRow& row) {
  OtlpValues values = {};
  At(OtlpType::kOffCpu, values) = Number(row.total_ns());
  At(OtlpType::kContentions, values) = Number(row.count);
  At(OtlpType::kBlocked, values) = Number(row.blocked_ns);
  At(OtlpType::kRunnable, values) = Number(row.runnable_ns);
  At(OtlpType::kSamples, values) = Number(row.samples);
  At(OtlpType::kCpu, values) = Number(row.cpu_ns);
  At(OtlpType::kLongest, values) = Number(row.max_ns);
  At(OtlpType::kContentionsError, values) = Number(row.count_error());
  At(OtlpType::kOffCpuError, values) = Number(row.ns_error());
  return values;
}

class Writer {
 public:
  Writer(const NamedProfile& profile, const OtlpOptions& options, absl::FunctionRef<void(std::string)> sink)
      : profile_(profile),
        options_(options),
        sink_(sink),
        request_({profile.start_unix_ns, profile.duration_ns, profile.stats.sample_most_ns, options.window_id},
                 std::min(options.max_bytes, kMaxOtlpBytes)),
        stacks_(profile, options.names),
        labels_(profile) {}

  void Write() {
    WriteRows();
    request_.SetResource(OtlpRecorderFrame(profile_.host, options_.resource));
    WriteRecording();
    for (const Drop& drop : profile_.stats.drops) WriteDrop(drop, kRecording);
    for (const Drop& drop : options_.export_losses) WriteDrop(drop, kExport);
    if (rows_lost_.count != 0) WriteDrop(rows_lost_, kExport);
    Flush();
  }

 private:
  using Make = absl::FunctionRef<OtlpSample(OtlpDictionary&)>;

  void Flush() {
    if (!request_.empty()) sink_(request_.Take());
    stacks_.Forget();
  }

  bool TryAdd(Make make) {
    if (request_.Add(make)) return true;
    stacks_.Forget();
    return false;
  }

  // To this request, or to the next.
  bool Add(Make make) {
    if (TryAdd(make)) return true;
    if (request_.empty()) return false;
    Flush();
    return TryAdd(make);
  }

  // The rows of a process one after the other, as they are unless several recordings were merged; processes in the
  // order of their first row.
  std::vector<uint32_t> RowsByProcess() const {
    constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> rank(profile_.processes.size(), kNone);
    uint32_t ranks = 0;
    for (const ProfileRow& row : profile_.rows) {
      if (rank[row.process] == kNone) rank[row.process] = ranks++;
    }
    std::vector<uint32_t> order(profile_.rows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return rank[profile_.rows[a].process] < rank[profile_.rows[b].process];
    });
    return order;
  }

  void WriteRows() {
    const NamedRow* before = nullptr;
    for (const uint32_t index : RowsByProcess()) {
      const NamedRow& row = profile_.rows[index];
      if (before == nullptr || row.process != before->process) {
        const RowLabelValues process = labels_.OfProcess(row.process);
        request_.SetResource(OtlpProcessFrame(profile_.host, options_.service_name, process, options_.resource));
      }
      before = &row;
      WriteRow(row);
    }
  }

  std::vector<int32_t> WaitAttributes(const NamedRow& row, OtlpDictionary& dictionary) {
    std::vector<int32_t> attributes;
    VisitLabels(labels_.OfRow(row), [&](const RowLabelInfo& info, const RowLabelValue& value) {
      if (info.is_of_process) return;  // its resource says so
      if (&info == &InfoOf(RowLabel::kCause) && value.text == Name(WaitCause::kOther)) return;
      attributes.push_back(info.is_number ? dictionary.Attribute(info.attribute, value.number, "")
                                          : dictionary.Attribute(info.attribute, value.text));
    });
    return attributes;
  }

  std::string WakerText(const ProfileRow& row) const {
    std::vector<std::string> labels = WakerLabels(profile_, profile_.wakers[row.waker - 1], false);
    labels.erase(labels.begin());
    return absl::StrJoin(labels, ";");
  }

  void WriteRow(const NamedRow& row) {
    const OtlpValues values = ValuesOf(row);
    if (values == OtlpValues{}) return;
    const std::string waker = row.waker == 0 ? "" : WakerText(row);
    const auto with_stack = [&](std::string_view waker_text) {
      return [&, waker_text](OtlpDictionary& dictionary) {
        OtlpSample sample = {.stack = stacks_.Stack(row, dictionary), .values = values};
        sample.attributes = WaitAttributes(row, dictionary);
        stacks_.AppendAttributes(row, dictionary, &sample.attributes);
        if (row.waker != 0) sample.attributes.push_back(dictionary.Attribute(kOtlpWaker, waker_text));
        return sample;
      };
    };
    const auto without_stack = [&](OtlpDictionary& dictionary) {
      OtlpSample sample = {.stack = OtlpStacks::Word("[too large]", dictionary), .values = values};
      sample.attributes = WaitAttributes(row, dictionary);
      sample.attributes.push_back(dictionary.Attribute(kOtlpNoUserStack, kTooLarge));
      sample.attributes.push_back(dictionary.Attribute(kOtlpNoKernelStack, kTooLarge));
      return sample;
    };
    if (Add(with_stack(waker)) || (row.waker != 0 && Add(with_stack(kTooLarge))) || Add(without_stack)) return;
    rows_lost_.count += row.events();
    rows_lost_.ns += row.wall_ns();
  }

  // Of which the comments are an attribute.
  bool AddComments(OtlpType type, int64_t value, std::span<const std::string> comments) {
    return TryAdd([&](OtlpDictionary& dictionary) {
      OtlpSample sample = {.stack = OtlpStacks::Word("[recording]", dictionary)};
      At(type, sample.values) = value;
      if (!comments.empty()) sample.of_profiles = dictionary.Attribute(kOtlpComment, comments);
      return sample;
    });
  }

  void WriteRecording() {
    const std::vector<std::string> comments = PprofComments(profile_);
    std::span<const std::string> rest = comments;
    const int64_t duration_ns = std::max<int64_t>(Number(profile_.duration_ns), 1);
    if (AddComments(OtlpType::kRecording, duration_ns, rest)) return;
    Flush();
    for (size_t count = rest.size();; count /= 2) {
      if (AddComments(OtlpType::kRecording, duration_ns, rest.first(count))) {
        rest = rest.subspan(count);
        break;
      }
      if (count == 0) return;
    }
    WriteRest(rest);
  }

  // Comments that are too many for one request. One that fits none alone is left out.
  void WriteRest(std::span<const std::string> rest) {
    while (!rest.empty()) {
      Flush();
      size_t count = rest.size();
      while (count > 1 && !AddComments(OtlpType::kComments, Number(count), rest.first(count))) count /= 2;
      if (count == 1) AddComments(OtlpType::kComments, 1, rest.first(1));
      rest = rest.subspan(count);
    }
  }

  void WriteDrop(const Drop& drop, std::string_view where) {
    const auto make = [&](OtlpDictionary& dictionary) {
      OtlpSample sample = {.stack = OtlpStacks::Word(drop.reason, dictionary)};
      sample.attributes = {dictionary.Attribute(kOtlpLostWhere, where)};
      At(OtlpType::kLostTime, sample.values) = Number(drop.ns);
      At(OtlpType::kLostCount, sample.values) = Number(drop.count);
      return sample;
    };
    if (drop.ns != 0 || drop.count != 0) Add(make);
  }

  const NamedProfile& profile_;
  const OtlpOptions& options_;
  absl::FunctionRef<void(std::string)> sink_;
  OtlpRequest request_;
  OtlpStacks stacks_;
  RowLabels labels_;
  Drop rows_lost_ = {.reason = "larger than a request"};
};

}  // namespace

void WriteOtlp(const NamedProfile& profile, const OtlpOptions& options,
               absl::FunctionRef<void(std::string request)> sink) {
  Writer(profile, options, sink).Write();
}

}  // namespace offcpu
