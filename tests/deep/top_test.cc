// offcpu top and offcpu stacks, with a service to ask and without: times are held against those that the recorded
// program has measured, and the terminal against what it was before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "tests/deep/display.h"
#include "tests/harness/cli.h"
#include "tests/harness/terminal.h"

namespace offcpu::integration {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kUnsupported = 3;
constexpr char kEnter[] = "\033[?1049h";
// What a screen of any width has of the headings of the stacks.
constexpr char kHeading[] = "WHERE < ITS CALLERS";
constexpr char kLeave[] = "\033[?25h\033[?7h\033[?1049l";
constexpr char kStop[] = "\x1a";  // Ctrl-Z

uint64_t NumberAt(const std::string& json, const std::string& key) {
  const size_t at = json.find("\"" + key + "\":");
  return at == std::string::npos ? 0 : std::stoull(json.substr(at + key.size() + 3));
}

struct Time {
  uint64_t ns = 0;
  double variance = 0;   // where waits were sampled
  uint64_t lost_ns = 0;  // of the whole host, and said to be
};

// Where the machine is busy: waits that no row has.
uint64_t LostNs(const std::string& line) {
  uint64_t ns = 0;
  for (const std::string reason : {"queue full: intervals", "interval came after its window"}) {
    const size_t at = line.find("\"reason\":\"" + reason + "\"");
    if (at != std::string::npos) ns += NumberAt(line.substr(at), "ns");
  }
  return ns;
}

// Adds the time of the stacks that have the function, and of those that have no user stack, which may be where the
// machine is busy: the time is not lost. But the thread has waited for its start, too, which is a futex, and may wait
// when it exits.
void AddTime(const std::string& line, const std::string& function, Time& time) {
  const size_t stacks = line.find("\"stacks\":");
  const std::string begin = "{\"pid\":";
  for (size_t at = line.find(begin, stacks); at != std::string::npos;) {
    const size_t next = line.find(begin, at + 1);
    const std::string stack = line.substr(at, next - at);
    const auto has = [&stack](const std::string& part) { return stack.find(part) != std::string::npos; };
    const bool has_no_stack = has("\"[no user stack: ") && !has("\"[no user stack: exiting]\"");
    if (has("\"" + function + "\"") || (has_no_stack && !has("\"futex_"))) {
      const auto error = static_cast<double>(NumberAt(stack, "ns_error"));
      time.ns += NumberAt(stack, "blocked_ns") + NumberAt(stack, "runnable_ns");
      time.variance += error * error;
    }
    at = next;
  }
  time.lost_ns += LostNs(line);
}

class Top : public CliTest {
 protected:
  // Where no service is, unless StartService makes one.
  std::string Socket() const { return Path("control.sock"); }

