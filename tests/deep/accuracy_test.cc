// The profile of a program that forks all the time, recorded as users record it, from a moment of its run to another:
// each function's time off the CPU is what the program clocks itself, and each thread's what the kernel counts.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/harness/cli.h"
#include "tests/harness/load.h"
#include "tests/html/json_value.h"

namespace offcpu::integration {
namespace {

struct Thread {
  const char* name;
  const char* function;
};

constexpr std::array<Thread, 11> kThreads = {{{"c_nanosleep", "clocked_nanosleep"},
                                              {"c_futex", "clocked_futex"},
                                              {"c_poll", "clocked_poll"},
                                              {"c_epoll", "clocked_epoll"},
                                              {"c_select", "clocked_select"},
                                              {"c_sigwait", "clocked_sigwait"},
                                              {"c_condvar", "clocked_condvar"},
                                              {"c_semaphore", "clocked_semaphore"},
                                              {"c_until", "clocked_until"},
                                              {"c_fork", "clocked_fork"},
                                              {"c_handler", "clocked_handler"}}};

// By CLOCK_MONOTONIC, of which a recording tells the time of day.
struct Span {
  double begin_ns = 0;
  double end_ns = 0;

  double length_ns() const { return end_ns - begin_ns; }
};

// What a recording tells of a thread, in all and below its function.
struct Told {
  double ns = 0;
  double variance = 0;

  void Add(const JsonValue& row) {
    const auto number = [&row](const char* name) {
      const auto found = row.fields.find(name);
      return found == row.fields.end() ? 0.0 : static_cast<double>(found->second.number());
    };
    ns += number("blocked_ns") + number("runnable_ns");
    variance += number("ns_error") * number("ns_error");
  }
};

struct Account {
  Told told;
  double wanted_ns = 0;
};

// What each thread has clocked off the CPU within the recording: of each wait the part that lies there, without its
// time on the CPU. That is at the two ends of the wait, and so hardly ever in what the recording cuts off.
std::map<std::string, double> ClockedNs(const Target& target, const Span& recorded) {
  std::map<std::string, double> clocked;
  for (const std::string& line : target.Lines("wait")) {
    std::istringstream words(line);
    std::string thread;
    Span wait;
    double cpu_ns = 0;
    words >> thread >> wait.begin_ns >> wait.end_ns >> cpu_ns;
    const double within_ns = std::min(wait.end_ns, recorded.end_ns) - std::max(wait.begin_ns, recorded.begin_ns);
    if (within_ns > 0) clocked[thread] += std::max(0.0, within_ns - cpu_ns);
  }
  return clocked;
}

// Reads what the kernel counts of the threads of a program, again and again, by a thread of its own: how much a thread
// runs changes when a recording begins and when it ends.
class OnCpuTimes {
 public:
  explicit OnCpuTimes(pid_t pid) : files_(OpenSchedStats({pid})), readings_(files_.size()) {
    reader_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        Read();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    });
  }

  // The time of each thread on a CPU, by their names: last, for threads have not got them at first.
  std::map<std::string, double> Stop(const Span& span) {
    reader_.request_stop();
    reader_.join();
    std::map<std::string, double> times;
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::string pid = std::to_string(files_[i].pid());
      std::ifstream comm("/proc/" + pid + "/task/" + std::to_string(files_[i].tid()) + "/comm");
      std::string name;
      std::getline(comm, name);
      times[name] = At(readings_[i], span.end_ns) - At(readings_[i], span.begin_ns);
    }
    return times;
  }

 private:
  struct Reading {
    double at_ns = 0;  // by CLOCK_MONOTONIC
    double cpu_ns = 0;
  };

  void Read() {
    for (size_t i = 0; i < files_.size(); ++i) {
      const std::optional<SchedStat> stat = files_[i].Read();
      if (stat.has_value()) readings_[i].push_back({ClockNs(CLOCK_MONOTONIC), static_cast<double>(stat->cpu_ns)});
    }
  }

  // Between two readings it is taken to be even.
  static double At(const std::vector<Reading>& readings, double moment_ns) {
    const auto after = std::lower_bound(readings.begin(), readings.end(), moment_ns,
                                        [](const Reading& one, double at_ns) { return one.at_ns < at_ns; });
    EXPECT_TRUE(after != readings.begin() && after != readings.end()) << "there are no readings around it";
    if (after == readings.begin() || after == readings.end()) return 0;
    const Reading& before = *std::prev(after);
    return before.cpu_ns + (after->cpu_ns - before.cpu_ns) * (moment_ns - before.at_ns) / (after->at_ns - before.at_ns);
  }

  const std::vector<SchedStatFile> files_;
  std::vector<std::vector<Reading>> readings_;  // of each file
  std::jthread reader_;
};

