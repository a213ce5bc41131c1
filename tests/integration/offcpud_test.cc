// The service as it is run: offcpud, asked by offcpu over its control socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bytes/gzip.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"
#include "pprof/pprof_reader.h"
#include "tests/export/fake_collector.h"
#include "tests/integration/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;
constexpr int kBadServiceUsage = 64;
constexpr int kBadConfig = 78;

// Off-CPU time in a request to a collector, by the start of the window.
void AddOffCpuNs(const FakeRequest& sent, std::map<uint64_t, uint64_t>& ns_by_start) {
  const absl::StatusOr<std::string> bytes = Gunzip(sent.body, 64u << 20);
  opentelemetry::proto::collector::profiles::v1development::ExportProfilesServiceRequest request;
  EXPECT_TRUE(bytes.ok() && request.ParseFromString(*bytes)) << bytes.status();
  const auto& strings = request.dictionary().string_table();
  for (const auto& resource : request.resource_profiles()) {
    for (const auto& profile : resource.scope_profiles(0).profiles()) {
      if (strings.Get(profile.sample_type().type_strindex()) != "off_cpu") continue;
      for (const auto& sample : profile.samples())
        ns_by_start[profile.time_unix_nano()] += static_cast<uint64_t>(sample.values(0));
    }
  }
}

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

TEST_F(Daemon, ADumpHasWhatWasRecordedUpToNow) {
  StartDaemon("");
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(Ask({"dump", "-o", Path("a.pb.gz")}), kOk) << errors_;
    ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
    EXPECT_THAT(output_, HasSubstr("\"windows_ended\":0")) << "windows are as long as they were, whoever looks";
  }
  ASSERT_EQ(Run({"report", Path("a.pb.gz")}), kOk) << errors_;
  ASSERT_EQ(Ask({"dump", "--since", "1m"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("recorded "));
}

uint64_t JsonNumber(const std::string& json, const std::string& key) {
  std::smatch match;
  return std::regex_search(json, match, std::regex("\"" + key + "\":([0-9]+)")) ? std::stoull(match[1]) : 0;
}

TEST_F(Daemon, WindowsEndByThemselves) {
  const auto begin = std::chrono::steady_clock::now();
  StartDaemon("[windows]\nlength = \"1s\"\nkeep = 2\n");
  uint64_t ended = 0;
  for (int i = 0; i < 300 && ended < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
    ended = JsonNumber(output_, "windows_ended");
  }
  EXPECT_THAT(output_, HasSubstr("\"windows\":2,"));
  EXPECT_GE(ended, 3u);
  EXPECT_LE(ended, static_cast<uint64_t>((std::chrono::steady_clock::now() - begin) / std::chrono::seconds(1)));
}

TEST_F(Daemon, StatusIsForPeopleAndForScripts) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  ASSERT_EQ(Ask({"status"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("windows       0 of 60, 60.0 s each"));
  EXPECT_THAT(output_, ContainsRegex(" % of the host \\(budget .*1%.*\\): BPF programs "));
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  std::ofstream(Path("status.json")) << output_;
  EXPECT_EQ(RunWords({"python3", "-m", "json.tool", Path("status.json"), "/dev/null"}), kOk) << errors_;
}

TEST_F(Daemon, ReloadsAndKeepsWhatItHasIfTheFileIsBad) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  WriteConfig("[windows]\nkeep = 7\n[record]\nkernel_threads = true\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in force");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows_limit\":7,"));
  EXPECT_THAT(output_, HasSubstr("\"windows\":1,")) << "what was recorded before is kept";
  WriteConfig("[windows]\nkeep = 8\nkept = 9\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("nothing is called 'windows.kept'");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows_limit\":7,"));
}

TEST_F(Daemon, EndsWithASignalAndLeavesNothingBehind) {
  StartDaemon("");
  daemon_->Signal(SIGTERM);
  EXPECT_EQ(daemon_->Wait(), kOk) << ReadFile(Path("log"));
  EXPECT_EQ(Ask({"status"}), kFailed);
  EXPECT_THAT(errors_, HasSubstr("is the service running?"));
}

TEST_F(Daemon, AKilledOneIsReplaced) {
  StartDaemon("");
  daemon_->Signal(SIGKILL);
  daemon_->Wait();
  StartDaemon("");
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
}

TEST_F(Daemon, TwoDoNotListenAtOnePlace) {
  StartDaemon("");
  EXPECT_NE(RunWords(Words()), kOk);
  EXPECT_THAT(errors_, HasSubstr("another service listens there"));
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
}

TEST_F(Daemon, NeverShowsItself) {
  StartDaemon("[record]\nsample = \"0\"\nidle = true\n");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  EXPECT_NE(ReadFile(Path("a.folded")), "");
  const auto dump_of = [&](pid_t pid) {
    EXPECT_EQ(Ask({"dump", "-p", std::to_string(pid), "-o", Path("one.folded")}), kOk) << errors_;
    return ReadFile(Path("one.folded"));
  };
  EXPECT_NE(dump_of(getpid()), "") << "who waits for the answers";
  EXPECT_EQ(dump_of(daemon_->pid()), "");
}

