#include "pprof/pprof_comments.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pprof/pprof_ledger.h"

namespace offcpu {
namespace {

constexpr std::string_view kMark = "offcpu recording 1, start ";
constexpr std::string_view kHost = "host: ";
constexpr std::string_view kLost = "lost: ";
constexpr std::string_view kTimes = " times, ";
constexpr std::string_view kLedger = "ledger: ";
constexpr std::string_view kIdleTold = "idle: told";

template <typename Enum, typename Array, typename Visit>
void VisitByName(const char* key, Array& values, Visit visit) {
  for (size_t i = 0; i < values.size(); ++i) {
    visit(absl::StrCat(key, " ", std::string(Name(static_cast<Enum>(i)))), values[i]);
  }
}

// Calls visit(key, value) with a reference to each counter.
template <typename Stats, typename Visit>
void VisitCounters(Stats& stats, Visit visit) {
  visit("intervals", stats.intervals);
  visit("cookies", stats.cookies);
  visit("captures", stats.captures);
  visit("capture_ns", stats.capture_ns);
  visit("capture_longest_ns", stats.capture_longest_ns);
  visit("kernel_stacks", stats.kernel_stacks);
  visit("live_stacks", stats.live_stacks);
  visit("walks", stats.walks);
  visit("processes", stats.processes);
  VisitByName<EndReason>("walk_ends", stats.walk_ends, visit);
  VisitByName<FrameSource>("frames_by_source", stats.frames_by_source, visit);
  VisitByName<FrameSource>("complete_walks_by_source", stats.complete_walks_by_source, visit);
  visit("sample_ns", stats.sample_ns);
  visit("sample_most_ns", stats.sample_most_ns);
  visit("not_drawn", stats.not_drawn);
  visit("slept_throughout", stats.slept_throughout);
  visit("oncpu_period_ns", stats.oncpu_period_ns);
  visit("oncpu_samples", stats.oncpu_samples);
  visit("suspended_ns", stats.suspended_ns);
  visit("clock_forward_ns", stats.clock_forward_ns);
  visit("clock_back_ns", stats.clock_back_ns);
}

bool ParseNumber(std::string_view text, uint64_t* value) { return absl::SimpleAtoi(std::string(text), value); }

// Takes `prefix` off the front of `text`, if it is there.
bool Consume(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// "REASON: N times, N ns"
bool ParseDrop(std::string_view text, Drop* drop) {
  const size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || !text.ends_with(" ns")) return false;
  const std::string_view figures = text.substr(colon + 2, text.size() - colon - 2 - 3);
  const size_t times = figures.find(kTimes);
  if (times == std::string_view::npos) return false;
  drop->reason = std::string(text.substr(0, colon));
  return ParseNumber(figures.substr(0, times), &drop->count) &&
         ParseNumber(figures.substr(times + kTimes.size()), &drop->ns);
}

class Reader {
 public:
  explicit Reader(NamedProfile& profile) : profile_(profile), ledger_(profile) {
    VisitCounters(profile.stats, [this](const std::string& key, uint64_t& value) { counters_[key] = &value; });
  }

  // False if it is one of ours, and damaged.
  bool Read(std::string_view comment) {
    if (Consume(kMark, &comment)) {
      ++marks_;
      return ParseNumber(comment, &profile_.start_unix_ns);
    }
    if (Consume(kHost, &comment)) {
      profile_.host = std::string(comment);
      return true;
    }
    if (Consume(kLost, &comment)) return ParseDrop(comment, &profile_.stats.drops.emplace_back());
    if (Consume(kLedger, &comment)) return ledger_.Read(comment);
    if (comment == kIdleTold) {
      profile_.idle_is_told = true;
      return true;
    }
    const size_t colon = comment.find(": ");
    const auto counter = counters_.find(std::string(comment.substr(0, colon)));
    return counter == counters_.end() || colon == std::string_view::npos ||
           ParseNumber(comment.substr(colon + 2), counter->second);
  }
  int marks() const { return marks_; }

 private:
  NamedProfile& profile_;
  LedgerReader ledger_;
  absl::flat_hash_map<std::string, uint64_t*> counters_;
  int marks_ = 0;
};

}  // namespace

std::vector<std::string> PprofComments(const NamedProfile& profile) {
  std::vector<std::string> comments = {
      absl::StrCat(std::string(kMark), profile.start_unix_ns),
      absl::StrCat(std::string(kHost), profile.host),
  };
  const bool tells_idle = profile.idle_is_told && !profile.rows.empty();  // of no row there is nothing to tell
  if (tells_idle) comments.emplace_back(kIdleTold);
  VisitCounters(profile.stats, [&](const std::string& key, uint64_t value) {
    if (value != 0) comments.push_back(absl::StrCat(key, ": ", value));
  });
  for (const Drop& drop : profile.stats.drops) {
    comments.push_back(
        absl::StrCat(std::string(kLost), drop.reason, ": ", drop.count, std::string(kTimes), drop.ns, " ns"));
  }
  for (const std::string& text : LedgerTexts(profile)) comments.push_back(absl::StrCat(std::string(kLedger), text));
  return comments;
}

absl::Status ReadPprofComments(const std::vector<std::string_view>& comments, NamedProfile& profile) {
  Reader reader(profile);
  for (std::string_view comment : comments) {
    if (!reader.Read(comment)) return absl::DataLossError("is damaged: a comment that offcpu does not write");
  }
  if (reader.marks() == 0) return absl::InvalidArgumentError("was not written by offcpu");
  if (reader.marks() > 1) return absl::InvalidArgumentError("holds several recordings; give each of them by itself");
  return absl::OkStatus();
}

}  // namespace offcpu