  // It records all but the shortest waits as they are: times are compared.
  void StartService(const std::string& group) {
    std::ofstream(Path("offcpud.toml")) << "[record]\nsample = \"50us\"\n[control]\nsocket = \"" << Socket()
                                        << "\"\ngroup = \"" << group << "\"\n";
    service_ = Program::Start({BinDirectory() + "/offcpud", "--config", Path("offcpud.toml")}, Path("log"));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (ReadFile(Path("log")).find("recording; offcpud") == std::string::npos) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << ReadFile(Path("log"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  std::vector<std::string> TopWords(const std::vector<std::string>& flags) const {
    std::vector<std::string> words = {BinDirectory() + "/offcpu", "top", "--socket", Socket()};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }

  // A program that measures its waits, from before its run until after it: no nanosecond of them is missing in the
  // refreshes but what they say is lost, and none is there twice. Where waits are sampled, the sum is an estimate, and
  // as far off as it says: one in 16,000 is further off than four standard errors.
  void ExpectItsTimes() {
    const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
    ASSERT_NE(target, nullptr);
    const std::unique_ptr<Program> top =
        Program::Start(TopWords({"--json", "--interval", "500ms", "-n", "10", "-p", std::to_string(target->pid()),
                                 "--comm", "w_nanosleep"}),
                       Path("stderr"));
    std::string line;
    ASSERT_TRUE(top->ReadLine(&line)) << ReadFile(Path("stderr"));
    uint64_t end_ns = NumberAt(line, "start_unix_ns") + NumberAt(line, "duration_ns");
    target->Go();
    target->AwaitDone();
    Time time;
    uint64_t all_ns = 0;
    int lines = 1;
    std::string all;
    for (; top->ReadLine(&line); ++lines) {
      all += line + "\n";
      EXPECT_EQ(NumberAt(line, "start_unix_ns"), end_ns) << "there is time between two refreshes, or in both";
      all_ns += NumberAt(line, "duration_ns");
      end_ns += NumberAt(line, "duration_ns");
      AddTime(line, "wait_in_nanosleep", time);
    }
    EXPECT_EQ(lines, 10);
    EXPECT_GE(all_ns, 9 * 450'000'000ull);
    EXPECT_EQ(top->Wait(), kOk) << ReadFile(Path("stderr"));
    const Measure measured = target->Measured("w_nanosleep", "wait_in_nanosleep");
    const uint64_t lost_ns = std::min(time.lost_ns, measured.ns - std::min(measured.ns, time.ns));
    const double error_ns = std::sqrt(time.variance);
    const double chance = 4 * error_ns / static_cast<double>(measured.ns);
    EXPECT_TRUE(Within(time.ns + lost_ns, measured.ns, 0.01 + chance, target->stolen_ns()))
        << time.ns << " ns and " << lost_ns << " lost, measured " << measured.ns << ", standard error " << error_ns
        << "\n"
        << all;
    EXPECT_LT(error_ns, 0.001 * static_cast<double>(measured.ns)) << "too little is recorded";
  }

  // Two blocks with the program and a stack of it. Among all programs of a busy host, it might not be one of the first
  // 20.
  void ExpectBlocks(const std::string& recorder) {
    const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "30"});
    ASSERT_NE(target, nullptr);
    const std::string pid = std::to_string(target->pid());
    ASSERT_EQ(RunWords(TopWords({"-n", "2", "--interval", "500ms", "-p", pid})), kOk) << errors_;
    EXPECT_THAT(output_, Not(HasSubstr("\033")));
    const std::string head = "offcpu top  ";
    ASSERT_EQ(output_.find(head), 0u);
    const size_t second = output_.find(head, 1);
    ASSERT_NE(second, std::string::npos) << output_;
    for (const std::string& block : {output_.substr(0, second), output_.substr(second)}) {
      EXPECT_THAT(block, HasSubstr(" recorded by " + recorder + "\n"));
      for (const std::string& pattern :
           {"\n *" + pid + " waits +[0-9.]+ s ",
            "\n +[0-9.]+ m?s .*sleep +" + pid + " w_nanosleep +[^\n]*wait_in_nanosleep[^\n]* \\| "})
        EXPECT_TRUE(std::regex_search(block, std::regex(pattern))) << pattern << " in\n" << block;
    }
  }

  // As a user without privileges, of one group.
  int RunAsNobody(const std::vector<std::string>& words) {
    std::vector<std::string> all = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    all.insert(all.end(), words.begin(), words.end());
    return RunWords(all);
  }

  std::unique_ptr<Program> service_;
};

TEST_F(Top, RecordsByItself) { ExpectItsTimes(); }

TEST_F(Top, AsksTheServiceWhereOneRuns) {
  StartService("");
  ExpectItsTimes();
}

TEST_F(Top, BlocksOfTextWhereThereIsNoTerminal) {
  ExpectBlocks("itself");
  StartService("");
  ExpectBlocks("offcpud");
}

// Names that no other program of the host has.
TEST_F(Top, OfAllThreadsOrOfThoseOfAName) {
  const std::string pid = std::to_string(getpid());
  const auto start = [&](const std::string& name) {
    std::filesystem::create_symlink(BinDirectory() + "/targets/nappers", Path(name));
    return StartedTarget({Path(name), "--threads", "3", "--nap-ms", "5", "--seconds", "60"});
  };
  const std::unique_ptr<Target> one = start("one" + pid);
  const std::unique_ptr<Target> other = start("other" + pid);
  ASSERT_TRUE(one != nullptr && other != nullptr);
  for (const bool has_service : {false, true}) {
    if (has_service) StartService("");
    ASSERT_EQ(RunWords(TopWords({"-n", "1", "--interval", "500ms", "--json", "--comm", "?ne" + pid})), kOk) << errors_;
    EXPECT_THAT(output_, HasSubstr("\"thread\":\"one" + pid + "\""));
    EXPECT_THAT(output_, Not(HasSubstr("\"thread\":\"other")));
    EXPECT_THAT(output_, HasSubstr("\"all_processes\":1,"));
  }
}

TEST_F(Top, TheTerminalIsAsItWasHoweverItEnds) {
  for (const std::string& end : {std::string("\x03"), std::string("q"), std::string("SIGTERM")}) {
    const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({"--interval", "200ms"}));
    ASSERT_NE(terminal, nullptr);
    EXPECT_THAT(terminal->ReadUntil(kEnter), Not(HasSubstr("offcpu"))) << "nothing comes before";
    terminal->ReadUntil(kHeading);
    EXPECT_FALSE(terminal->IsAsBefore()) << "keys come one by one";
    end == "SIGTERM" ? static_cast<void>(kill(terminal->pid(), SIGTERM)) : terminal->Type(end);
    int code = -1;
    EXPECT_THAT(terminal->ReadToEnd(&code), EndsWith(kLeave));
    EXPECT_EQ(code, kOk) << end;
    EXPECT_TRUE(terminal->IsAsBefore()) << end;
  }
}

// The lines of the screen that comes next.
std::vector<std::string> NextScreen(Terminal& terminal) {
  terminal.ReadUntil("\033[H");
  const std::string screen = terminal.ReadUntil("\033[J");
  std::vector<std::string> lines;
  const std::string begin = "\033[K";
  for (size_t at = screen.find(begin); at != std::string::npos;) {
    const size_t next = screen.find(begin, at + begin.size());
    std::string line = screen.substr(at + begin.size(), next - at - begin.size());
    line.erase(std::min(line.size(), line.find("\033[J")));
    line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }), line.end());
    lines.push_back(line);
    at = next;
  }
  return lines;
}

