// What users ask of what was recorded, by time and by place: of the service's windows and of files alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "process/control_groups.h"
#include "tests/harness/pod_of_kubernetes.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kBadUsage = 2;
constexpr char kTime[] = "20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}";

// What stands behind each stack.
std::map<std::string, std::string> Folded(const std::string& path, int columns = 1) {
  std::map<std::string, std::string> stacks;
  std::istringstream lines(ReadFile(path));
  for (std::string line; std::getline(lines, line);) {
    size_t space = std::string::npos;
    for (int i = 0; i < columns; ++i) space = line.rfind(' ', space - 1);
    stacks[line.substr(0, space)] = line.substr(space + 1);
  }
  return stacks;
}

uint64_t Sum(const std::string& path, const std::string& function = "") {
  uint64_t ns = 0;
  for (const auto& [stack, value] : Folded(path)) {
    if (stack.find(function) != std::string::npos) ns += std::stoull(value);
  }
  return ns;
}

// Now, as the flags take it.
std::string Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E9SZ", absl::FromUnixNanos(ns), absl::UTCTimeZone());
}

class Asked : public ServiceTest {
 protected:
  // Two files of one program, one after the other; returns a time between them.
  std::string RecordTwice() {
    target_ = StartedTarget({"waits", "--seconds", "60"});
    EXPECT_NE(target_, nullptr);
    const std::string pid = std::to_string(target_->pid());
    EXPECT_EQ(Run({"record", "--sample", "0", "-p", pid, "-o", first_, "0.4"}), kOk) << errors_;
    const std::string between = Now();
    EXPECT_EQ(Run({"record", "--sample", "0", "-p", pid, "-o", second_, "0.8"}), kOk) << errors_;
    return between;
  }
  // All of what the words ask for, as a folded file.
  std::string Report(std::vector<std::string> words) {
    const std::string path = Path("report" + std::to_string(++reports_) + ".folded");
    words.insert(words.begin(), "report");
    words.insert(words.end(), {"--idle=show", "--time-unit", "ns", "-o", path});
    EXPECT_EQ(Run(words), kOk) << errors_;
    return path;
  }

  // Likewise of the service's windows.
  std::string Dump(std::vector<std::string> words) {
    const std::string path = Path("dump" + std::to_string(++reports_) + ".folded");
    words.insert(words.begin(), "dump");
    words.insert(words.end(), {"--idle=show", "--time-unit", "ns", "-o", path});
    EXPECT_EQ(Ask(words), kOk) << errors_;
    return path;
  }

  const std::string first_ = Path("first.pb.gz");
  const std::string second_ = Path("second.pb.gz");
  std::unique_ptr<Target> target_;
  int reports_ = 0;
};

TEST_F(Asked, FiveFilesAddUp) {
  RecordTwice();
  std::vector<std::string> files = {first_, second_};
  for (const char* name : {"third.pb.gz", "fourth.pb.gz", "fifth.pb.gz"}) {
    files.push_back(Path(name));
    ASSERT_EQ(Run({"record", "--sample", "0", "-p", std::to_string(target_->pid()), "-o", files.back(), "0.2"}), kOk)
        << errors_;
  }
  const std::string all = Report(files);
  EXPECT_THAT(errors_, IsEmpty()) << "nobody asked for a time";
  std::map<std::string, uint64_t> wanted;
  for (const std::string& file : files) {
    for (const auto& [stack, value] : Folded(Report({file}))) wanted[stack] += std::stoull(value);
  }
  std::map<std::string, uint64_t> got;
  for (const auto& [stack, value] : Folded(all)) got[stack] = std::stoull(value);
  EXPECT_EQ(got, wanted);
  EXPECT_THAT(got, Not(IsEmpty()));
  files.insert(files.begin(), "report");
  files.insert(files.end(), {"--by", "pid"});
  ASSERT_EQ(Run(files), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("  PID\n100.0 %")) << "one process";
}

