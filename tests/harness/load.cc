#include "tests/harness/load.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{20};

// What follows the name in /proc/.../stat; empty if that is gone.
std::string StatOf(const std::string& directory) {
  std::ifstream file(directory + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t end_of_name = text.rfind(") ");
  return end_of_name == std::string::npos ? std::string() : text.substr(end_of_name + 2);
}

std::vector<pid_t> NumbersIn(const std::string& directory) {
  std::vector<pid_t> numbers;
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(directory, error);
       entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const pid_t number = std::atoi(entry->path().filename().c_str());
    if (number > 0) numbers.push_back(number);
    if (error) break;
  }
  return numbers;
}

std::string ProcessDirectory(pid_t pid) { return "/proc/" + std::to_string(pid); }

std::string ThreadDirectory(pid_t pid, pid_t tid) { return ProcessDirectory(pid) + "/task/" + std::to_string(tid); }

bool IsStoppedOrGone(pid_t pid) {
  for (const pid_t tid : NumbersIn(ProcessDirectory(pid) + "/task")) {
    const std::string stat = StatOf(ThreadDirectory(pid, tid));
    if (!stat.empty() && stat[0] != 'T' && stat[0] != 'Z' && stat[0] != 'X') return false;
  }
  return true;
}

}  // namespace

bool IsInstalled(const std::string& program) {
  std::istringstream path(getenv("PATH") != nullptr ? getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');) {
    if (access(directory.append("/").append(program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Load::~Load() {
  Freeze();  // what is killed cannot have been about to start one more
  for (const pid_t pid : Processes()) kill(pid, SIGKILL);
}

void Load::Add(const std::vector<std::string>& words) {
  std::unique_ptr<Program> program = Program::Start(words, "/dev/null");
  if (program == nullptr) return;
  program->CloseInput();
  programs_.push_back(std::move(program));
}

std::vector<pid_t> Load::Processes() const {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const pid_t pid : NumbersIn("/proc")) {
    std::istringstream stat(StatOf(ProcessDirectory(pid)));
    char state;
    pid_t parent;
    if (stat >> state >> parent) children[parent].push_back(pid);
  }
  std::vector<pid_t> pids;
  pids.reserve(programs_.size());
  for (const auto& program : programs_) pids.push_back(program->pid());
  for (size_t i = 0; i < pids.size(); ++i) {
    const std::vector<pid_t>& more = children[pids[i]];
    pids.insert(pids.end(), more.begin(), more.end());
  }
  return pids;
}

void Load::AwaitThreads(size_t count) const {
  size_t threads = 0;
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    threads = 0;
    for (const pid_t pid : Processes()) threads += NumbersIn(ProcessDirectory(pid) + "/task").size();
    if (threads >= count) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "only " << threads << " of " << count << " threads have begun";
}

void Load::Freeze() const {
  for (const auto end = Clock::now() + kPatience; Clock::now() < end;) {
    const std::vector<pid_t> pids = Processes();
    for (const pid_t pid : pids) kill(pid, SIGSTOP);
    if (std::all_of(pids.begin(), pids.end(), IsStoppedOrGone) && Processes() == pids) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "some threads do not stop";
}

void Load::Thaw() const {
  for (const pid_t pid : Processes()) kill(pid, SIGCONT);
}

namespace {

// Where the distribution keeps the programs of its PostgreSQL; empty if there is none.
std::string PostgresPrograms() {
  std::error_code error;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    if (std::filesystem::exists(version.path() / "bin/initdb")) return version.path() / "bin/";
  }
  return {};
}

int RunToItsEnd(const std::vector<std::string>& words) { return Program::Start(words, "/dev/null")->Wait(); }

}  // namespace

bool PostgresLoad::IsInstalled() { return !PostgresPrograms().empty(); }

PostgresLoad::PostgresLoad(Clients clients)
    : programs_(PostgresPrograms()), cluster_(directory_.path() + "/cluster"), host_("--host=" + directory_.path()) {
  constexpr uid_t kNobody = 65534;
  EXPECT_EQ(chown(directory_.path().c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(RunToItsEnd(AsNobody({"initdb", "--no-sync", "--auth=trust", "--pgdata=" + cluster_})), 0);
  load_.Add(AsNobody({"postgres", "-D", cluster_, "-k", directory_.path(), "-c", "listen_addresses="}));
  for (const auto end = Clock::now() + kPatience; RunToItsEnd(AsNobody({"pg_isready", host_})) != 0;) {
    if (Clock::now() > end) {
      ADD_FAILURE() << "the server does not answer";
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(RunToItsEnd(AsNobody({"pgbench", "--initialize", "--quiet", host_, "postgres"})), 0);
  StartClients(clients);
  is_ready_ = true;
}

void PostgresLoad::StartClients(Clients clients) {
  std::vector<std::string> words = {"pgbench", "--jobs=2", "--time=3600", host_};
  const size_t count = clients == kContended ? 16 : 8;
  words.push_back("--client=" + std::to_string(count));
  if (clients == kContended) {
    const std::string script = directory_.path() + "/contended.sql";
    std::ofstream(script) << "BEGIN;\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1;\n"
                             "\\sleep 2 ms\nEND;\n";
    words.push_back("--file=" + script);
  }
  words.emplace_back("postgres");
  load_.Add(AsNobody(words));
  load_.AwaitThreads(1 + 5 + count + 2);  // the server and its helpers, one process per client, and the clients
}

PostgresLoad::~PostgresLoad() {
  load_.Thaw();
  EXPECT_EQ(RunToItsEnd(AsNobody({"pg_ctl", "stop", "--mode=fast", "--pgdata=" + cluster_})), 0);
}

std::vector<std::string> PostgresLoad::AsNobody(std::vector<std::string> words) const {
  const std::vector<std::string> before = {"setpriv", "--reuid=65534", "--clear-groups"};
  words.front() = programs_ + words.front();
  words.insert(words.begin(), before.begin(), before.end());
  return words;
}

RedisLoad::RedisLoad() {
  const std::string socket = directory_.path() + "/s";
  load_.Add({"redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory_.path(), "--io-threads", "2",
             "--appendonly", "yes", "--save", ""});
  for (const auto end = Clock::now() + kPatience; !std::filesystem::exists(socket) && Clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  load_.Add({"redis-benchmark", "-s", socket, "-l", "-c", "20", "-t", "set,get", "--threads", "2"});
  load_.AwaitThreads(5 + 3);
}

SchedStatFile::SchedStatFile(pid_t pid, pid_t tid)
    : pid_(pid), tid_(tid), file_(open((ThreadDirectory(pid, tid) + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC)) {}

std::optional<SchedStat> SchedStatFile::Read() const {
  char text[128] = {};
  unsigned long long cpu_ns = 0;
  unsigned long long run_delay_ns = 0;
  if (!file_ || pread(file_.get(), text, sizeof(text) - 1, 0) <= 0) return std::nullopt;
  if (std::sscanf(text, "%llu %llu", &cpu_ns, &run_delay_ns) != 2) return std::nullopt;
  return SchedStat{.cpu_ns = cpu_ns, .run_delay_ns = run_delay_ns};
}

std::vector<SchedStatFile> OpenSchedStats(const std::vector<pid_t>& pids) {
  std::vector<SchedStatFile> files;
  for (const pid_t pid : pids) {
    for (const pid_t tid : NumbersIn(ProcessDirectory(pid) + "/task")) files.emplace_back(pid, tid);
  }
  return files;
}

}  // namespace offcpu::integration
