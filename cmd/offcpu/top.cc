// `offcpu top`: where threads wait, live.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bytes/duration.h"
#include "labels/row_value.h"
#include "offcpu/daemon.h"
#include "offcpu/idle_flags.h"
#include "offcpu/outputs.h"
#include "offcpu/screen.h"
#include "offcpu/top_source.h"
#include "offcpu/verb.h"
#include "recorder/operands.h"
#include "tables/columns.h"
#include "tables/profilers.h"
#include "tables/top_history.h"
#include "tables/top_keys.h"
#include "tables/top_screen.h"
#include "tables/top_state.h"
#include "tables/top_table.h"
#include "tables/top_text.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kMinIntervalNs = 100'000'000;  // a cut costs, and so does the redrawing
constexpr uint64_t kMaxIntervalNs = 3'600'000'000'000;
constexpr size_t kPrintedRows = 20;  // of each table, where there is no screen

struct TopFlags {
  std::string interval = "2s";
  uint64_t count = 0;  // of refreshes; 0: until it is ended
  TopSelection selection;
  std::string value = "off_cpu";
  bool as_json = false;
  IdleFlags idle;
  std::string socket;
};

absl::StatusOr<std::chrono::nanoseconds> IntervalOf(const TopFlags& flags) {
  const absl::StatusOr<uint64_t> ns = ParseDuration(flags.interval, "s");
  if (!ns.ok()) return ns.status();
  if (*ns < kMinIntervalNs || *ns > kMaxIntervalNs)
    return absl::InvalidArgumentError("--interval must be from 100ms to 1h");
  return std::chrono::nanoseconds(*ns);
}

std::string TimeOfDay() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  std::array<char, 16> text = {};
  localtime_r(&now, &local);
  return {text.data(), std::strftime(text.data(), text.size(), "%H:%M:%S", &local)};
}

// A screen that is redrawn and that keys change, or else blocks of text or lines of JSON, one after the other.
class View {
 public:
  // `screen`: null if there is none. Both must outlive the view.
  View(const TopFlags& flags, IdlePatterns idle, std::string recorder, Screen* screen)
      : flags_(flags), idle_(std::move(idle)), recorder_(std::move(recorder)), screen_(screen) {
    state_.value = *ParseRowValue(flags.value);  // one of those, or it was refused
    Draw();
  }

  absl::Status Show(NamedProfile profile) {
    MarkStoredIdle(flags_.idle, idle_, &profile);
    const size_t limit = screen_ == nullptr ? kPrintedRows : kNoLimit;
    const bool is_whole_host = flags_.selection.pids.empty() && flags_.selection.comms.empty();
    if (is_whole_host && !flags_.as_json) LeaveOutProfilers(&profile);
    // Scripts get each process.
    const RowsApart apart = flags_.as_json ? RowsApart::kProcesses : RowsApart::kPrograms;
    Refresh refresh = {.table = MakeTopTable(profile, state_.value, limit, flags_.idle.hides(), apart),
                       .time_of_day = TimeOfDay()};
    if (screen_ == nullptr) return Print(refresh.table, refresh.time_of_day);
    history_.Add(refresh.table);
    newest_ = std::move(refresh);
    if (!state_.is_paused) Take();
    Draw();
    return absl::OkStatus();
  }

  // False if the user has had enough before `until`.
  bool Wait(Clock::time_point until) {
    if (screen_ == nullptr) {
      std::this_thread::sleep_until(until);
      return true;
    }
    while (true) {
      const Screen::Event event = screen_->Wait(until);
      if (event == Screen::Event::kTimeUp) return true;
      if (event == Screen::Event::kTyped && !Typed()) return false;
      Draw();
    }
  }

  // What was shown last stays where the user goes on.
  absl::Status Finish() {
    if (screen_ == nullptr || !taken_.has_value()) return absl::OkStatus();
    screen_->Leave();
    screen_ = nullptr;
    shown_.processes.resize(std::min(shown_.processes.size(), kPrintedRows));
    shown_.stacks.resize(std::min(shown_.stacks.size(), kPrintedRows));
    return Print(shown_, taken_->time_of_day);
  }

 private:
  struct Refresh {
    TopTable table;
    std::string time_of_day;
  };

  absl::Status Print(const TopTable& table, const std::string& time_of_day) {
    if (flags_.as_json) {
      WriteTopJson(table, ToStdout);
    } else {
      for (const std::string& line : TopText(table, time_of_day, recorder_, state_.value))
        ToStdout(absl::StrCat(line, "\n"));
      ToStdout("\n");
    }
    return FlushStdout();
  }

  void Take() {
    if (!newest_.has_value()) return;
    taken_ = std::exchange(newest_, std::nullopt);
    Select();
  }

  void Select() {
    if (taken_.has_value()) shown_ = ShownOf(taken_->table, state_);
  }

  // False if the user has had enough.
  bool Typed() {
    for (const TopKey& key : TopKeys(screen_->typed())) {
      const TopAction action = Press(key, shown_, &state_);
      if (action == TopAction::kQuit) return false;
      if (action == TopAction::kSelect) Select();
      if (action == TopAction::kPause) Pause();
    }
    return true;
  }

  // Or go on.
  void Pause() {
    if (state_.is_paused) {
      frozen_ = history_;
    } else {
      frozen_.reset();
      Take();
    }
  }