// What is in such a page, page_test tells.
TEST_F(Asked, FilesAndFiltersAsAPage) {
  RecordTwice();
  ASSERT_EQ(Run({"report", first_, second_, "--focus", "^wait_in_nano", "-o", Path("a.html")}), kOk) << errors_;
  EXPECT_THAT(ReadFile(Path("a.html")), HasSubstr("<!DOCTYPE html>\n"));
  EXPECT_THAT(ReadFile(Path("a.html")), HasSubstr("id=\"profile\">H4sI")) << "gzip, in base64";
}

TEST_F(Asked, FilesOfAnotherTimeAreLeftOut) {
  const std::string between = RecordTwice();
  const std::string later = Report({first_, second_, "--since", between});
  EXPECT_THAT(errors_, ContainsRegex("offcpu: left out: " + first_ + ", from " + kTime + " to " + kTime + "\n" +
                                     "offcpu: taken whole: " + second_ + ", from " + kTime + " to " + kTime + "\n"));
  EXPECT_EQ(ReadFile(later), ReadFile(Report({second_})));
  EXPECT_EQ(ReadFile(Report({first_, second_, "--until", between})), ReadFile(Report({first_})));
  EXPECT_EQ(Sum(Report({first_, second_, "--since", "1h"})), Sum(Report({first_, second_})));
  EXPECT_EQ(Run({"report", first_, second_, "--until", "2001-01-01"}), kBadUsage);
  EXPECT_THAT(errors_, HasSubstr("offcpu: no file covers this time (--since, --until)\n"));
}

TEST_F(Asked, FilesByFunctions) {
  RecordTwice();
  const std::string all = Report({first_});
  const std::string focused = Report({first_, "--focus", "^wait_in_nano"});
  EXPECT_EQ(Sum(focused), Sum(all, ";wait_in_nano"));
  EXPECT_GT(Sum(focused), 0u);
  const std::string ignored = Report({first_, "--ignore", "^wait_in_nano"});
  EXPECT_EQ(Sum(focused) + Sum(ignored), Sum(all));
  EXPECT_EQ(Sum(Report({first_, "--focus", "^wait_in_nano", "--focus", "^wait_in_poll"})),
            Sum(all, ";wait_in_nano") + Sum(all, ";wait_in_poll"));
}

TEST_F(Asked, FilesByPlace) {
  RecordTwice();
  const std::string pid = std::to_string(target_->pid());
  const uint64_t all = Sum(Report({first_}));
  EXPECT_EQ(Sum(Report({first_, "-p", pid})), all);
  EXPECT_EQ(Sum(Report({first_, "--comm", "w_nano*"})), Sum(Report({first_, "--only", "comm=w_nano*"})));
  EXPECT_EQ(Sum(Report({first_, "--cause", "lock", "-p", pid})), Sum(Report({first_, "--only", "cause=lock"})));
  EXPECT_EQ(Sum(Report({first_, "--cgroup", "/"})), Sum(Report({first_, "--only", "cgroup=/*"})));
  EXPECT_EQ(Sum(Report({first_, "-p", "1"})), 0u);
  EXPECT_THAT(errors_, HasSubstr("offcpu: the filters leave nothing of the recording\n"));
}

