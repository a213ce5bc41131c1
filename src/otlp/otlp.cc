#include "otlp/otlp.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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
constexpr std::string_view kRunnable = "runnable";
constexpr std::string_view kRecording = "recording";
constexpr std::string_view kExport = "export";

int64_t Number(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, std::numeric_limits<int64_t>::max()));
}

int64_t& At(OtlpType type, OtlpValues& values) { return values[static_cast<size_t>(type)]; }

// How many periods; rounded, because recordings that were merged may differ in theirs.
int64_t Samples(uint64_t cpu_ns, uint64_t period_ns) {
  const auto period = static_cast<uint64_t>(CpuPeriodNs(period_ns));
  return Number(cpu_ns / period + (cpu_ns % period > (period - 1) / 2 ? 1 : 0));
}

std::string LostText(const Loss& loss, std::string_view where) {
  return absl::StrCat(std::string(where), ": ", loss.reason, ": ", loss.count, " times, ", loss.ns, " ns");
}

// What does not fit is left out.
std::vector<std::string> LostTexts(const NamedProfile& profile, const OtlpOptions& options) {
  constexpr size_t kMostBytes = 4096;
  std::vector<std::string> texts;
  size_t bytes = 0;
  const auto add = [&](const Loss& loss, std::string_view where) {
    std::string text = LostText(loss, where);
    if ((loss.ns == 0 && loss.count == 0) || bytes + text.size() > kMostBytes) return;
    bytes += text.size();
    texts.push_back(std::move(text));
  };
  for (const Loss& loss : profile.stats.losses) add(loss, kRecording);
  for (const Loss& loss : options.export_losses) add(loss, kExport);
  return texts;
}

OtlpWindow WindowOf(const NamedProfile& profile, const OtlpOptions& options) {
  return {.start_unix_ns = profile.start_unix_ns,
          .duration_ns = profile.duration_ns,
          .sample_ns = profile.stats.sample_most_ns,
          .cpu_period_ns = profile.stats.oncpu_period_ns,
          .id = options.window_id,
          .lost = LostTexts(profile, options)};
}

class Writer {
 public:
  Writer(const NamedProfile& profile, const OtlpOptions& options, absl::FunctionRef<void(std::string)> sink)
      : profile_(profile),
        options_(options),
        sink_(sink),
        request_(WindowOf(profile, options), std::min(options.max_bytes, kMaxOtlpBytes), options.max_samples),
        stacks_(profile, options.names, options.labels),
        labels_(profile) {}

  Loss Write() {
    FindResources();
    WriteRows();
    request_.SetResource(OtlpRecorderFrame(profile_.host, options_.resource));
    if (Wants(OtlpType::kRecording)) WriteRecording();
    for (const Loss& loss : profile_.stats.losses) WriteLoss(loss, kRecording);
    for (const Loss& loss : options_.export_losses) WriteLoss(loss, kExport);
    Flush();
    return rows_lost_;
  }

 private:
  using Make = absl::FunctionRef<OtlpSample(OtlpDictionary&)>;

  struct Part {
    std::string_view phase;  // "": of none
    OtlpValues values;
  };

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

  bool Wants(OtlpType type) const { return options_.types[static_cast<size_t>(type)]; }

  // Processes of which the same is said are one resource. In the order of their first row.
  void FindResources() {
    absl::flat_hash_map<std::pair<uint32_t, uint32_t>, uint32_t> known;  // by process and control group
    absl::flat_hash_map<std::string, uint32_t> said;
    for (const NamedRow& row : profile_.rows) {
      const auto [it, is_new] = known.try_emplace({row.process, row.control_group});
      if (is_new) {
        OtlpProfiles::Frame frame =
            OtlpProcessFrame(profile_.host, options_.service_name, profile_.processes[row.process].service,
                             labels_.OfRow(row), options_.labels, options_.resource);
        const auto [same, is_first] = said.try_emplace(frame.resource, static_cast<uint32_t>(frames_.size()));
        it->second = same->second;
        if (is_first) frames_.push_back(std::move(frame));
      }
      resources_.push_back(it->second);
    }
  }

