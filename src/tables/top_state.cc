#include "tables/top_state.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tables/keep_most.h"

namespace offcpu {
namespace {

using Kind = TopKey::Kind;

constexpr size_t kMaxFilterBytes = 200;
constexpr ptrdiff_t kPage = 10;
constexpr ptrdiff_t kFar = PTRDIFF_MAX / 2;

// All the text of a stack that there is to find.
std::string TextOf(const TopStack& stack) {
  std::string text = stack.pids.empty() ? absl::StrCat(stack.pid) : absl::StrJoin(stack.pids, "\n");
  const auto add = [&text](std::string_view name) { (text += '\n') += name; };
  for (const std::string_view name :
       {std::string_view(stack.process), std::string_view(stack.thread), Name(stack.kind),
        std::string_view(stack.cause), std::string_view(stack.cause_family), std::string_view(stack.waits_in)})
    add(name);
  for (const std::string& frame : stack.frames) add(frame);
  return absl::AsciiStrToLower(text);
}

std::vector<TopProcess> ProcessesOf(const std::vector<TopStack>& stacks) {
  absl::flat_hash_map<std::tuple<int32_t, std::string, std::string>, size_t> index;
  std::vector<TopProcess> processes;
  for (const TopStack& stack : stacks) {
    const bool is_program = !stack.program.empty();
    const auto [it, inserted] = index.try_emplace(
        {is_program ? 0 : stack.pid, is_program ? "" : stack.process, stack.program}, processes.size());
    if (inserted) processes.push_back({.pid = stack.pid, .name = stack.process, .sums = {}, .program = stack.program});
    processes[it->second].sums.Add(stack.sums);
    processes[it->second].pids.insert(stack.pids.begin(), stack.pids.end());
  }
  return processes;
}

template <typename T>
size_t IndexOf(const std::vector<T>& items, const std::optional<T>& item) {
  if (!item.has_value()) return items.size();
  return static_cast<size_t>(
      std::find_if(items.begin(), items.end(), [&](const T& other) { return IsSame(other, *item); }) - items.begin());
}

// From where it is, or from before the first one.
template <typename T>
std::optional<T> Moved(const std::vector<T>& items, const std::optional<T>& from, ptrdiff_t step) {
  if (items.empty()) return from;
  const size_t index = IndexOf(items, from);
  const ptrdiff_t start = index == items.size() ? -1 : static_cast<ptrdiff_t>(index);
  return items[static_cast<size_t>(std::clamp<ptrdiff_t>(start + step, 0, static_cast<ptrdiff_t>(items.size()) - 1))];
}

TopAction Move(ptrdiff_t step, const TopTable& shown, TopState* state) {
  if (state->in_stacks) {
    std::vector<TopStack> stacks;
    for (const size_t index : StacksOf(shown, *state)) stacks.push_back(shown.stacks[index]);
    state->stack = Moved(stacks, state->stack, step);
  } else {
    state->process = Moved(shown.processes, state->process, step);
    state->stack.reset();
  }
  return TopAction::kDraw;
}

TopAction EnterStacks(bool enters, const TopTable& shown, TopState* state) {
  state->in_stacks = enters;
  state->stack.reset();
  return enters ? Move(1, shown, state) : TopAction::kDraw;
}

// One step back.
TopAction Escape(const TopTable& shown, TopState* state) {
  if (state->in_stacks) return EnterStacks(false, shown, state);
  if (state->process.has_value()) {
    state->process.reset();
    return TopAction::kDraw;
  }
  if (state->filter.empty()) return TopAction::kNone;
  state->filter.clear();
  return TopAction::kSelect;
}

TopAction SortBy(RowValue value, TopState* state) {
  state->value = value;
  return TopAction::kSelect;
}

TopAction PressLetter(const std::string& letter, const TopTable& shown, TopState* state) {
  if (letter == "q" || letter == "Q") return TopAction::kQuit;
  if (letter == "?") {
    state->shows_keys = true;
    return TopAction::kDraw;
  }
  if (letter == "o") return SortBy(RowValue::kOffCpu, state);
  if (letter == "b") return SortBy(RowValue::kBlocked, state);
  if (letter == "r") return SortBy(RowValue::kRunnable, state);
  if (letter == "c") return SortBy(RowValue::kCount, state);
  if (letter == "j") return Move(1, shown, state);
  if (letter == "k") return Move(-1, shown, state);
  if (letter == "/") {
    EnterStacks(false, shown, state);
    state->process.reset();  // or stacks of a process that does not pass would stay chosen
    state->is_typing = true;
    return TopAction::kDraw;
  }
  if (letter != " " && letter != "p") return TopAction::kNone;
  state->is_paused = !state->is_paused;
  return TopAction::kPause;
}

// A byte of a character of UTF-8 that is not its first.
bool IsContinued(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

TopAction Type(const TopKey& key, TopState* state) {
  switch (key.kind) {
    case Kind::kText:
      if (state->filter.size() + key.text.size() > kMaxFilterBytes) return TopAction::kNone;
      state->filter += key.text;
      return TopAction::kSelect;
    case Kind::kBackspace:
      while (!state->filter.empty() && IsContinued(state->filter.back())) state->filter.pop_back();
      if (!state->filter.empty()) state->filter.pop_back();
      return TopAction::kSelect;
    case Kind::kEscape:
      state->filter.clear();
      state->is_typing = false;
      return TopAction::kSelect;
    case Kind::kEnter:
      state->is_typing = false;
      return TopAction::kDraw;
    default:
      return TopAction::kNone;
  }
}

}  // namespace

bool IsSame(const TopProcess& a, const TopProcess& b) {
  return a.program == b.program && (!a.program.empty() || (a.pid == b.pid && a.name == b.name));
}

// Is it a stack of this process, or of a process of this program?
bool IsOf(const TopStack& stack, const TopProcess& process) {
  return IsSame(process, {.pid = stack.pid, .name = stack.process, .sums = {}, .program = stack.program});
}

bool IsSame(const TopStack& a, const TopStack& b) {
  const TopProcess process = {.pid = b.pid, .name = b.process, .sums = {}, .program = b.program};
  return IsOf(a, process) && a.thread == b.thread && a.is_kernel == b.is_kernel && a.waits_in == b.waits_in &&
         a.frames == b.frames;
}

TopTable ShownOf(const TopTable& all, const TopState& state) {
  TopTable shown = all;
  if (!state.filter.empty()) {
    const std::string filter = absl::AsciiStrToLower(state.filter);
    std::erase_if(shown.stacks, [&](const TopStack& stack) { return TextOf(stack).find(filter) == std::string::npos; });
    shown.processes = ProcessesOf(shown.stacks);
  }
  const auto amount = [&state](const auto& item) { return ValueOf(item.sums, state.value); };
  KeepMost(shown.processes, shown.processes.size(), amount);
  KeepMost(shown.stacks, shown.stacks.size(), amount);
  return shown;
}

std::vector<size_t> StacksOf(const TopTable& shown, const TopState& state) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < shown.stacks.size(); ++i) {
    const TopStack& stack = shown.stacks[i];
    if (!state.process.has_value() || IsOf(stack, *state.process)) indices.push_back(i);
  }
  return indices;
}

TopAction Press(const TopKey& key, const TopTable& shown, TopState* state) {
  if (state->is_typing) return Type(key, state);
  // Any key goes back; q has its meaning, too.
  if (state->shows_keys && key != TopKey{.text = "q"}) {
    state->shows_keys = false;
    return TopAction::kDraw;
  }
  switch (key.kind) {
    case Kind::kText:
      return PressLetter(key.text, shown, state);
    case Kind::kUp:
      return Move(-1, shown, state);
    case Kind::kDown:
      return Move(1, shown, state);
    case Kind::kPageUp:
      return Move(-kPage, shown, state);
    case Kind::kPageDown:
      return Move(kPage, shown, state);
    case Kind::kHome:
      return Move(-kFar, shown, state);
    case Kind::kEnd:
      return Move(kFar, shown, state);
    case Kind::kTab:
      return EnterStacks(!state->in_stacks, shown, state);
    case Kind::kEnter:
      return state->in_stacks ? TopAction::kNone : EnterStacks(true, shown, state);
    case Kind::kEscape:
      return Escape(shown, state);
    case Kind::kBackspace:
      return TopAction::kNone;
  }
  return TopAction::kNone;
}

}  // namespace offcpu