TEST_F(Asked, DiffComparesWhatWasInASecond) {
  RecordTwice();
  ASSERT_EQ(Run({"diff", first_, second_, "--idle=show"}), kOk) << errors_;
  EXPECT_THAT(output_, ContainsRegex("^before   .* a second \\(off_cpu\\), recorded for [0-9.]+ m?s\n"
                                     "after    .* a second, recorded for [0-9.]+ m?s\n"
                                     "change   [+-].* a second, [+-][0-9.]+ %\n"));
  EXPECT_THAT(output_, HasSubstr("  waits\n"));
  ASSERT_EQ(
      Run({"diff", first_, second_, "--idle=show", "--time-unit=ns", "-o", Path("d.folded"), "-o", Path("d.json")}),
      kOk)
      << errors_;
  const std::map<std::string, std::string> before = Folded(Report({first_}));
  const std::map<std::string, std::string> after = Folded(Report({second_}));
  const std::map<std::string, std::string> both = Folded(Path("d.folded"), 2);
  EXPECT_THAT(both, Not(IsEmpty()));
  const auto at = [](const std::map<std::string, std::string>& side, const std::string& stack) {
    return side.contains(stack) ? side.at(stack) : "0";
  };
  for (const auto& [stack, values] : both) {
    EXPECT_EQ(values.substr(values.find(' ') + 1), at(after, stack)) << stack;
    EXPECT_EQ(values.starts_with("0 "), at(before, stack) == "0") << stack << ", scaled";
  }
  for (const auto& [stack, value] : before) EXPECT_EQ(both.contains(stack), value != "0" || at(after, stack) != "0");
  if (RunWords({"sh", "-c", "command -v python3"}) == kOk) {
    EXPECT_EQ(RunWords({"python3", "-m", "json.tool", Path("d.json"), "/dev/null"}), kOk) << errors_;
  }
  ASSERT_EQ(Run({"diff", first_, first_, "--focus", "wait_in_nano", "--idle=show"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("change   +0 ns a second, +0.0 %\n"));
  EXPECT_THAT(output_, Not(HasSubstr("grew")));
}

TEST_F(Asked, WrongUsageIsToldInOneLine) {
  for (const auto& [words, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"report", "a.pb.gz", "--focus", "("}, "--focus: '(' is not a regular expression: "},
           {{"report", "a.pb.gz", "--cause", "locks"},
            "no cause is called 'locks' (did you mean lock?); the causes are lock, "},
           {{"report", "a.pb.gz", "--since", "noon"}, "--since: 'noon' is not a time: write how long ago (10m), "},
           {{"dump", "--ignore", "["}, "--ignore: '[' is not a regular expression: "},
           {{"dump", "--since", "2026-01-02", "--until", "2026-01-01"}, "--since must be before --until, 2026-01-01 "},
           {{"diff", "a.pb.gz"}, "AFTER is required"},
           {{"diff", "a.pb.gz", "b.pb.gz"}, "a.pb.gz cannot be read: No such file"},
           {{"diff", "a.pb.gz", "b.pb.gz", "-o", "x.pb.gz"}, "x.pb.gz: diff writes .html, .folded, "},
           {{"diff", "a.pb.gz", "b.pb.gz", "-o", "x.otlp"}, "x.otlp: diff writes .html, .folded, "},
       }) {
    EXPECT_EQ(Run(words), kBadUsage) << part;
    EXPECT_THAT(errors_, HasSubstr(part));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_THAT(output_, IsEmpty());
  }
}

TEST_F(Asked, TheServiceByTimeAndPlace) {
  StartDaemon("[windows]\nlength = \"1s\"\n[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n");
  const std::string begin = Now();
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  const std::string focused = Dump({"--focus", "wait_in_nanosleep"});
  EXPECT_THAT(errors_, Not(HasSubstr("windows")));
  EXPECT_THAT(Folded(focused), Not(IsEmpty()));
  EXPECT_EQ(Sum(focused), Sum(focused, "wait_in_nanosleep"));
  EXPECT_EQ(Sum(Dump({"--ignore", "wait_in_nanosleep"}), "wait_in_nanosleep"), 0u);
  const std::string pid = std::to_string(target->pid());
  EXPECT_GT(Sum(Dump({"--pid", pid, "--cause", "sleep", "--comm", "w_nano*"}), "wait_in_nanosleep"), 0u);
  EXPECT_EQ(Sum(Dump({"--pid", pid, "--cause", "lock", "--comm", "w_nano*"}), "wait_in_nanosleep"), 0u);
  EXPECT_GT(Sum(Dump({"--pid", pid, "--only", "pid=" + pid.substr(0, 1) + "*"}), "wait_in"), 0u)
      << "patterns are not for the service";
  EXPECT_GT(Sum(Dump({"--since", begin}), "wait_in_nanosleep"), 0u);
  EXPECT_THAT(errors_,
              ContainsRegex(std::string("^offcpu: these are whole windows, from ") + kTime + " to " + kTime + "\n"));
  EXPECT_EQ(Sum(Dump({"--until", "2001-01-01"})), 0u);
  EXPECT_THAT(errors_, HasSubstr("offcpu: no window covers this time (--since, --until)\n"));
  ASSERT_EQ(Ask({"dump", "--until", "2001-01-01", "-o", Path("none.pb.gz")}), kOk) << errors_;
  EXPECT_EQ(Run({"report", Path("none.pb.gz")}), kOk) << errors_;
}

