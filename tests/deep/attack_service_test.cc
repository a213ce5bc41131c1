// What hostile users of the host, and members of the service's group, do to the service: it lives within its memory and
// its tasks, serves others, says what was lost, and ends when it is told to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/daemon/thread_user.h"
#include "tests/deep/hung_mount.h"
#include "tests/harness/confined_service.h"

namespace offcpu::integration {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr char kNobody[] = "65534";

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Time in a folded file, and how much of it has no user stack.
struct Shares {
  double all = 0;
  double without = 0;
};

Shares SharesOf(const std::string& folded) {
  Shares shares;
  std::istringstream lines(folded);
  for (std::string line; std::getline(lines, line);) {
    const double value = std::stod(line.substr(line.rfind(' ')));
    shares.all += value;
    if (line.find("[no user stack") != std::string::npos) shares.without += value;
  }
  return shares;
}

class AttackServiceTest : public ::testing::Test {
 protected:
  void Start(const std::string& sections = "", const std::string& control = "", const Confinement& confinement = {}) {
    service_ = ConfinedService::Start(sections, control, confinement);
    if (service_ == nullptr && !HasFailure()) GTEST_SKIP() << "needs the cgroup controllers memory and pids";
    ASSERT_NE(service_, nullptr);
  }

  // A process of another user whose memory hangs any process that reads it.
  static std::unique_ptr<Target> Hanging() {
    std::unique_ptr<Target> target = Target::Start({"hostile", "uffd", "--seconds", "60", "--user", kNobody});
    if (target != nullptr) target->Go();
    return target;
  }
  // Waits all the time, in many ways.
  static std::unique_ptr<Target> Healthy() {
    std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "60"});
    if (target != nullptr) target->Go();
    return target;
  }
  // Whose threads all stay where they are: what they stand in does not depend on when they are looked at.
  static std::unique_ptr<Target> Blocked() {
    std::unique_ptr<Target> target = Target::Start({"blocked"});
    if (target != nullptr) {
      target->Go();
      target->AwaitDone();
    }
    return target;
  }
  Answer StacksOf(const Target& target) const {
    return service_->Ask({"stacks", std::to_string(target.pid())}, seconds(20));
  }
  static bool Await(const std::function<bool()>& done, Clock::duration patience = seconds(20)) {
    const auto end = Clock::now() + patience;
    while (!done()) {
      if (Clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }
  // A connection to its control socket that says what it is given, and nothing more.
  OwnedFd Connect(const std::string& said = "") const {
    OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    service_->socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));  // the backlog may be full
    if (!said.empty()) send(fd.get(), said.data(), said.size(), MSG_NOSIGNAL);
    return fd;
  }
  static std::string Get(const std::string& target) { return "GET " + target + " HTTP/1.1\r\n\r\n"; }
  static std::string StacksRequest(const Target& target) {
    return Get("/stacks?unwind=eh_frame&pid=" + std::to_string(target.pid()));
  }
  // A value of /metrics, by all before it.
  uint64_t Metric(const std::string& name) const {
    httplib::Client client("127.0.0.1", service_->http_port());
    client.set_read_timeout(seconds(60));
    const httplib::Result metrics = client.Get("/metrics");
    const size_t at = metrics ? metrics->body.find("\n" + name + " ") : std::string::npos;
    if (at == std::string::npos) return 0;
    const size_t begin = at + name.size() + 2;
    uint64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(metrics->body.substr(begin, metrics->body.find('\n', begin) - begin), &value));
    return value;
  }
  void ExpectEndsInTime() {
    const auto begin = Clock::now();
    service_->Signal(SIGTERM);
    EXPECT_EQ(service_->AwaitEnd(seconds(5)), 0) << service_->Account();
    std::printf("ended after %.2f s\n", std::chrono::duration<double>(Clock::now() - begin).count());
  }

  std::unique_ptr<ConfinedService> service_;
};

TEST_F(AttackServiceTest, NoAttackAtAll) {
  Start();
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  const Answer stacks = StacksOf(*target);
  EXPECT_EQ(stacks.code, 0) << stacks.errors;
  EXPECT_THAT(stacks.output, HasSubstr("second_wait"));
  EXPECT_EQ(service_->Ask({"dump", "-o", service_->Path("a.pb.gz")}).code, 0);
  EXPECT_EQ(service_->StatusNumber("pid"), static_cast<uint64_t>(service_->pid()));
  EXPECT_EQ(service_->LossCount("no such reason"), 0u);
  EXPECT_TRUE(service_->alive());
  ExpectEndsInTime();
}

