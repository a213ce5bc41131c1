#include "pprof/pprof_comments.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bytes/units.h"
#include "labels/profile_counters.h"
#include "labels/row_error.h"
#include "pprof/pprof_labels.h"
#include "pprof/pprof_ledger.h"

namespace offcpu {
namespace {

constexpr std::string_view kMark = "offcpu recording 2, start ";
constexpr std::string_view kMarkOfOld = "offcpu recording 1, start ";
constexpr std::string_view kHost = "host: ";
constexpr std::string_view kCounters = "counters: ";
constexpr size_t kLineBytes = 120;  // of counters: what pprof's graph has room for
constexpr std::string_view kAccuracy = "accuracy: ";
constexpr std::string_view kLost = "lost: ";
constexpr std::string_view kTimes = " times, ";
constexpr std::string_view kLedger = "ledger: ";
constexpr std::string_view kIdleTold = "idle: told";

// "walks", "walk_ends complete": calls visit(key, counter) for every one.
template <typename Visit>
struct EachCounter {
  Visit visit;

  template <typename Counter>
  void operator()(const std::string& name, Counter& counter) const {
    visit(name, counter);
  }
  template <typename Counters, typename NameAt>
  void operator()(const std::string& name, Counters& counters, NameAt name_at) const {
    for (size_t i = 0; i < counters.size(); ++i) visit(absl::StrCat(name, " ", std::string(name_at(i))), counters[i]);
  }
};
template <typename Visit>
EachCounter(Visit) -> EachCounter<Visit>;

bool ParseNumber(std::string_view text, uint64_t* value) { return absl::SimpleAtoi(std::string(text), value); }

// Takes `prefix` off the front of `text`, if it is there.
bool Consume(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// "REASON: N times, N ns"
bool ParseLoss(std::string_view text, Loss* loss) {
  const size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos || !text.ends_with(" ns")) return false;
  const std::string_view figures = text.substr(colon + 2, text.size() - colon - 2 - 3);
  const size_t times = figures.find(kTimes);
  if (times == std::string_view::npos) return false;
  loss->reason = std::string(text.substr(0, colon));
  return ParseNumber(figures.substr(0, times), &loss->count) &&
         ParseNumber(figures.substr(times + kTimes.size()), &loss->ns);
}

class Reader {
 public:
  explicit Reader(NamedProfile& profile) : profile_(profile), ledger_(profile) {
    VisitCounters(profile.stats,
                  EachCounter{[this](const std::string& key, uint64_t& value) { counters_[key] = &value; }});
  }

  // False if it is one of ours, and damaged.
  bool Read(std::string_view comment) {
    if (Consume(kMark, &comment) || Consume(kMarkOfOld, &comment)) {
      ++marks_;
      return ParseNumber(comment, &profile_.start_unix_ns);
    }
    if (Consume(kHost, &comment)) {
      profile_.host = std::string(comment);
      return true;
    }
    if (comment.starts_with(kAccuracy)) return true;
    if (Consume(kLost, &comment)) return ParseLoss(comment, &profile_.stats.losses.emplace_back());
    if (Consume(kLedger, &comment)) return ledger_.Read(comment);
    if (comment == kIdleTold) {
      profile_.idle_is_told = true;
      return true;
    }
    if (Consume(kCounters, &comment)) return ReadCounters(comment);
    return ReadCounter(comment, ": ");
  }
  int marks() const { return marks_; }

 private:
  // "intervals 5759, walk_ends complete 5756"
  bool ReadCounters(std::string_view text) {
    for (size_t end = 0; end != std::string_view::npos;) {
      end = text.find(", ");
      if (!ReadCounter(text.substr(0, end), " ")) return false;
      text.remove_prefix(end == std::string_view::npos ? 0 : end + 2);
    }
    return true;
  }
  // One that is not known is of a later version, or none of ours.
  bool ReadCounter(std::string_view text, std::string_view between) {
    const size_t name_end = text.rfind(between);
    if (name_end == std::string_view::npos) return true;
    const auto counter = counters_.find(std::string(NameToday(text.substr(0, name_end))));
    return counter == counters_.end() || ParseNumber(text.substr(name_end + between.size()), counter->second);
  }

  NamedProfile& profile_;
  LedgerReader ledger_;
  absl::flat_hash_map<std::string, uint64_t*> counters_;
  int marks_ = 0;
};

std::vector<std::string> CounterLines(const ProfileStats& stats) {
  std::vector<std::string> lines;
  VisitCounters(stats, EachCounter{[&lines](const std::string& key, uint64_t value) {
                  if (value == 0) return;
                  const std::string text = absl::StrCat(key, " ", value);
                  if (lines.empty() || lines.back().size() + 2 + text.size() > kLineBytes) {
                    lines.push_back(absl::StrCat(std::string(kCounters), text));
                  } else {
                    absl::StrAppend(&lines.back(), ", ", text);
                  }
                }});
  return lines;
}

std::string AccuracyComment(const NamedProfile& profile) {
  const RowSums total = SumOf(profile.rows);
  const std::vector<RowSums> rows(profile.rows.begin(), profile.rows.end());
  const std::string time = WithError(FormatDuration(total.total_ns()), total, RowValue::kOffCpu);
  return absl::StrCat(std::string(kAccuracy), rows.empty() ? "" : absl::StrCat(time, " off the CPU; "),
                      AccuracyText(profile, rows, total.total_ns()));
}

}  // namespace

std::vector<std::string> PprofComments(const NamedProfile& profile) {
  std::vector<std::string> comments = {
      absl::StrCat(std::string(kMark), profile.start_unix_ns),
      absl::StrCat(std::string(kHost), profile.host),
  };
  if (IsSample(profile)) comments.push_back(AccuracyComment(profile));
  const bool tells_idle = profile.idle_is_told && !profile.rows.empty();  // of no row there is nothing to tell
  if (tells_idle) comments.emplace_back(kIdleTold);
  for (std::string& line : CounterLines(profile.stats)) comments.push_back(std::move(line));
  for (const Loss& loss : profile.stats.losses) {
    comments.push_back(
        absl::StrCat(std::string(kLost), loss.reason, ": ", loss.count, std::string(kTimes), loss.ns, " ns"));
  }
  for (const std::string& text : LedgerTexts(profile)) comments.push_back(absl::StrCat(std::string(kLedger), text));
  return comments;
}

absl::Status ReadPprofComments(const std::vector<std::string_view>& comments, NamedProfile& profile) {
  Reader reader(profile);
  for (std::string_view comment : comments) {
    if (!reader.Read(comment)) return absl::DataLossError("is damaged: it has a comment that offcpu does not write");
  }
  if (reader.marks() == 0) return absl::InvalidArgumentError("was not written by offcpu");
  if (reader.marks() > 1) return absl::InvalidArgumentError("holds several recordings; give each one separately");
  return absl::OkStatus();
}

}  // namespace offcpu
