#include "tables/top_screen.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "labels/row_error.h"
#include "tables/columns.h"
#include "tables/error_column.h"
#include "tables/stack_line.h"
#include "tables/top_bars.h"
#include "tables/top_lines.h"

namespace offcpu {
namespace {

constexpr char kKeys[] = "? keys  arrows select  tab stacks  o b r c sort  / filter  space pause  q quit";
constexpr std::array<std::string_view, 18> kHelp = {
    "offcpu top: the keys",
    "",
    "arrows, j, k       select a program: only its stacks are shown",
    "Page Up, Page Down, Home, End",
    "Tab, Enter         go to the stacks, and select one: it is shown whole",
    "Esc                one step back",
    "o, b, r, c         sort by the time off the CPU, blocked or runnable, or by the number of waits",
    "/                  show only what has this text in a name, a function or the cause",
    "Space, p           pause and resume",
    "q, Ctrl-C          quit",
    "",
    "All figures are per second, summed over the processes and threads of a program;",
    "x16 in place of a PID is the number of processes. LONGEST is the longest wait.",
    "±: the standard error, where short waits are only sampled.",
    "WHERE begins with the program's own function; the kernel's function follows the |.",
    "blocked: until it is woken; runnable: until it has a CPU.",
    "",
    "any key: back"};
constexpr size_t kOtherLines = 8;           // the head, the state, three titles, the keys
constexpr size_t kAllFiguresColumns = 110;  // from here on there is room for all figures
constexpr size_t kMinPictureColumns = 8;    // or a bar says nothing

const char* NameOf(RowValue value) {
  switch (value) {
    case RowValue::kBlocked:
      return "blocked";
    case RowValue::kRunnable:
      return "runnable";
    case RowValue::kCount:
      return "waits";
    default:
      return "off-CPU";
  }
}

StyledLine Plain(std::string text) { return {.parts = {{std::move(text)}}}; }
StyledLine Quiet(std::string text) { return {.parts = {{std::move(text), Style::kQuiet}}}; }
StyledLine Title(std::string text) { return {.parts = {{std::move(text), Style::kTitle}}}; }

// What of `size` items is shown in `room` lines: up to the selected one.
struct Span {
  size_t first = 0;
  size_t count = 0;
};

Span SpanOf(size_t size, size_t room, size_t selected) {
  const size_t first = selected >= size || selected < room ? 0 : selected + 1 - room;
  return {.first = first, .count = std::min(size - first, room)};
}

class Drawing {
 public:
  Drawing(const TopTable& shown, const TopState& state, const TopHistory& history, const TopScreenOptions& options)
      : shown_(shown), state_(state), history_(history), options_(options), stacks_(StacksOf(shown, state)) {}

  std::vector<StyledLine> Help() {
    for (const std::string_view line : kHelp) Add(Plain(std::string(line)));
    lines_.resize(options_.lines);
    return std::move(lines_);
  }

  std::vector<StyledLine> Lines() {
    const size_t room = options_.lines - std::min(options_.lines, kOtherLines);
    const std::vector<std::string> frames = Frames();
    const size_t tables = std::max(room - room / 3, room - std::min(room, frames.size()));
    const size_t processes = ShareOfLines(tables, shown_.processes.size(), stacks_.size());
    const size_t stacks = std::min(stacks_.size(), tables - processes);
    for (std::string& line : TopHead(shown_, options_.time_of_day, options_.recorder)) Add(Plain(std::move(line)));
    Add(StateLine());
    Processes(processes);
    Stacks(stacks);
    Add(Title(StackTitle()));
    Stack(frames, room - processes - stacks);
    while (lines_.size() + 1 < options_.lines) Add({});
    Add(Quiet(kKeys));
    if (lines_.size() > options_.lines) lines_.resize(options_.lines);
    return std::move(lines_);
  }

 private:
  void Add(StyledLine line) {
    size_t room = options_.columns;
    for (StyledPart& part : line.parts) {
      part.text = Shortened(part.text, room);
      room -= ColumnsOf(part.text);
    }
    lines_.push_back(std::move(line));
  }

  StyledLine StateLine() const {
    StyledLine line = Plain(absl::StrCat("sorted by ", NameOf(state_.value)));
    if (state_.is_paused) line.parts.push_back({"  paused", Style::kTitle});
    if (state_.is_typing || !state_.filter.empty()) {
      RowSums sums;
      for (const TopStack& stack : shown_.stacks) sums.Add(stack.sums);
      line.parts.push_back({absl::StrCat("  filter /", state_.filter, state_.is_typing ? "_" : ""), Style::kTitle});
      line.parts.push_back(
          {absl::StrCat("  passed by ", WithError(rates_.Time(sums.total_ns()), sums, RowValue::kOffCpu))});
    }
    return line;
  }

  bool is_wide() const { return options_.columns >= kAllFiguresColumns; }
  // What the narrow table shows, which has one of the times.
  RowValue time() const { return IsTime(state_.value) ? state_.value : RowValue::kOffCpu; }

  // The width of one picture, where there are two.
  size_t PictureColumns(const std::string& before) const {
    const size_t used = ColumnsOf(before) + 2;
    const size_t room = (options_.columns - std::min(options_.columns, used)) / 2;
    return room < kMinPictureColumns ? 0 : std::min(room, TopHistory::kMaxRefreshes);
  }