// As many as may ask at one time.
TEST_F(AttackServiceTest, ManyStacksAtOnceAreServedOneAfterAnother) {
  Start();
  const std::unique_ptr<Target> target = Blocked();
  ASSERT_NE(target, nullptr);
  ASSERT_EQ(StacksOf(*target).code, 0);
  const size_t descriptors = service_->descriptors();
  const uint64_t charged = service_->charged_bytes();
  std::vector<std::unique_ptr<Program>> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(service_->StartAsking({"stacks", std::to_string(target->pid())}, "many" + std::to_string(i)));
  }
  uint64_t most = 0;
  EXPECT_TRUE(Await(
      [&] {
        most = std::max(most, service_->charged_bytes());
        return std::all_of(clients.begin(), clients.end(), [](const auto& client) {
          siginfo_t info = {};
          return waitid(P_PID, static_cast<id_t>(client->pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                 info.si_pid != 0;
        });
      },
      seconds(50)));
  for (size_t i = 0; i < clients.size(); ++i) {
    EXPECT_EQ(clients[i]->Wait(), 0) << ReadFile(service_->Path("many" + std::to_string(i) + ".err"));
    EXPECT_THAT(ReadFile(service_->Path("many" + std::to_string(i) + ".out")), HasSubstr("second_wait"));
  }
  std::printf("%llu MiB charged before, %llu at most\n", static_cast<unsigned long long>(charged >> 20),
              static_cast<unsigned long long>(most >> 20));
  ASSERT_TRUE(service_->alive()) << service_->log();
  EXPECT_LT(most, charged + (100u << 20)) << "two are served at a time";
  EXPECT_TRUE(Await([&] { return service_->descriptors() <= descriptors; })) << service_->Account();
}

TEST_F(AttackServiceTest, StacksOfAProcessThatHangsItsReadersLeaveNothingBehind) {
  Start("[record]\ncomms = [\"none\"]\n");  // the recorder does not read it, too
  const std::unique_ptr<Target> hanging = Hanging();
  const std::unique_ptr<Target> healthy = Blocked();
  ASSERT_TRUE(hanging != nullptr && healthy != nullptr);
  ASSERT_EQ(StacksOf(*healthy).code, 0);
  const size_t threads = service_->threads();
  const size_t descriptors = service_->descriptors();
  for (int i = 0; i < 12; ++i) {
    const auto begin = Clock::now();
    const Answer answer = StacksOf(*hanging);
    EXPECT_EQ(answer.code, 0) << answer.errors;
    EXPECT_THAT(answer.output, HasSubstr("target stuck"));
    EXPECT_LT(Clock::now() - begin, seconds(10));
  }
  const Answer answer = StacksOf(*healthy);
  EXPECT_THAT(answer.output, HasSubstr("second_wait")) << answer.errors;
  EXPECT_LE(service_->threads(), threads + 6) << service_->Account();
  EXPECT_TRUE(Await([&] { return service_->descriptors() <= descriptors; })) << service_->Account();
  ExpectEndsInTime();
}

TEST_F(AttackServiceTest, ARequestEndsWithItsClient) {
  Start("[record]\ncomms = [\"none\"]\n");
  std::vector<std::unique_ptr<Target>> hanging;
  for (int i = 0; i < 2; ++i) hanging.push_back(Hanging());
  const std::unique_ptr<Target> healthy = Blocked();
  ASSERT_NE(healthy, nullptr);
  ASSERT_EQ(StacksOf(*healthy).code, 0);  // its programs are loaded
  const size_t before = service_->threads();
  // Both places are taken by what takes two seconds; the others wait behind them.
  std::vector<std::unique_ptr<Program>> clients;
  for (size_t i = 0; i < 10; ++i) {
    clients.push_back(service_->StartAsking({"stacks", std::to_string(hanging[i % 2]->pid())}, "gone"));
  }
  EXPECT_TRUE(Await([&] { return service_->threads() >= before + 5; }));
  for (const auto& client : clients) {
    client->Signal(SIGTERM);
    kill(-client->pid(), SIGTERM);  // timeout(1) can end before it knows its child, which would ask on
  }
  const auto begin = Clock::now();
  const Answer answer = StacksOf(*healthy);
  EXPECT_THAT(answer.output, HasSubstr("second_wait")) << answer.errors;
  EXPECT_LT(Clock::now() - begin, seconds(2)) << "nobody was before it";
  EXPECT_TRUE(Await([&] { return service_->threads() <= before + 6; }, seconds(2))) << service_->Account();
}

// Members of the service's group say nothing, or no more than a byte, or ask for what takes long, as often as they can.
// For ten minutes they may.
TEST_F(AttackServiceTest, MembersOfTheGroupKeepNobodyFromAsking) {
  constexpr gid_t kGroup = 65534;
  constexpr uid_t kMember = 54321;
  Start("[record]\ncomms = [\"none\"]\n", "max_clients = 1000\ntimeout = \"600s\"\n", {.group = "nogroup"});
  std::vector<std::unique_ptr<Target>> hanging;
  for (int i = 0; i < 2; ++i) hanging.push_back(Hanging());
  ASSERT_TRUE(hanging[0] != nullptr && hanging[1] != nullptr);
  std::vector<OwnedFd> connections;
  const auto attack = [&] {
    for (size_t i = 0; i < 130; ++i) {
      {
        const ThreadUser member(kMember, kGroup);
        connections.push_back(Connect());
        connections.push_back(Connect(StacksRequest(*hanging[i % 2])));
      }
      const ThreadUser other(kMember + 1, kGroup);
      connections.push_back(Connect("G"));
      connections.push_back(Connect("G"));
    }
  };
  for (int round = 0; round < 5; ++round) {
    attack();
    const Answer answer = service_->Ask({"status"}, seconds(60));
    ASSERT_EQ(answer.code, 0) << answer.errors << service_->Account();
    const ThreadUser third(kMember + 2, kGroup);
    const OwnedFd member = Connect(Get("/status"));
    pollfd answered = {.fd = member.get(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&answered, 1, 60'000), 1) << "another member";
  }
  EXPECT_LE(service_->threads(), 100u) << service_->Account();
  EXPECT_GT(Metric("offcpud_control_dropped_total{reason=\"no room\"}"), 1000u);
  connections.clear();
  {
    const ThreadUser member(kMember, kGroup);
    connections.push_back(Connect());
  }
  EXPECT_TRUE(Await([&] { return Metric("offcpud_control_dropped_total{reason=\"request late\"}") > 0; }));
  ExpectEndsInTime();
}

// Members of the service's group open connections, and say nothing.
TEST_F(AttackServiceTest, ConnectionsTakeNoThreadsFromTheRest) {
  Start("", "max_clients = 1000\n");
  std::vector<OwnedFd> connections;
  for (int i = 0; i < 300; ++i) connections.push_back(Connect());
  std::this_thread::sleep_for(milliseconds(500));  // for as many as it ever takes
  EXPECT_LE(service_->threads(), 100u) << service_->Account();
  service_->Reload("[record]\nkernel_threads = true\n", "max_clients = 1000\n");
  EXPECT_TRUE(service_->AwaitLog("the new configuration is in effect")) << service_->log();
  ExpectEndsInTime();
}

TEST_F(AttackServiceTest, AThreadThatCannotBeStartedIsAnError) {
  constexpr int kTasks = 40;
  const std::string control = "max_clients = 1000\ntimeout = \"600s\"\n";
  Start("", control, {.tasks = kTasks});
  std::vector<std::unique_ptr<Target>> hanging;
  for (int i = 0; i < 2; ++i) hanging.push_back(Hanging());
  ASSERT_TRUE(hanging[0] != nullptr && hanging[1] != nullptr);
  std::vector<OwnedFd> connections;
  // Asks for what takes a thread for a while.
  const auto take_place = [&] { connections.push_back(Connect(StacksRequest(*hanging[connections.size() % 2]))); };
  EXPECT_TRUE(Await([&] {
    if (connections.size() < 100) take_place();
    return service_->threads() == kTasks || !service_->alive();
  })) << service_->Account();
  // A reader that has no more to do may end meanwhile, and leave its place.
  const auto take_places = [&] {
    if (connections.size() < 900) take_place();
  };
  Answer answer;
  EXPECT_TRUE(Await([&] {
    take_places();
    answer = service_->Ask({"dump", "-o", service_->Path("a.pb.gz")});
    return answer.code != 0;
  }));
  EXPECT_THAT(answer.errors, HasSubstr("cannot start a thread"));
  service_->Reload("[record]\nkernel_threads = true\n", control);
  EXPECT_TRUE(Await([&] {
    take_places();
    return service_->CountInLog("the old configuration stays in effect: cannot start a thread") != 0;
  })) << service_->log();
  ASSERT_TRUE(service_->alive()) << service_->log();
  connections.clear();
  EXPECT_TRUE(Await([&] { return service_->Ask({"dump", "-o", service_->Path("a.pb.gz")}).code == 0; }));
  ExpectEndsInTime();
}

// A user who hangs the readers of his own processes gets no others.
TEST_F(AttackServiceTest, ProcessesThatHangTheirReadersBlindNobodyElse) {
  std::vector<std::unique_ptr<Target>> hanging;  // before anybody has looked at them
  for (int i = 0; i < 6; ++i) hanging.push_back(Hanging());
  Start();
  const std::unique_ptr<Target> healthy =
      Target::Start({"nappers", "--threads", "4", "--nap-ms", "5", "--seconds", "3"});
  ASSERT_NE(healthy, nullptr);
  healthy->Go();
  healthy->AwaitDone();
  const std::string path = service_->Path("a.folded");
  ASSERT_EQ(service_->Ask({"dump", "-p", std::to_string(healthy->pid()), "-o", path, "--idle=show"}).code, 0);
  const Shares shares = SharesOf(ReadFile(path));
  std::printf("%.3f %% of the time of another user's process without a stack\n", 100 * shares.without / shares.all);
  EXPECT_GT(shares.all, 0);
  EXPECT_LE(shares.without, 0.01 * shares.all) << ReadFile(path);
  EXPECT_GT(service_->LossCount("target stuck"), 0u);
  EXPECT_GT(service_->LossCount("target not read: too many of its user are stuck"), 0u);
  EXPECT_LE(service_->threads(), 30u) << service_->Account();
  ExpectEndsInTime();
}

class HungFileTest : public AttackServiceTest {
 protected:
  // A program on a file system that hangs when all of it that it needs has been read.
  void StartProgram() {
    mount_ = HungMount::Create(directory_.path() + "/mount", BinDirectory() + "/targets/waits");
    if (mount_ == nullptr) GTEST_SKIP() << "needs FUSE";
    program_ = Target::Start({mount_->path(), "--seconds", "60"});
    ASSERT_NE(program_, nullptr);
    program_->Go();
    // Its file is open by then.
    EXPECT_TRUE(Await([&] { return HasOpenFile(); }));
  }
  bool HasOpenFile() const {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(service_->pid()) + "/fd", error)) {
      const std::string link = std::filesystem::read_symlink(entry.path(), error);
      if (link.ends_with("/mount/program")) return true;
    }
    return false;
  }
  size_t FilesIn(const std::string& directory) const {
    std::error_code error;
    const std::filesystem::directory_iterator files(directory, error);
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  TemporaryDirectory directory_;
  std::unique_ptr<HungMount> mount_;
  std::unique_ptr<Target> program_;
};

TEST_F(HungFileTest, StopsNeitherWindowsNorDumpsNorTheEnd) {
  const std::string files = directory_.path() + "/files";
  Start("[windows]\nlength = \"1s\"\n[files]\ndirectory = \"" + files + "\"\n");
  StartProgram();
  mount_->Hang();
  const std::unique_ptr<Target> healthy = Healthy();
  ASSERT_NE(healthy, nullptr);
  EXPECT_TRUE(Await([&] { return FilesIn(files) >= 3; }, seconds(15))) << service_->Account();
  const size_t written = FilesIn(files);
  const auto begin = Clock::now();
  const std::string path = service_->Path("a.folded");
  const Answer dump = service_->Ask({"dump", "-o", path, "--idle=show"}, seconds(30));
  EXPECT_EQ(dump.code, 0) << dump.errors;
  std::printf("a dump took %.2f s\n", std::chrono::duration<double>(Clock::now() - begin).count());
  EXPECT_LT(Clock::now() - begin, seconds(15));
  const auto has_names = [&] {
    return service_->Ask({"dump", "-o", path, "--idle=show"}, seconds(30)).code == 0 &&
           ReadFile(path).find("wait_in_nanosleep") != std::string::npos;
  };
  EXPECT_TRUE(Await(has_names)) << "others have their names";
  EXPECT_TRUE(Await([&] { return FilesIn(files) >= written + 3; }, seconds(15))) << service_->Account();
  ExpectEndsInTime();
}

// All at once.
TEST_F(HungFileTest, ItEndsInTimeWhateverHangs) {
  Start("[windows]\nlength = \"1s\"\n[files]\ndirectory = \"" + directory_.path() + "/files\"\n");
  StartProgram();
  mount_->Hang();
  std::vector<std::unique_ptr<Target>> hanging;
  for (int i = 0; i < 3; ++i) hanging.push_back(Hanging());
  std::vector<std::unique_ptr<Program>> clients;
  for (int i = 0; i < 6; ++i) {
    clients.push_back(
        service_->StartAsking({"stacks", std::to_string(hanging[static_cast<size_t>(i) % 3]->pid())}, "stacks"));
    clients.push_back(service_->StartAsking({"dump", "-o", service_->Path("x.pb.gz")}, "dump"));
  }
  std::vector<OwnedFd> connections;
  for (int i = 0; i < 20; ++i) connections.push_back(Connect());
  std::this_thread::sleep_for(seconds(2));  // all of it hangs by then
  ExpectEndsInTime();
}

}  // namespace
}  // namespace offcpu::integration
