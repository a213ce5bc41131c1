// The service under load: it tells of a program what that measures, and stays within its bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr int kOk = 0;

class Daemon : public ServiceTest {
 protected:
  // Nanoseconds below `function` in a folded file.
  static uint64_t Below(const std::string& file, const std::string& function) {
    std::istringstream lines(ReadFile(file));
    uint64_t sum = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(";" + function + ";") != std::string::npos) sum += std::stoull(line.substr(line.rfind(' ')));
    }
    return sum;
  }
};

uint64_t JsonNumber(const std::string& json, const std::string& key) {
  std::smatch match;
  return std::regex_search(json, match, std::regex("\"" + key + "\":([0-9]+)")) ? std::stoull(match[1]) : 0;
}

TEST_F(Daemon, ToldOfAProgramByItsStacksAndTimes) {
  // Others' waits would take a share of the stacks that are captured in a second.
  StartDaemon("[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  ASSERT_EQ(Ask({"dump", "-p", std::to_string(target->pid()), "-o", Path("a.folded"), "--time-unit", "ns"}), kOk)
      << errors_;
  const Measure measured = target->Measured("w_nanosleep", "wait_in_nanosleep");
  const uint64_t got = Below(Path("a.folded"), "wait_in_nanosleep");
  EXPECT_TRUE(Within(got, measured.ns, 0.01, target->stolen_ns())) << got << " ns, measured " << measured.ns;
  // Another process's are not there, and are if all is asked for.
  EXPECT_EQ(Ask({"dump", "--comm", "no-such-thread", "-o", Path("b.folded")}), kOk) << errors_;
  EXPECT_EQ(ReadFile(Path("b.folded")), "");
}

// The number in a line of /proc/PID/status.
uint64_t StatusKib(pid_t pid, const std::string& key) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1));
  }
  return 0;
}

// Descriptors that are no files of modules, which are open once each, as long as a window names them.
size_t OpenObjects(pid_t pid) {
  size_t objects = 0;
  std::set<std::pair<dev_t, ino_t>> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    struct stat file = {};
    if (stat(entry.path().c_str(), &file) != 0) continue;
    const bool is_file = S_ISREG(file.st_mode);
    if (!is_file || !files.emplace(file.st_dev, file.st_ino).second) ++objects;
  }
  return objects;
}

// An hour's load in half a minute: processes that come and go, many threads, clients at once, reloads of which some
// begin another recording.
TEST_F(Daemon, StaysWithinItsBoundsUnderLoad) {
  constexpr int kProcesses = 10'000;
  constexpr int kClients = 20;
  constexpr int kReloads = 50;
  constexpr uint64_t kCapKib = 256 << 10;  // the default of limits.memory
  StartDaemon("[windows]\nlength = \"1s\"\n");
  const pid_t pid = daemon_->pid();
  ASSERT_EQ(Ask({"dump", "-o", Path("first.folded")}), kOk) << errors_;  // what is opened once is open
  const size_t open_before = OpenObjects(pid);

  const std::unique_ptr<Target> threads = StartedTarget({"blocked", "--threads", "500"});
  const std::unique_ptr<Program> switches = Program::Start({"stress-ng", "--switch", "2", "--futex", "1", "-q"});
  const std::string many = "i=0; while [ $i -lt " + std::to_string(kProcesses) + " ]; do /bin/true; i=$((i+1)); done";
  const std::unique_ptr<Program> processes = Program::Start({"sh", "-c", many});
  std::atomic<bool> done{false};
  std::atomic<int> dumped{0};
  std::mutex mutex;
  std::vector<std::string> failures;  // what clients said that had no dump
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      while (!done) {
        const std::unique_ptr<Program> client =
            Program::Start({BinDirectory() + "/offcpu", "dump", "--since", "5s", "--socket", Socket(), "-o",
                            Path(std::to_string(i) + ".pb.gz")},
                           Path("client" + std::to_string(i)));
        if (client->Wait() == kOk) {
          ++dumped;
          continue;
        }
        const std::lock_guard lock(mutex);
        failures.push_back(ReadFile(Path("client" + std::to_string(i))));
      }
    });
  }
  for (int i = 1; i <= kReloads; ++i) {
    const std::string kernel_threads = i / 10 % 2 == 1 ? "true" : "false";
    WriteConfig("[windows]\nlength = \"1s\"\nkeep = " + std::to_string(60 + i) +
                "\n[record]\nkernel_threads = " + kernel_threads + "\n");
    daemon_->Signal(SIGHUP);
    AwaitLog("the new configuration is in effect", static_cast<size_t>(i));
  }
  EXPECT_EQ(processes->Wait(), 0);
  done = true;
  for (std::thread& client : clients) client.join();
  switches->Signal(SIGTERM);
  switches->Wait();

  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  const uint64_t recorded_ns = JsonNumber(output_, "recorded_ns");
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const uint64_t held_ns =
      static_cast<uint64_t>(std::chrono::nanoseconds(now).count()) - JsonNumber(output_, "oldest_unix_ns");
  std::printf("%d dumps, %zu refused; %llu MiB at most, %zu descriptors, %zu before; %.1f s recorded in %.1f s\n",
              dumped.load(), failures.size(), static_cast<unsigned long long>(StatusKib(pid, "VmHWM") >> 10),
              OpenObjects(pid), open_before, static_cast<double>(recorded_ns) / 1e9,
              static_cast<double>(held_ns) / 1e9);
  EXPECT_LE(StatusKib(pid, "VmHWM"), kCapKib);
  // A connection that has just ended, or a process that is looked at, has one for a moment.
  size_t open_after = OpenObjects(pid);
  for (int i = 0; i < 1000 && open_after > open_before; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    open_after = OpenObjects(pid);
  }
  EXPECT_LE(open_after, open_before);
  EXPECT_GT(dumped, kClients);
  EXPECT_THAT(failures, IsEmpty());
  for (int i = 0; i < kClients; ++i) {
    EXPECT_THAT(ReadFile(Path("client" + std::to_string(i))),
                MatchesRegex("(offcpu: these are whole windows, from [^\n]*\n)*"));
  }
  // One after another without a gap; where another recorder begins, a second is in two of them at most.
  EXPECT_GE(recorded_ns + 2'000'000'000, held_ns) << "the running window is not in it";
  EXPECT_LE(recorded_ns, held_ns + 5'000'000'000);
}

}  // namespace
}  // namespace offcpu::integration