// What waits for work on this host is for its configuration to say, and for whoever asks as long as they say nothing.
TEST_F(Daemon, HasPatternsOfItsOwn) {
  const std::string patterns = Path("mine.conf");
  const std::string section = "[record]\nsample = \"0\"\n[idle]\npatterns = [\"" + patterns + "\"]\n";
  const auto write = [&](const std::string& function) {
    std::ofstream(patterns) << "[mine: nanosleep]\nsyscall = nanosleep | clock_nanosleep\nstack = " << function
                            << "; nanosleep; ...\n";
  };
  write("wait_in_nanosleep");
  StartDaemon(section);
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  const std::string pid = std::to_string(target->pid());
  const auto dump = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"dump", "-p", pid, "--value=blocked", "-o", Path("a.folded")};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(Ask(words), kOk) << errors_;
    return ReadFile(Path("a.folded"));
  };
  for (int i = 0; i < 200 && dump({"--idle=show"}).find("wait_in_nanosleep") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(dump({}), Not(HasSubstr("wait_in_nanosleep")));
  EXPECT_THAT(dump({}), HasSubstr("wait_in_poll"));
  std::ofstream(Path("none.conf")) << "";
  EXPECT_THAT(dump({"--idle-patterns", Path("none.conf")}), HasSubstr("wait_in_nanosleep"));

  write("wait_elsewhere");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in force", 1);
  EXPECT_THAT(dump({}), HasSubstr("wait_in_nanosleep"));
  write("wait_in_nanosleep");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in force", 2);

  std::ofstream(patterns) << "[mine]\nstack = *\n";
  EXPECT_EQ(RunWords(Words({"--check-config"})), kBadConfig);
  EXPECT_THAT(errors_, HasSubstr("mine.conf:2: '*' stands for any function: name it\n"));
  daemon_->Signal(SIGHUP);
  AwaitLog("the old configuration stays in force: " + patterns + ":2: ", 1);
  EXPECT_THAT(dump({}), Not(HasSubstr("wait_in_nanosleep"))) << "what was right is in force";
}

TEST_F(Daemon, ChecksAndPrintsItsConfiguration) {
  WriteConfig("[windows]\nkeep = 7\n");
  EXPECT_EQ(RunWords(Words({"--check-config"})), kOk) << errors_;
  ASSERT_EQ(RunWords(Words({"--print-config"})), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("keep = 7\n"));
  EXPECT_THAT(output_, HasSubstr("length = \"1m\"\n"));
  WriteConfig("[windows]\nkeep = 0\n");
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--check-config"}, {"--print-config"}, {}}) {
    EXPECT_EQ(RunWords(Words(flags)), kBadConfig);
    EXPECT_THAT(errors_, HasSubstr("offcpud.toml:5:8: keep is from 1 to 10000"));
  }
  EXPECT_EQ(RunWords({BinDirectory() + "/offcpud", "--no-such-flag"}), kBadServiceUsage);
  EXPECT_EQ(RunWords({BinDirectory() + "/offcpud", "--config", Path("none"), "--check-config"}), kBadConfig);
}

// As it is, and with all that it proposes, over TLS for others than the pod.
TEST_F(Daemon, TheConfigurationForKubernetesIsRight) {
  const std::string shipped = ReadFile(OFFCPU_SOURCE_DIR "/packaging/container/kubernetes/offcpud.toml");
  const std::string all = std::regex_replace(std::regex_replace(shipped, std::regex("\nlisten = [^\n]*"), ""),
                                             std::regex("\n#([a-z_]+ = )"), "\n$1");
  EXPECT_THAT(all, HasSubstr("\nlisten = \"0.0.0.0:7071\"\ncertificate = "));
  for (const std::string& text : {shipped, all}) {
    std::ofstream(Path("offcpud.toml")) << text;
    EXPECT_EQ(RunWords(Words({"--check-config"})), kOk) << errors_;
  }
}

std::string HttpSection(int port) { return "[http]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\n"; }

TEST_F(Daemon, GoToolPprofTakesItsProfiles) {
  if (RunWords({"sh", "-c", "go tool -n pprof"}) != 0) GTEST_SKIP() << "needs `go tool pprof` (package golang-go)";
  const int port = FreePort();
  StartDaemon(HttpSection(port) + "[record]\nsample = \"0\"\n");
  AwaitLog("HTTP at");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/debug/pprof/";
  for (const std::string profile : {"offcpu?seconds=2", "offcpu", "block"}) {
    ASSERT_EQ(RunWords({"env", "HOME=" + directory_.path(), "PPROF_TMPDIR=" + directory_.path(), "go", "tool", "pprof",
                        "-top", "-cum", "-nodefraction=0", "-nodecount=1000000", url + profile}),
              kOk)
        << errors_;
    EXPECT_THAT(output_, HasSubstr("Type: off_cpu")) << profile;
    EXPECT_THAT(output_, HasSubstr("wait_in_nanosleep")) << profile;
  }
}