TEST_F(Top, TheScreenIsFilled) {
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "30"});
  ASSERT_NE(target, nullptr);
  const std::unique_ptr<Terminal> terminal =
      Terminal::Start(TopWords({"--interval", "500ms", "-p", std::to_string(target->pid())}));
  ASSERT_NE(terminal, nullptr);
  terminal->ReadUntil("shown every 500ms; q quits");
  std::vector<std::string> lines = NextScreen(*terminal);
  EXPECT_EQ(lines.size(), 24u);
  terminal->Resize(10, 40);
  for (int screens = 0; screens < 5 && lines.size() > 10; ++screens) lines = NextScreen(*terminal);
  EXPECT_EQ(lines.size(), 10u);
  Display display(10, 200);  // wider than the terminal says
  terminal->ReadUntil("\033[H");
  display.Feed("\033[H" + terminal->ReadUntil("\033[J"));
  for (const std::string& line : display.Lines()) EXPECT_LE(line.size(), 40u) << line;
  EXPECT_THAT(display.Lines()[0], HasSubstr("offcpu top  "));
}

TEST_F(Top, ADumbTerminalGetsBlocksOfText) {
  const std::unique_ptr<Terminal> terminal =
      Terminal::Start({"/usr/bin/env", "TERM=dumb", BinDirectory() + "/offcpu", "top", "--socket", Socket(),
                       "--interval", "200ms", "-n", "1"});
  ASSERT_NE(terminal, nullptr);
  int code = -1;
  const std::string output = terminal->ReadToEnd(&code);
  EXPECT_EQ(code, kOk);
  EXPECT_THAT(output, HasSubstr(kHeading));
  EXPECT_THAT(output, Not(HasSubstr("\033")));
}

TEST_F(Top, AnotherSizeIsFollowedAtOnce) {
  const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({"--interval", "1h"}));
  ASSERT_NE(terminal, nullptr);
  terminal->ReadUntil("q quits");
  terminal->Resize(10, 30);
  EXPECT_THAT(NextScreen(*terminal), testing::ElementsAre("offcpu top  recorded by itself"));
}

TEST_F(Top, StoppedItGivesTheTerminalBack) {
  const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({"--interval", "200ms"}));
  ASSERT_NE(terminal, nullptr);
  terminal->ReadUntil(kHeading);
  terminal->Type(kStop);
  terminal->ReadUntil(kLeave);
  int status = 0;
  ASSERT_EQ(waitpid(terminal->pid(), &status, WUNTRACED), terminal->pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_TRUE(terminal->IsAsBefore());
  kill(terminal->pid(), SIGCONT);
  terminal->ReadUntil(kEnter);
  terminal->ReadUntil(kHeading);
  terminal->Type("q");
  int code = -1;
  EXPECT_THAT(terminal->ReadToEnd(&code), EndsWith(kLeave));
  EXPECT_TRUE(terminal->IsAsBefore());
}

TEST_F(Top, WhatACountOfRefreshesHasShownStays) {
  const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({"--interval", "200ms", "-n", "2"}));
  ASSERT_NE(terminal, nullptr);
  terminal->ReadUntil(kLeave);
  int code = -1;
  EXPECT_THAT(terminal->ReadToEnd(&code), HasSubstr(kHeading));
  EXPECT_EQ(code, kOk);
  EXPECT_TRUE(terminal->IsAsBefore());
}