// Programs in containers, by what the names of their control group say: the same of windows and of a file.
TEST_F(Asked, ByContainerPodUnitAndGroup) {
  const absl::StatusOr<std::string> root = ControlGroupRoot();
  if (!root.ok()) GTEST_SKIP() << root.status();
  const PodOfKubernetes pod(*root);
  const std::unique_ptr<Target> inside = Target::Start({"waits", "--seconds", "1"});
  const std::unique_ptr<Target> outside = Target::Start({"waits", "--seconds", "1"});
  ASSERT_TRUE(inside != nullptr && outside != nullptr);
  pod.Add(inside->pid());  // before anybody looks at it: a runtime's programs begin there
  StartDaemon("[windows]\nlength = \"1s\"\n[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n");
  for (Target* target : {inside.get(), outside.get()}) target->Go();
  for (Target* target : {inside.get(), outside.get()}) target->AwaitDone();
  ASSERT_EQ(Ask({"dump", "-o", Path("all.pb.gz")}), kOk) << errors_;
  const std::string wanted = ReadFile(Dump({"-p", std::to_string(inside->pid())}));
  EXPECT_THAT(wanted, HasSubstr(";wait_in_nanosleep;"));
  EXPECT_NE(wanted, ReadFile(Dump({})));
  for (const auto& [flag, value] : std::vector<std::pair<std::string, std::string>>{
           {"--container", PodOfKubernetes::id()},
           {"--container", PodOfKubernetes::id().substr(0, 12)},
           {"--cgroup", pod.container().substr(root->size())},
           {"--cgroup", pod.slice()},
           {"--unit", PodOfKubernetes::unit()},
           {"--only", "pod=" + PodOfKubernetes::uid()},
       }) {
    EXPECT_EQ(ReadFile(Dump({flag, value})), wanted) << flag << " " << value;
    EXPECT_EQ(ReadFile(Report({Path("all.pb.gz"), flag, value})), wanted) << flag << " " << value;
  }
  EXPECT_EQ(Sum(Dump({"--container", "fedcba98"})), 0u);
}

// What a difference says of each side is what the dump of that side says.
TEST_F(Asked, TheServiceBeforeAndAfter) {
  StartDaemon("[windows]\nlength = \"1s\"\n[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  const std::string between = Now();
  const std::unique_ptr<Target> later = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(later, nullptr);
  later->Go();
  later->AwaitDone();
  std::map<std::string, std::string> sums;
  for (const auto& [side, flag] : {std::pair("before", "--until"), {"after", "--since"}}) {
    ASSERT_EQ(Ask({"dump", flag, between, "--idle=show", "--time-unit=ns", "-o", Path(side) + ".pb.gz", "-o",
                   Path(side) + ".folded"}),
              kOk)
        << errors_;
    EXPECT_GT(Sum(Path(side) + ".folded", "wait_in_nanosleep"), 0u) << side;
    sums[side] = std::to_string(Sum(Path(side) + ".folded"));
  }
  ASSERT_EQ(Run({"diff", Path("before.pb.gz"), Path("after.pb.gz"), "--idle=show", "-o", Path("d.json"), "-o",
                 Path("d.html")}),
            kOk)
      << errors_;
  for (const auto& [side, sum] : sums) {
    const std::string total = "\"" + side + "\":\\{[^}]*\"total\":" + sum + "[,}]";
    EXPECT_TRUE(std::regex_search(ReadFile(Path("d.json")), std::regex(total))) << total;
  }
  EXPECT_THAT(ReadFile(Path("d.html")), HasSubstr("<!DOCTYPE html>"));
}

}  // namespace
}  // namespace offcpu::integration