  void Draw() {
    if (screen_ == nullptr) return;
    const Screen::Size size = screen_->size();
    if (!taken_.has_value()) {
      const std::string text =
          absl::StrCat("offcpu top  recorded by ", recorder_, ", shown every ", flags_.interval, "; q quits");
      return screen_->Show({{.parts = {{ForScreen(text, size.columns)}}}});
    }
    screen_->Show(TopScreen(shown_, state_, frozen_.has_value() ? *frozen_ : history_,
                            {.time_of_day = taken_->time_of_day,
                             .recorder = recorder_,
                             .columns = size.columns,
                             .lines = size.lines,
                             .has_blocks = screen_->has_blocks()}));
  }

  const TopFlags& flags_;
  const IdlePatterns idle_;
  const std::string recorder_;
  Screen* screen_;
  TopState state_;
  TopHistory history_;
  std::optional<TopHistory> frozen_;  // during a pause
  std::optional<Refresh> newest_;     // that came during a pause
  std::optional<Refresh> taken_;      // of which `shown_` is made
  TopTable shown_;
};

// Until it has been shown as often as was asked for, or the user has had enough.
absl::Status Refresh(const TopFlags& flags, std::chrono::nanoseconds interval, TopSource& source, View& view) {
  Clock::time_point next = Clock::now() + interval;
  for (uint64_t shown = 0; flags.count == 0 || shown < flags.count;) {
    if (!view.Wait(next)) return absl::OkStatus();
    // One that comes late is followed by a shorter one, but not by one of next to no time.
    next = std::max(next + interval, Clock::now() + interval / 2);
    absl::StatusOr<NamedProfile> profile = source.Next();
    if (absl::IsResourceExhausted(profile.status())) continue;  // the service is busy: the next one is of a longer time
    if (!profile.ok()) return profile.status();
    if (absl::Status status = view.Show(*std::move(profile)); !status.ok()) return status;
    ++shown;
  }
  return view.Finish();
}

ExitCode RunTop(const TopFlags& flags) {
  const absl::StatusOr<std::chrono::nanoseconds> interval = IntervalOf(flags);
  if (!interval.ok()) return Fail(interval.status());
  for (const int pid : flags.selection.pids) {
    if (absl::Status status = CheckProcess(pid); !status.ok()) return Fail(status);
  }
  absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.idle.patterns);
  if (!idle.ok()) return Fail(idle.status());
  std::optional<Screen> screen;
  if (!flags.as_json && Screen::IsPossible()) screen.emplace();
  const absl::StatusOr<std::unique_ptr<TopSource>> source = TopSource::Open(flags.socket, flags.selection);
  if (!source.ok()) return Fail(source.status());
  if (screen.has_value()) screen->Enter();
  View view(flags, *std::move(idle), (*source)->name(), screen.has_value() ? &*screen : nullptr);
  const absl::Status status = Refresh(flags, *interval, **source, view);
  screen.reset();  // what went wrong is said where it stays
  return status.ok() ? kExitOk : Fail(status);
}

}  // namespace

Verb TopVerb() {
  auto flags = std::make_shared<TopFlags>();
  Verb verb = {.name = "top", .help = "Show live which processes and stacks are off the CPU longest"};
  verb.flags = {
      {"--interval",
       &flags->interval,
       "The time from one refresh to the next, from 100ms to 1h",
       "TIME",
       {.shows_default = true}},
      {"-n,--count",
       &flags->count,
       "Refresh this many times, then end; by default until q or Ctrl-C",
       "COUNT",
       {.min = 1}},
      {"-p,--pid", &flags->selection.pids, "Only this process", "PID"},
      {"--comm", &flags->selection.comms, "Only threads whose name matches; * and ? are wildcards", "GLOB"},
      {"--value",
       &flags->value,
       "What to sort by: off_cpu, blocked, runnable or count",
       "VALUE",
       {.one_of = RowValueNames(false), .shows_default = true}},
      {"--json", &flags->as_json, "Print one JSON object on a line for each refresh, for scripts"},
  };
  AddIdleFlags("Show waits for work, or only count them (the default)", &flags->idle, &verb.flags);
  verb.flags.push_back(SocketFlag(&flags->socket));
  verb.footer =
      "Times are per second of the interval, summed over all threads of a program. Processes of one program are one "
      "line, and so are threads whose names differ only in a number; --json keeps them apart. A stack is shown from "
      "the innermost function of the program itself outwards, then the kernel function in which it waited. If the "
      "service (offcpud) runs, this asks it: root and members of its group may. Otherwise this records by itself, and "
      "needs root. If the output is not a terminal, each refresh is a block of text with the first 20 of each.\n"
      "\n"
      "Keys: arrows, j, k, Page Up, Page Down, Home and End select a process: only its stacks are shown. Tab or Enter "
      "go to the stacks, and select one: it is shown whole. Esc goes back. o, b, r and c sort by the time off the CPU, "
      "blocked or runnable, or by the number of waits. / filters by a part of the name of a process, thread or "
      "function, or of a cause. Space or p pauses. ? shows the keys. q quits.\n"
      "\n"
      "Examples:\n"
      "  offcpu top                                     the whole host, every 2 seconds; q quits\n"
      "  offcpu top --value runnable --interval 1s      who waits for a CPU\n"
      "  offcpu top -p 1234 -n 1 --interval 10s         one process, once\n"
      "  offcpu top --json | jq '.processes[0].name'    for scripts\n"
      "\n"
      "Exit status: 0 ended, 1 failed, 2 wrong usage or no such process, 3 missing capability or kernel support.";
  verb.run = [flags] { return RunTop(*flags); };
  return verb;
}

}  // namespace offcpu