TEST_F(Top, TheEndOfTheServiceIsSaidWhereItStays) {
  StartService("");
  const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({"--interval", "200ms"}));
  ASSERT_NE(terminal, nullptr);
  terminal->ReadUntil(kHeading);
  service_->Signal(SIGTERM);
  service_->Wait();
  terminal->ReadUntil(kLeave);
  int code = -1;
  EXPECT_THAT(terminal->ReadToEnd(&code), HasSubstr("offcpud"));
  EXPECT_EQ(code, kFailed);
  EXPECT_TRUE(terminal->IsAsBefore());
}

bool CatchesInterrupts(pid_t pid) {
  const std::string status = ReadFile("/proc/" + std::to_string(pid) + "/status");
  const std::string key = "SigCgt:\t";
  const size_t at = status.find(key);
  return at != std::string::npos && (std::stoull(status.substr(at + key.size()), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
}

TEST_F(Top, AServiceThatHangsHoldsNobody) {
  StartService("");
  service_->Signal(SIGSTOP);
  const std::unique_ptr<Terminal> terminal = Terminal::Start(TopWords({}));
  ASSERT_NE(terminal, nullptr);
  const auto start = std::chrono::steady_clock::now();
  while (!CatchesInterrupts(terminal->pid()))
    ASSERT_LT(std::chrono::steady_clock::now(), start + std::chrono::seconds(30));
  terminal->Type("\x03");
  int code = -1;
  EXPECT_THAT(terminal->ReadToEnd(&code), Not(HasSubstr(kEnter)));
  EXPECT_EQ(code, kOk);
  EXPECT_LT(std::chrono::steady_clock::now(), start + std::chrono::seconds(30)) << "and it would wait for a minute";
}

TEST_F(Top, WrongUsage) {
  const std::unique_ptr<Program> ended = Program::Start({"true"});
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(ended->pid()), &info, WEXITED | WNOWAIT), 0);
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--interval", "99ms"},
                                                {"--interval", "2h"},
                                                {"--interval", "fast"},
                                                {"-n", "0"},
                                                {"-p", std::to_string(ended->pid())},
                                                {"-p", "2"},  // kthreadd: no service records it here
                                                {"--value", "time"},
                                                {"1234"}}) {
    EXPECT_EQ(RunWords(TopWords(flags)), kBadUsage) << flags[0];
    EXPECT_EQ(output_, "") << flags[0];
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
    EXPECT_LT(errors_.size(), 150u) << errors_;
  }
  for (const auto& [count, why] : {std::pair("0", "must be 1 or more"),
                                   {"-1", "must be 1 or more"},
                                   {"99999999999999999999", "must be 1 or more"},
                                   {"many", "'many' is not a number"}}) {
    EXPECT_EQ(RunWords(TopWords({"-n", count})), kBadUsage) << count;
    EXPECT_EQ(errors_, "offcpu: --count: " + std::string(why) + "; see offcpu top --help\n") << count;
  }
}

TEST_F(Top, ThoseOfTheGroupNeedNoPrivileges) {
  const std::string offcpu = BinDirectory() + "/offcpu";
  if (RunAsNobody({"test", "-x", offcpu}) != kOk) GTEST_SKIP() << "others may not run " << offcpu;
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "30"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  const std::vector<std::string> stacks = {offcpu, "stacks", "--socket", Socket(), pid};
  const std::vector<std::string> top = TopWords({"-n", "1", "--interval", "200ms", "-p", pid});
  for (const std::vector<std::string>& words : {stacks, top}) {
    EXPECT_EQ(RunAsNobody(words), kUnsupported);
    EXPECT_THAT(errors_, HasSubstr("missing CAP_BPF"));
    EXPECT_THAT(errors_, HasSubstr("no offcpud answers"));
    EXPECT_EQ(std::count(errors_.begin(), errors_.end(), '\n'), 1) << errors_;
  }
  StartService("nogroup");
  for (const std::vector<std::string>& words : {stacks, top}) {
    EXPECT_EQ(RunAsNobody(words), kOk) << errors_;
    EXPECT_THAT(output_, HasSubstr(" w_nanosleep "));
  }
}

TEST_F(Top, StacksSaysWhatTheServiceRefuses) {
  StartService("");
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "30"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  ASSERT_EQ(Run({"stacks", "--socket", Socket(), "--json", pid}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"comm\":\"w_nanosleep\""));
  EXPECT_EQ(Run({"stacks", "--socket", Socket(), "--unwind", "guess", pid}), kBadUsage);
}

}  // namespace
}  // namespace offcpu::integration