TEST_F(Daemon, PromtoolFindsNothingWrongWithItsMetrics) {
  if (RunWords({"sh", "-c", "command -v promtool"}) != 0) GTEST_SKIP() << "needs promtool (package prometheus)";
  const int port = FreePort();
  StartDaemon(HttpSection(port));
  AwaitLog("HTTP at");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  const httplib::Result metrics = httplib::Client("127.0.0.1", port).Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_THAT(metrics->body, HasSubstr("offcpud_off_cpu_seconds_total{"));
  EXPECT_THAT(metrics->body, HasSubstr("offcpud_on_cpu_seconds_total "));
  std::ofstream(Path("metrics")) << metrics->body;
  EXPECT_EQ(RunWords({"sh", "-c", "promtool check metrics <" + Path("metrics") + " 2>&1"}), kOk) << output_;
  EXPECT_EQ(output_, "");
}

TEST_F(Daemon, APortInUseIsToldAndTheRestGoesOn) {
  const int port = FreePort();
  httplib::Server other;
  ASSERT_TRUE(other.bind_to_port("127.0.0.1", port));
  StartDaemon(HttpSection(port));
  AwaitLog("the port is in use");  // it opens the port once it records
  EXPECT_EQ(CountInLog("the port is in use (http.listen)"), 1u) << ReadFile(Path("log"));
  EXPECT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
}

TEST_F(Daemon, AFullDiskIsTheClientsTrouble) {
  StartDaemon("");
  const std::string mount = "mount -t tmpfs -o size=4k none \"$1\" && \"$2\" dump -o \"$1/a.json\" --socket \"$3\"";
  std::filesystem::create_directory(Path("full"));
  EXPECT_EQ(
      RunWords({"unshare", "--mount", "sh", "-c", mount, "sh", Path("full"), BinDirectory() + "/offcpu", Socket()}),
      kFailed);
  EXPECT_THAT(errors_, HasSubstr("No space left on device"));
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
}

// Of a line of /proc/PID/status.
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
    AwaitLog("the new configuration is in force", static_cast<size_t>(i));
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
    EXPECT_THAT(ReadFile(Path("client" + std::to_string(i))), MatchesRegex("(offcpu: whole windows, from [^\n]*\n)*"));
  }
  // One after another without a gap; where another recorder begins, a second is in two of them at most.
  EXPECT_GE(recorded_ns + 2'000'000'000, held_ns) << "the running window is not in it";
  EXPECT_LE(recorded_ns, held_ns + 5'000'000'000);
}

TEST_F(Daemon, ExportsItsWindowsAndTheLastOneToo) {
  const int port = FakeCollector().port();  // which is down now
  const std::string exported = "[windows]\nlength = \"1s\"\n[export]\nspool = \"" + Path("spool") +
                               "\"\nendpoint = \"http://127.0.0.1:" + std::to_string(port) + "\"\n";
  StartDaemon(exported + "[files]\ndirectory = \"" + Path("files") + "\"\n");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  AwaitLog("does not take windows, which are kept");
  const auto windows_ended = [this] {
    EXPECT_EQ(Ask({"status", "--json"}), kOk) << errors_;
    return JsonNumber(output_, "windows_ended");
  };
  for (int i = 0; i < 1000 && windows_ended() < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_EQ(Ask({"status"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("export        "));
  daemon_->Signal(SIGTERM);
  ASSERT_EQ(daemon_->Wait(), kOk) << ReadFile(Path("log"));

  // The same windows as files say what was to be sent.
  std::map<uint64_t, uint64_t> written;
  for (const auto& file : std::filesystem::directory_iterator(Path("files"))) {
    if (file.path().filename().string().starts_with(".")) continue;  // the lock
    const absl::StatusOr<NamedProfile> window = ReadPprofFile(file.path());
    ASSERT_TRUE(window.ok()) << window.status();
    uint64_t& ns = written[window->start_unix_ns];
    for (const ProfileRow& row : window->rows) ns += row.total_ns();
  }
  EXPECT_GE(written.size(), 3u) << "two that had ended, and what was left at the end";

  // Whoever starts next sends what the last one left, in order.
  FakeCollector collector(port);
  StartDaemon(exported);
  std::map<uint64_t, uint64_t> sent;
  std::erase_if(written, [](const auto& window) { return window.second == 0; });  // of which there is nothing to send
  for (const FakeRequest& request : collector.AwaitTaken(written.size())) AddOffCpuNs(request, sent);
  for (const auto& [start, ns] : written) EXPECT_EQ(sent[start], ns) << start;
}

TEST_F(Daemon, WrongUsageOfTheVerbsIsToldBeforeTheServiceIsAsked) {
  EXPECT_EQ(Ask({"dump", "--since", "5"}), kBadUsage);
  EXPECT_EQ(Ask({"dump", "--since", "1m", "--until", "2m"}), kBadUsage);
  EXPECT_EQ(Ask({"dump", "-o", "a.xyz"}), kBadUsage);
}

}  // namespace
}  // namespace offcpu::integration
