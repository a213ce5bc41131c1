#include "offcpu/filter_flags.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/nearest_word.h"
#include "classify/glob_match.h"
#include "classify/idle_patterns.h"
#include "classify/wait_cause.h"

namespace offcpu {
namespace {

constexpr size_t kFullContainerId = 64;  // digits
constexpr std::string_view kCgroupMount = "/sys/fs/cgroup/";

bool IsGlob(const std::string& text) { return text.find_first_of("*?") != std::string::npos; }

// As record takes it: the id, or the first digits of it.
std::string ContainerPattern(const std::string& id) {
  return IsGlob(id) || id.size() >= kFullContainerId ? id : id + "*";
}

// As systemctl takes it: "nginx" is nginx.service.
std::string UnitPattern(const std::string& unit) {
  return IsGlob(unit) || unit.find('.') != std::string::npos ? unit : unit + ".service";
}

// A path of a row, which begins with a slash and does not end with one, from what a user may name it by.
std::string CgroupPath(const std::string& path) {
  std::string below = path;
  if (path.starts_with(kCgroupMount)) below.erase(0, kCgroupMount.size() - 1);
  while (!below.empty() && below.back() == '/') below.pop_back();
  return below.starts_with("/") || below.empty() ? below : "/" + below;
}

// Its letters and digits, in lower case: "block io" and "block-IO" are "block I/O".
std::string Letters(const std::string& text) {
  std::string letters;
  for (const char c : text) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)))
      letters += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return letters;
}

// Families first, then the causes that the kernel shows, then those that the shipped patterns name.
std::vector<std::string> CauseNames() {
  std::vector<std::string> names;
  const auto add = [&names](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (int i = 0; i < kWaitCauseCount; ++i) add(Family(static_cast<WaitCause>(i)));
  for (int i = 0; i < kWaitCauseCount; ++i) add(Name(static_cast<WaitCause>(i)));
  for (const IdlePattern& pattern : DefaultIdlePatterns()) {
    if (!pattern.wait.empty()) add(pattern.wait);
  }
  return names;
}

// The pattern, as a cause is written that has the same letters; InvalidArgument if no cause is like it.
absl::StatusOr<std::string> CausePattern(const std::string& text) {
  const std::vector<std::string> names = CauseNames();
  for (const std::string& name : names) {
    if (Matches(text, name)) return text;
  }
  for (const std::string& name : names) {
    if (Letters(text) == Letters(name)) return name;
  }
  return absl::InvalidArgumentError(absl::StrCat("no cause is called '", text, "'", DidYouMean(text, names),
                                                 "; the causes are ", absl::StrJoin(names, ", ")));
}

void AddLabels(RowLabel label, const std::vector<std::string>& patterns, std::string (*pattern_of)(const std::string&),
               ProfileFilter* filter) {
  for (const std::string& text : patterns) filter->labels.push_back({.label = label, .pattern = pattern_of(text)});
}

std::string Same(const std::string& text) { return text; }

absl::Status AddOnly(const std::vector<std::string>& texts, ProfileFilter* filter) {
  for (const std::string& text : texts) {
    absl::StatusOr<LabelFilter> parsed = ParseLabelFilter(text);
    if (!parsed.ok()) return parsed.status();
    if (parsed->label == RowLabel::kCause) {
      absl::StatusOr<std::string> pattern = CausePattern(parsed->pattern);
      if (!pattern.ok()) return pattern.status();
      parsed->pattern = *std::move(pattern);
    }
    filter->labels.push_back(*std::move(parsed));
  }
  return absl::OkStatus();
}

absl::Status AddPatterns(const std::string& flag, const std::vector<std::string>& texts,
                         std::vector<FramePattern>* patterns) {
  for (const std::string& text : texts) {
    const absl::StatusOr<FramePattern> pattern = FramePattern::Parse(text);
    if (!pattern.ok())
      return absl::InvalidArgumentError(absl::StrCat(flag, ": ", std::string(pattern.status().message())));
    patterns->push_back(*pattern);
  }
  return absl::OkStatus();
}

}  // namespace

void AddOnlyFlag(FilterFlags* values, std::vector<Flag>* flags) {
  flags->push_back({"--only", &values->only,
                    "Only waits whose label matches, as in unit=nginx.service or cause=lock; * and ? are wildcards",
                    "LABEL=PATTERN"});
}

void AddFilterFlags(FilterFlags* values, std::vector<Flag>* flags) {
  flags->insert(
      flags->end(),
      {
          {"-p,--pid", &values->pids, "Only this process", "PID"},
          {"--comm", &values->comms, "Only threads of this name; from here to --cause, * and ? are wildcards", "NAME"},
          {"--container", &values->containers, "Only this container, by its id or the first digits of it", "ID"},
          {"--cgroup", &values->cgroups, "Only this control group (v2) and those below it", "PATH"},
          {"--unit", &values->units, "Only this systemd unit; nginx is nginx.service", "UNIT"},
          {"--cause", &values->causes,
           "Only waits with this cause (mutex, sleep, network, ...), or with one of this family (lock)", "CAUSE"},
          {"--focus", &values->focus,
           "Only stacks with a function (user or kernel) that this regular expression (RE2) matches", "REGEX"},
          {"--ignore", &values->ignore, "Leave out stacks with such a function", "REGEX"},
      });
  AddOnlyFlag(values, flags);
}

absl::StatusOr<ProfileFilter> FilterOf(const FilterFlags& flags) {
  ProfileFilter filter;
  for (const int pid : flags.pids) filter.labels.push_back({.label = RowLabel::kPid, .pattern = absl::StrCat(pid)});
  AddLabels(RowLabel::kComm, flags.comms, Same, &filter);
  AddLabels(RowLabel::kContainer, flags.containers, ContainerPattern, &filter);
  AddLabels(RowLabel::kUnit, flags.units, UnitPattern, &filter);
  for (const std::string& text : flags.cgroups) {
    const std::string path = CgroupPath(text);
    filter.labels.push_back({.label = RowLabel::kControlGroup, .pattern = path.empty() ? "/" : path});
    filter.labels.push_back({.label = RowLabel::kControlGroup, .pattern = path + "/*"});
  }
  for (const std::string& cause : flags.causes) {
    absl::StatusOr<std::string> pattern = CausePattern(cause);
    if (!pattern.ok()) return pattern.status();
    filter.labels.push_back({.label = RowLabel::kCause, .pattern = *std::move(pattern)});
  }
  if (absl::Status status = AddOnly(flags.only, &filter); !status.ok()) return status;
  if (absl::Status status = AddPatterns("--focus", flags.focus, &filter.focus); !status.ok()) return status;
  if (absl::Status status = AddPatterns("--ignore", flags.ignore, &filter.ignore); !status.ok()) return status;
  return filter;
}

}  // namespace offcpu