class Accuracy : public CliTest {
 protected:
  // Records five seconds in the middle of a run.
  void RecordFiveSeconds(const std::vector<std::string>& options) {
    const std::unique_ptr<Target> target = Target::Start({"clocked", "--seconds", "60", "--log"});
    ASSERT_NE(target, nullptr);
    target->Go();
    OnCpuTimes on_cpu(target->pid());
    const double stolen_ns = static_cast<double>(StolenNs());
    const double unix_ns = ClockNs(CLOCK_REALTIME) - ClockNs(CLOCK_MONOTONIC);
    std::vector<std::string> words = {"record", "-p", std::to_string(target->pid()), "-o", Path("out.json")};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("5");
    ASSERT_EQ(Run(words), 0) << errors_;
    stolen_ns_ = static_cast<double>(StolenNs()) - stolen_ns;
    const std::string json = ReadFile(Path("out.json"));
    const JsonValue profile = JsonReader::Read(std::string_view(json).substr(0, json.rfind('}') + 1));
    const auto field = [&](const char* name) { return static_cast<double>(profile.fields.at(name).number()); };
    const double begin_ns = field("start_unix_ns") - unix_ns;
    const Span recorded = {begin_ns, begin_ns + field("duration_ns")};
    AddRows(profile, target->pid());
    std::map<std::string, double> on_cpu_ns = on_cpu.Stop(recorded);
    kill(target->pid(), SIGTERM);
    target->AwaitDone();
    std::map<std::string, double> clocked = ClockedNs(*target, recorded);
    for (const Thread& thread : kThreads) {
      functions_[thread.name].wanted_ns = clocked[thread.name];
      ASSERT_EQ(on_cpu_ns.count(thread.name), 1u) << thread.name;
      threads_[thread.name].wanted_ns = recorded.length_ns() - on_cpu_ns[thread.name];
    }
  }

  void AddRows(const JsonValue& profile, pid_t pid) {
    for (const JsonValue& row : profile.fields.at("stacks").list) {
      if (row.fields.at("pid").text != std::to_string(pid)) continue;  // a child, before it has ended
      const std::string& name = row.fields.at("comm").text;
      const auto* thread =
          std::find_if(kThreads.begin(), kThreads.end(), [&](const Thread& one) { return name == one.name; });
      if (thread == kThreads.end()) continue;  // the first one, which waits for the others
      threads_[name].told.Add(row);
      const auto user = row.fields.find("user");
      if (user == row.fields.end()) continue;
      const std::vector<JsonValue>& frames = user->second.list;
      if (std::any_of(frames.begin(), frames.end(),
                      [&](const JsonValue& frame) { return frame.fields.at("name").text == thread->function; })) {
        functions_[name].told.Add(row);
      }
    }
  }

  // Where every wait was recorded, within one percent, which is what may be between the clocks: readings of them, and
  // interrupts, are some microseconds of a wait of 2 ms. Where what was recorded is a sample, three standard errors, if
  // that is more. One of eleven right estimates that are normal is beyond that once in 34 runs, but two only once in
  // 2600, and one beyond 4.6 once in 20,000.
  void ExpectAgreement(const std::map<std::string, Account>& accounts, const char* what) const {
    int beyond = 0;
    for (const auto& [name, account] : accounts) {
      const double deviation_ns = account.told.ns - account.wanted_ns;
      const double error_ns = std::sqrt(account.told.variance);
      std::printf("%-12s %s: %.3f ms of %.3f ms, %+.3f %%, standard error %.3f %%\n", name.c_str(), what,
                  account.told.ns / 1e6, account.wanted_ns / 1e6, 100 * deviation_ns / account.wanted_ns,
                  100 * error_ns / account.wanted_ns);
      ASSERT_GT(account.wanted_ns, 2.5e9) << name << " waits for less than half of the time: no test";
      const double clocks_ns = 0.01 * account.wanted_ns;
      // What was taken from a thread on its CPU is neither CPU time nor time off the CPU for a recording, but is for
      // the thread's clock.
      const auto is_beyond = [&](double errors) {
        const double allowed_ns = std::max(clocks_ns, errors * error_ns);
        return deviation_ns > allowed_ns || deviation_ns < -allowed_ns - stolen_ns_;
      };
      if (is_beyond(3)) ++beyond;
      EXPECT_FALSE(is_beyond(error_ns > 0 ? 4.6 : 0)) << name << "\n" << errors_;
    }
    EXPECT_LE(beyond, 1) << errors_;
  }

  void ExpectAgreement() const {
    ASSERT_EQ(functions_.size(), kThreads.size()) << errors_;
    std::printf("stolen: %.3f ms\n", stolen_ns_ / 1e6);
    ExpectAgreement(functions_, "by its clock");
    ExpectAgreement(threads_, "by the kernel");
  }

  std::map<std::string, Account> functions_;  // by the thread's name
  std::map<std::string, Account> threads_;
  double stolen_ns_ = 0;
};

TEST_F(Accuracy, IsOnePercentWhereEveryWaitIsRecorded) {
  RecordFiveSeconds({"--sample", "0"});
  if (HasFatalFailure()) return;
  for (const auto& [name, account] : threads_) EXPECT_EQ(account.told.variance, 0) << name;
  ExpectAgreement();
}

TEST_F(Accuracy, OfWhatIsRecordedByDefaultIsAsItSays) {
  RecordFiveSeconds({});
  if (HasFatalFailure()) return;
  ExpectAgreement();
}

}  // namespace
}  // namespace offcpu::integration
