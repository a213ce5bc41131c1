#include "tests/deep/judged.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>
#include <span>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "classify/idle.h"
#include "classify/idle_match.h"
#include "recorder/recorder.h"
#include "tests/deep/tries.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kNothingToDo(3);

bool HasStack(const StackRow& row) { return row.user->missing == NoUserStack::kNone; }
bool IsMarked(const StackRow& row) { return !row.row->idle.empty(); }

}  // namespace

std::unique_ptr<Judged> Judged::Record(const RunningProgram& server, const std::function<void()>& meanwhile) {
  RecordConfig config = Unthrottled(server.pids());
  config.follow_forks = true;
  config.per_thread = true;
  config.ledger = true;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return nullptr;
  meanwhile();
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return nullptr;
  auto judged = std::make_unique<Judged>();
  judged->recorded_ = *std::move(profile);
  judged->Name({});
  return judged;
}

void Judged::Name(SymbolizerOptions options) {
  const IdlePatterns patterns = DefaultIdlePatterns();
  options.idle = &patterns;
  recording_.profile = Symbolize(recorded_, options);
}

uint64_t Judged::OwnNs() const {
  uint64_t ns = 0;
  for (const LedgerEntry& entry : recording_.profile.ledger) ns += entry.wall_ns - entry.runnable_ns;
  return ns;
}

std::vector<std::string> Judged::Patterns() const {
  std::vector<std::string> names;
  for (const IdleSum& sum : SumIdle(recording_.profile)) names.push_back(sum.name);
  return names;
}

size_t Judged::Threads() const {
  std::set<int32_t> tids;
  for (const ProfileRow& row : recording_.profile.rows) tids.insert(row.tid);
  return tids.size();
}

void Judged::ExpectItAddsUp() const {
  const auto sum = [](std::span<const NamedRow> rows) {
    uint64_t ns = 0;
    for (const ProfileRow& row : rows) ns += row.total_ns();
    return ns;
  };
  const uint64_t hidden_ns = TotalOf(SumIdle(recording_.profile)).blocked_ns;
  EXPECT_GT(hidden_ns, 0u);
  EXPECT_EQ(hidden_ns + sum(ShownRows(recording_.profile, true).rows()), sum(recording_.profile.rows));
}

std::string Judged::ShownText(const OneWait& wanted) const {
  std::vector<StackRow> rows = recording_.Rows([&](const StackRow& row) { return !IsMarked(row) && wanted(row); });
  std::sort(rows.begin(), rows.end(),
            [](const StackRow& a, const StackRow& b) { return a.row->blocked_ns > b.row->blocked_ns; });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 10); ++i)
    absl::StrAppend(&text, rows[i].row->blocked_ns / 1000, " us ", rows[i].comm, ": ", rows[i].Text(), "\n");
  return text;
}

uint64_t Judged::WaitNs(const OneWait& wanted, bool idle) const {
  uint64_t ns = 0;
  for (const StackRow& row : recording_.Rows([&](const StackRow& row) { return IsMarked(row) == idle && wanted(row); }))
    ns += idle ? row.row->blocked_ns : row.row->total_ns();
  return ns;
}

bool Anything(const StackRow&) { return true; }
bool Nothing(const StackRow&) { return false; }

OneWait In(const std::string& function) {
  return [function](const StackRow& row) { return row.Has(function); };
}

OneWait Of(pid_t pid) {
  return [pid](const StackRow& row) { return row.process->key.pid == pid; };
}

OneWait OfIn(pid_t pid, const std::string& function) {
  return [pid, function](const StackRow& row) { return row.process->key.pid == pid && row.Has(function); };
}

// Has nearly all of its time a stack?
void MeasureWithNothingToDo(const RealProgram& program, const RunningProgram& server, const OneWait& something_else,
                            bool* has_stacks) {
  const auto judged = Judged::Record(server, [] { std::this_thread::sleep_for(kNothingToDo); });
  ASSERT_NE(judged, nullptr);
  const OneWait with_stack = [&](const StackRow& row) { return HasStack(row) && !something_else(row); };
  const auto hidden_ns = static_cast<double>(judged->HiddenNs(Anything));
  const auto shown_ns = static_cast<double>(judged->ShownNs(with_stack));
  const auto other_ns = static_cast<double>(judged->ShownNs(something_else));
  const auto unknown_ns = static_cast<double>(judged->ShownNs(Anything)) - shown_ns - other_ns;
  std::printf("%s: %zu threads, %.3f s hidden by %zu patterns, %.3f s shown, %.3f s without a stack\n",
              program.name.c_str(), judged->Threads(), hidden_ns * 1e-9, judged->Patterns().size(), shown_ns * 1e-9,
              unknown_ns * 1e-9);
  const auto all_ns = static_cast<double>(judged->OwnNs()) - other_ns;
  *has_stacks = unknown_ns <= 0.1 * all_ns;
  if (!*has_stacks) return;
  EXPECT_GE(judged->Threads(), program.threads);
  EXPECT_EQ(judged->HiddenNs(something_else), 0u);
  // All of them wait all the time, and less than a hundredth of it is in their housekeeping. A wait that ended in the
  // moment at which the recording did has no stack, and so is shown.
  EXPECT_GE(hidden_ns + unknown_ns, 0.99 * all_ns);
  EXPECT_LE(shown_ns, 0.01 * hidden_ns) << judged->ShownText(with_stack);
  judged->ExpectItAddsUp();
  // Most hosts have no debug file of the C library, and so no names of its static functions.
  judged->Name({.debug_directory = "/nonexistent"});
  EXPECT_EQ(static_cast<double>(judged->HiddenNs(Anything)), hidden_ns) << judged->ShownText(with_stack);
}

void ExpectHiddenWithNothingToDo(const RealProgram& program, const OneWait& something_else) {
  const RunningProgram server(program);
  ASSERT_TRUE(server.AwaitBlocked(program.threads)) << server.errors();
  // One long wait that ended in that moment may be more.
  EXPECT_TRUE(HoldsInOneOf(3, [&] {
    bool has_stacks = false;
    MeasureWithNothingToDo(program, server, something_else, &has_stacks);
    return has_stacks;
  }));
}

std::string RunShell(const RunningProgram& server, const std::string& script) {
  const std::unique_ptr<Program> program =
      Program::Start({"sh", "-c", absl::StrCat("cd ", server.directory(), " && ", script)});
  std::string output;
  if (program != nullptr) program->Wait(&output);
  return output;
}

}  // namespace offcpu::integration