  void Processes(size_t count) {
    const std::string figures =
        is_wide() ? RateTitles(has_errors_)
                  : absl::StrFormat("%10s%s %8s", RateTitle(time()), ErrorColumn(has_errors_, kErrorTitle),
                                    RateTitle(RowValue::kCount));
    std::string title = absl::StrFormat("%7s %-15s %s %9s", "PID", "PROCESS", figures, "LONGEST");
    if (const size_t columns = PictureColumns(title); columns > 0)
      title += absl::StrCat(" ", Cell(NameOf(state_.value), columns), " before");
    Add(Title(title));
    const auto selected = std::find_if(shown_.processes.begin(), shown_.processes.end(), [this](const TopProcess& p) {
      return state_.process.has_value() && IsSame(p, *state_.process);
    });
    const auto index = static_cast<size_t>(selected - shown_.processes.begin());
    const Span span = SpanOf(shown_.processes.size(), count, index);
    for (size_t i = span.first; i < span.first + span.count; ++i) {
      StyledLine line = ProcessLine(shown_.processes[i]);
      line.is_selected = i == index;
      Add(std::move(line));
    }
  }

  StyledLine ProcessLine(const TopProcess& process) const {
    const RowSums& sums = process.sums;
    const std::string figures =
        is_wide() ? RateColumns(sums, rates_, has_errors_)
                  : absl::StrFormat("%10s%s %8s", rates_.Value(sums, time()),
                                    ErrorColumn(has_errors_, ErrorText(sums, time())), rates_.Count(sums.count));
    const std::string text =
        absl::StrFormat("%7s %s %s %9s", PidText(process.pid, process.pids), Cell(process.name, kThreadNameColumns),
                        figures, FormatDuration(sums.max_ns));
    StyledLine line = Plain(text);
    const size_t columns = PictureColumns(text);
    if (columns == 0) return line;
    line.parts.push_back({" ", Style::kPicture});
    const uint64_t most = ValueOf(shown_.processes.front().sums, state_.value);
    for (StyledPart& part : Bar(sums, state_.value, most, columns, options_.has_blocks))
      line.parts.push_back(std::move(part));
    line.parts.push_back({" ", Style::kPicture});
    line.parts.push_back(
        {Sparkline(history_.Of(process, state_.value), columns, options_.has_blocks), Style::kPicture});
    return line;
  }

  size_t SelectedStack() const {
    const auto selected = std::find_if(stacks_.begin(), stacks_.end(), [this](size_t index) {
      return state_.stack.has_value() && IsSame(shown_.stacks[index], *state_.stack);
    });
    return static_cast<size_t>(selected - stacks_.begin());
  }

  void Stacks(size_t count) {
    Add(Title(TopStackTitle(state_.value, has_errors_)));
    const size_t selected = SelectedStack();
    const Span span = SpanOf(stacks_.size(), count, selected);
    for (size_t i = span.first; i < span.first + span.count; ++i) {
      StyledLine line =
          Plain(TopStackLine(shown_.stacks[stacks_[i]], rates_, state_.value, options_.columns, has_errors_));
      line.is_selected = i == selected;
      Add(std::move(line));
    }
  }

  // That is shown whole: the selected one, as it is now if it is there, or else the costliest.
  const TopStack* Whole() const {
    if (const size_t index = SelectedStack(); index < stacks_.size()) return &shown_.stacks[stacks_[index]];
    if (state_.stack.has_value()) return &*state_.stack;
    return stacks_.empty() ? nullptr : &shown_.stacks[stacks_.front()];
  }

  std::string StackTitle() const {
    const TopStack* stack = Whole();
    if (stack == nullptr) return "no stack";
    std::string process = absl::StrCat(stack->process, " ", PidText(stack->pid, stack->pids));
    if (stack->thread != stack->process) process = absl::StrCat(stack->thread, " (", process, ")");
    const std::string who = absl::StrCat("stack of ", process, ": ");
    if (state_.stack.has_value() && SelectedStack() == stacks_.size()) return who + "no wait in this interval";
    return absl::StrCat(who, std::string(Name(stack->kind)), ", cause ", stack->cause, ", longest ",
                        FormatDuration(stack->sums.max_ns));
  }

  // The innermost one first.
  std::vector<std::string> Frames() const {
    std::vector<std::string> frames;
    const TopStack* stack = Whole();
    if (stack == nullptr) return frames;
    if (!stack->is_kernel) frames.push_back(absl::StrCat(stack->waits_in, " [kernel]"));
    for (const std::string& frame : stack->frames)
      frames.push_back(stack->is_kernel ? absl::StrCat(frame, " [kernel]") : frame);
    return frames;
  }

  void Stack(const std::vector<std::string>& frames, size_t room) {
    const bool is_cut = frames.size() > room;
    const size_t count = is_cut ? room - std::min<size_t>(room, 1) : frames.size();
    constexpr size_t kFrameIndent = 2;
    const size_t columns = options_.columns - std::min(options_.columns, kFrameIndent);
    for (size_t i = 0; i < count; ++i)
      Add(Plain(std::string(kFrameIndent, ' ') + ShortenedInside(ShortFrameName(frames[i], kNoLimit), columns)));
    if (is_cut && room > 0) Add(Quiet(absl::StrCat("  ", frames.size() - count, " more")));
  }

  const TopTable& shown_;
  const TopState& state_;
  const TopHistory& history_;
  const TopScreenOptions& options_;
  const std::vector<size_t> stacks_;  // those shown, as indices
  const Rates rates_{shown_.duration_ns};
  const bool has_errors_ = HasErrors(shown_);
  std::vector<StyledLine> lines_;
};

}  // namespace

std::vector<StyledLine> TopScreen(const TopTable& shown, const TopState& state, const TopHistory& history,
                                  const TopScreenOptions& options) {
  Drawing drawing(shown, state, history, options);
  return state.shows_keys ? drawing.Help() : drawing.Lines();
}

}  // namespace offcpu