  void WriteRows() {
    std::vector<uint32_t> order(profile_.rows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return resources_[a] < resources_[b]; });
    std::optional<uint32_t> before;
    for (const uint32_t row : order) {
      if (before != resources_[row]) request_.SetResource(frames_[resources_[row]]);
      before = resources_[row];
      WriteRow(profile_.rows[row]);
    }
  }

  // Time off the CPU, and behind it the other values, to which no phase belongs.
  std::vector<Part> PartsOf(const NamedRow& row) const {
    std::vector<Part> parts;
    OtlpValues others = {};
    const auto add = [&](std::string_view phase, uint64_t ns) {
      parts.push_back({phase, {}});
      At(OtlpType::kOffCpu, parts.back().values) = Number(ns);
    };
    if (Wants(OtlpType::kOffCpu) && options_.labels.Has(OtlpLabel::kPhase)) {
      add("blocked", row.blocked_ns);
      add(kRunnable, row.runnable_ns);
    } else if (Wants(OtlpType::kOffCpu)) {
      At(OtlpType::kOffCpu, others) = Number(row.total_ns());
    }
    const auto set = [&](OtlpType type, int64_t value) {
      if (Wants(type)) At(type, others) = value;
    };
    set(OtlpType::kCpu, Samples(row.cpu_ns, profile_.stats.oncpu_period_ns));
    set(OtlpType::kContentions, Number(row.count));
    set(OtlpType::kBlocked, Number(row.blocked_ns));
    set(OtlpType::kRunnable, Number(row.runnable_ns));
    parts.push_back({"", others});
    std::erase_if(parts, [](const Part& part) { return part.values == OtlpValues{}; });
    return parts;
  }

  std::vector<int32_t> WaitAttributes(const NamedRow& row, std::string_view phase, OtlpDictionary& dictionary) {
    std::vector<int32_t> attributes;
    VisitLabels(labels_.OfRow(row), [&](const RowLabelInfo& info, const RowLabelValue& value) {
      if (info.is_of_resource || !options_.labels.Has(info.label)) return;
      const bool is_cause = info.label == RowLabel::kCause || info.label == RowLabel::kWait;
      if (is_cause && value.text == Name(WaitCause::kOther)) return;
      if (info.label == RowLabel::kIdle && phase == kRunnable) return;
      attributes.push_back(info.is_number ? dictionary.Attribute(info.attribute, value.number, "")
                                          : dictionary.Attribute(info.attribute, value.text));
    });
    if (!phase.empty()) attributes.push_back(dictionary.Attribute(kOtlpPhase, phase));
    return attributes;
  }

  std::string WakerText(const ProfileRow& row) const {
    std::vector<std::string> labels = WakerLabels(profile_, profile_.wakers[row.waker - 1]);
    labels.erase(labels.begin());
    return absl::StrJoin(labels, ";");
  }

  void WriteRow(const NamedRow& row) {
    const bool has_waker = row.waker != 0 && options_.labels.Has(OtlpLabel::kWaker);
    const std::string waker = has_waker ? WakerText(row) : "";
    bool is_counted = false;
    for (const Part& part : PartsOf(row)) {
      if (WritePart(row, part, waker)) continue;
      if (!is_counted) rows_lost_.count += row.events();
      is_counted = true;
      rows_lost_.ns += TimeOf(part.values);
    }
  }

  // What is said twice, in profiles of their own, counts once.
  uint64_t TimeOf(OtlpValues values) const {
    const auto ns = [&values](OtlpType type) { return static_cast<uint64_t>(At(type, values)); };
    const uint64_t off_cpu =
        Wants(OtlpType::kOffCpu) ? ns(OtlpType::kOffCpu) : ns(OtlpType::kBlocked) + ns(OtlpType::kRunnable);
    return off_cpu + ns(OtlpType::kCpu) * static_cast<uint64_t>(CpuPeriodNs(profile_.stats.oncpu_period_ns));
  }

  bool WritePart(const NamedRow& row, const Part& part, const std::string& waker) {
    const auto with_stack = [&](std::string_view waker_text) {
      return [&, waker_text](OtlpDictionary& dictionary) {
        OtlpSample sample = {.stack = stacks_.Stack(row, dictionary), .values = part.values};
        sample.attributes = WaitAttributes(row, part.phase, dictionary);
        stacks_.AppendAttributes(row, dictionary, &sample.attributes);
        if (!waker_text.empty()) sample.attributes.push_back(dictionary.Attribute(kOtlpWaker, waker_text));
        return sample;
      };
    };
    const auto without_stack = [&](OtlpDictionary& dictionary) {
      OtlpSample sample = {.stack = OtlpStacks::Word("[too large]", dictionary), .values = part.values};
      sample.attributes = WaitAttributes(row, part.phase, dictionary);
      const auto add = [&](OtlpLabel label, std::string_view key) {
        if (options_.labels.Has(label)) sample.attributes.push_back(dictionary.Attribute(key, kTooLarge));
      };
      add(OtlpLabel::kNoUserStack, kOtlpNoUserStack);
      add(OtlpLabel::kNoKernelStack, kOtlpNoKernelStack);
      return sample;
    };
    return Add(with_stack(waker)) || (!waker.empty() && Add(with_stack(kTooLarge))) || Add(without_stack);
  }

  // Adds a sample whose profile has the comments as an attribute.
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

  void WriteLoss(const Loss& loss, std::string_view where) {
    const auto make = [&](OtlpDictionary& dictionary) {
      OtlpSample sample = {.stack = OtlpStacks::Word(loss.reason, dictionary)};
      sample.attributes = {dictionary.Attribute(kOtlpLostWhere, where)};
      At(OtlpType::kLostTime, sample.values) = Number(loss.ns);
      At(OtlpType::kLostCount, sample.values) = Number(loss.count);
      return sample;
    };
    if (Wants(OtlpType::kLostTime) && (loss.ns != 0 || loss.count != 0)) Add(make);
  }

  const NamedProfile& profile_;
  const OtlpOptions& options_;
  absl::FunctionRef<void(std::string)> sink_;
  OtlpRequest request_;
  OtlpStacks stacks_;
  RowLabels labels_;
  std::vector<OtlpProfiles::Frame> frames_;
  std::vector<uint32_t> resources_;  // by row, which of them
  Loss rows_lost_ = {.reason = kOtlpTooLarge};
};

}  // namespace

Loss WriteOtlp(const NamedProfile& profile, const OtlpOptions& options,
               absl::FunctionRef<void(std::string request)> sink) {
  return Writer(profile, options, sink).Write();
}

}  // namespace offcpu
