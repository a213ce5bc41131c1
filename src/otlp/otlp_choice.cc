#include "otlp/otlp_choice.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// "recording" and "lost" are two profiles each.
constexpr std::array<std::pair<std::string_view, OtlpType>, kOtlpTypeCount> kTypes = {{
    {"off_cpu", OtlpType::kOffCpu},
    {"cpu", OtlpType::kCpu},
    {"contentions", OtlpType::kContentions},
    {"blocked", OtlpType::kBlocked},
    {"runnable", OtlpType::kRunnable},
    {"recording", OtlpType::kRecording},
    {"recording", OtlpType::kComments},
    {"lost", OtlpType::kLostTime},
    {"lost", OtlpType::kLostCount},
}};

constexpr std::array<std::pair<std::string_view, OtlpLabel>, kOtlpLabelCount> kLabels = {{
    {"phase", OtlpLabel::kPhase},
    {"user_end", OtlpLabel::kUserEnd},
    {"no_user_stack", OtlpLabel::kNoUserStack},
    {"no_kernel_stack", OtlpLabel::kNoKernelStack},
    {"waker", OtlpLabel::kWaker},
}};

void AppendName(std::string_view name, std::string* list) {
  absl::StrAppend(list, list->empty() ? "" : ", ", std::string(name));
}

absl::Status Unknown(const std::string& name, const std::string& known) {
  return absl::InvalidArgumentError(absl::StrCat("unknown name '", name, "'; the names are ", known));
}

std::string LabelNames() {
  std::string names;
  for (const RowLabelInfo& info : kRowLabels) AppendName(info.name, &names);
  for (const auto& [name, label] : kLabels) AppendName(name, &names);
  return names;
}

}  // namespace

absl::StatusOr<OtlpTypes> ParseOtlpTypes(const std::vector<std::string>& names) {
  OtlpTypes types;
  for (const std::string& wanted : names) {
    OtlpTypes found;
    std::string known;
    std::string_view before;
    for (const auto& [name, type] : kTypes) {
      if (name == wanted) found.set(static_cast<size_t>(type));
      if (name != before) AppendName(name, &known);
      before = name;
    }
    if (found.none()) return Unknown(wanted, known);
    types |= found;
  }
  return types;
}

absl::StatusOr<OtlpLabels> ParseOtlpLabels(const std::vector<std::string>& names) {
  OtlpLabels labels;
  for (const std::string& wanted : names) {
    const auto is_it = [&wanted](const auto& known) { return known.first == wanted; };
    if (const absl::StatusOr<RowLabel> label = ParseRowLabel(wanted); label.ok()) {
      labels.of_row.set(static_cast<size_t>(*label));
    } else if (const auto* found = std::find_if(kLabels.begin(), kLabels.end(), is_it); found != kLabels.end()) {
      labels.other.set(static_cast<size_t>(found->second));
    } else {
      return Unknown(wanted, LabelNames());
    }
  }
  return labels;
}

OtlpTypes DefaultOtlpTypes() { return *ParseOtlpTypes({kDefaultOtlpTypes.begin(), kDefaultOtlpTypes.end()}); }

OtlpLabels DefaultOtlpLabels() { return *ParseOtlpLabels({kDefaultOtlpLabels.begin(), kDefaultOtlpLabels.end()}); }

}  // namespace offcpu
