// The service as it is run: offcpud, asked by offcpu over its control socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bytes/gzip.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"
#include "os/owned_fd.h"
#include "pprof/pprof_reader.h"
#include "tests/export/fake_collector.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
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

class Daemon : public ServiceTest {};

TEST_F(Daemon, ADumpHasTheStacksOfAProgram) {
  StartDaemon("[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n");
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  const auto dump = [&] {
    EXPECT_EQ(Ask({"dump", "-p", std::to_string(target->pid()), "-o", Path("a.folded")}), kOk) << errors_;
    return ReadFile(Path("a.folded"));
  };
  for (int i = 0; i < 200 && dump().find(";wait_in_nanosleep;") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_THAT(dump(), HasSubstr("waits;w_nanosleep;"));
  EXPECT_THAT(dump(), HasSubstr(";wait_in_nanosleep;"));
  // Other threads' waits are not there if they are not asked for.
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

TEST_F(Daemon, ReloadsAndKeepsWhatItHasIfTheFileIsBad) {
  StartDaemon("");
  ASSERT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
  WriteConfig("[windows]\nkeep = 7\n[record]\nkernel_threads = true\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect");
  ASSERT_EQ(Ask({"status", "--json"}), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("\"windows_limit\":7,"));
  EXPECT_THAT(output_, HasSubstr("\"windows\":1,")) << "what was recorded before is kept";
  WriteConfig("[windows]\nkeep = 8\nkept = 9\n");
  daemon_->Signal(SIGHUP);
  AwaitLog("unknown key 'windows.kept'");
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

// The host's configuration says what waits for work there; a client that names no patterns gets that.
TEST_F(Daemon, HasPatternsOfItsOwn) {
  const std::string patterns = Path("mine.conf");
  const std::string section =
      "[record]\nsample = \"0\"\ncomms = [\"w_*\"]\n[idle]\npatterns = [\"" + patterns + "\"]\n";
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
  AwaitLog("the new configuration is in effect", 1);
  EXPECT_THAT(dump({}), HasSubstr("wait_in_nanosleep"));
  write("wait_in_nanosleep");
  daemon_->Signal(SIGHUP);
  AwaitLog("the new configuration is in effect", 2);

  std::ofstream(patterns) << "[mine]\nstack = *\n";
  EXPECT_EQ(RunWords(Words({"--check-config"})), kBadConfig);
  EXPECT_THAT(errors_, HasSubstr("mine.conf:2: '*' stands for any function: name it\n"));
  daemon_->Signal(SIGHUP);
  AwaitLog("the old configuration stays in effect: " + patterns + ":2: ", 1);
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
    EXPECT_THAT(errors_, HasSubstr("offcpud.toml:5:8: keep must be from 1 to 10000"));
  }
  // A file beside it adds to it.
  std::filesystem::create_directory(Path("offcpud.toml.d"));
  WriteConfig("[windows]\nkeep = 7\n");
  std::ofstream(Path("offcpud.toml.d/10-more.toml")) << "[windows]\nkeep = 8\n";
  std::ofstream(Path("offcpud.toml.d/README")) << "no configuration\n";
  ASSERT_EQ(RunWords(Words({"--print-config"})), kOk) << errors_;
  EXPECT_THAT(output_, HasSubstr("keep = 8\n"));
  std::ofstream(Path("offcpud.toml.d/20-wrong.toml")) << "\nnonsense\n";
  EXPECT_EQ(RunWords(Words({"--check-config"})), kBadConfig);
  EXPECT_THAT(errors_, HasSubstr("/offcpud.toml.d/20-wrong.toml:2:"));
  std::filesystem::remove_all(Path("offcpud.toml.d"));
  WriteConfig("[record]\nusers = [\"nosuchuser\"]\n");
  EXPECT_EQ(RunWords(Words({"--check-config"})), kBadConfig) << "the start refuses it, too";
  EXPECT_THAT(errors_, HasSubstr("no user is called nosuchuser"));
  EXPECT_EQ(RunWords(Words({"--print-config"})), kOk) << errors_;
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

TEST_F(Daemon, APortInUseIsToldAndTheRestGoesOn) {
  const int port = FreePort();
  httplib::Server other;
  ASSERT_TRUE(other.bind_to_port("127.0.0.1", port));
  StartDaemon(HttpSection(port));
  AwaitLog("the port is in use");  // it opens the port once it records
  EXPECT_EQ(CountInLog("the port is in use (http.listen)"), 1u) << ReadFile(Path("log"));
  EXPECT_EQ(Ask({"dump", "-o", Path("a.folded")}), kOk) << errors_;
}

TEST_F(Daemon, AConfigurationThatIsNoFileIsToldAtTheStart) {
  ASSERT_EQ(mkfifo(Path("offcpud.toml").c_str(), 0600), 0);
  EXPECT_EQ(RunWords(Words({"--check-config"})), kBadConfig);
  EXPECT_EQ(errors_, "offcpud: error: " + Path("offcpud.toml") + " is a FIFO: must be a regular file\n");
}

TEST_F(Daemon, SilentConnectionsKeepNobodyFromAsking) {
  StartDaemon("[record]\ncomms = [\"none\"]\n", "timeout = \"600s\"\n");
  std::vector<OwnedFd> silent;
  for (int i = 0; i < 130; ++i) {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    Socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    silent.emplace_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(silent.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  EXPECT_EQ(Ask({"status"}), kOk) << errors_;
  for (const OwnedFd& fd : silent) {
    pollfd ended = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&ended, 1, 30'000), 1) << "it is told that it is too late";
  }
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

TEST_F(Daemon, ExportsItsWindowsAndTheLastOneToo) {
  const int port = FakeCollector().port();  // which is down now
  const std::string exported = "[windows]\nlength = \"1s\"\n[record]\ncomms = [\"w_*\"]\n[export]\nspool = \"" +
                               Path("spool") + "\"\nendpoint = \"http://127.0.0.1:" + std::to_string(port) + "\"\n";
  StartDaemon(exported + "[files]\ndirectory = \"" + Path("files") + "\"\n");
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  AwaitLog("accepts no windows at the moment; they are kept");
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

  // The next service sends what the last one left, in order.
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
