#include "bpf_programs/load_failure.h"

#include <algorithm>

namespace offcpu {
namespace {

constexpr std::string_view kLogBegins = "-- BEGIN PROG LOAD LOG --\n";
constexpr std::string_view kLogEnds = "-- END PROG LOAD LOG --";

// The last line of the verifier's log but for its figures: why it goes no further. Empty: `warning` has no log.
std::string_view VerdictOf(std::string_view warning) {
  const size_t begin = warning.find(kLogBegins);
  if (begin == std::string_view::npos) return {};
  std::string_view left = warning.substr(begin + kLogBegins.size());
  std::string_view verdict;
  while (!left.empty() && !left.starts_with(kLogEnds)) {
    const std::string_view line = left.substr(0, left.find('\n'));
    if (!line.empty() && !line.starts_with("processed ")) verdict = line;
    left.remove_prefix(std::min(left.size(), line.size() + 1));
  }
  return verdict;
}

}  // namespace

void LoadFailure::Hear(std::string_view warning) {
  if (warning.find("Retrying without") != std::string_view::npos) return;
  if (verdict_.empty()) verdict_ = VerdictOf(warning);
  if (warning_.empty()) warning_ = warning.substr(0, warning.find('\n'));
}

std::string LoadFailure::Text() const { return verdict_.empty() ? warning_ : warning_ + ": " + verdict_; }

}  // namespace offcpu
