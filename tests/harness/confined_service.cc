#include "tests/harness/confined_service.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "gtest/gtest.h"
#include "tests/harness/cgroup_hierarchy.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kPatience(30);

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// `words` in the cgroups, their output in the log.
pid_t StartIn(const std::vector<std::string>& cgroups, int nice_by, const std::vector<std::string>& words,
              const std::string& log_path) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<std::string> members;
  for (const std::string& cgroup : cgroups) members.push_back(cgroup + "/cgroup.procs");
  const pid_t pid = fork();
  if (pid != 0) return pid;
  bool ok = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;  // whatever happens to the test, it does not stay
  for (const std::string& path : members) ok = ok && WriteCgroupFile(path, "0");
  ok = ok && setpriority(PRIO_PROCESS, 0, nice_by) == 0;
  ok = ok && freopen("/dev/null", "r", stdin) != nullptr && freopen(log_path.c_str(), "w", stdout) != nullptr;
  ok = ok && dup2(STDOUT_FILENO, STDERR_FILENO) >= 0;
  if (ok) execv(arguments[0], arguments.data());
  _exit(127);
}

// Limits of CPU time are for a period of 100 ms, in microseconds.
std::string LimitFile(const std::string& controller, bool is_v2) {
  if (!is_v2 && controller == "memory") return "memory.limit_in_bytes";
  if (!is_v2 && controller == "cpu") return "cpu.cfs_quota_us";
  return controller + ".max";
}

}  // namespace

std::unique_ptr<ConfinedService> ConfinedService::Start(const std::string& sections, const std::string& control,
                                                        const Confinement& confinement) {
  std::unique_ptr<ConfinedService> service(new ConfinedService());
  if (!service->Confine(confinement)) return nullptr;
  chmod(service->directory_.path().c_str(), 0755);
  service->http_port_ = FreePort();
  service->group_ = confinement.group;
  service->WriteConfig(sections, control);
  service->pid_ =
      StartIn(service->cgroups_, confinement.nice,
              {BinDirectory() + "/offcpud", "--config", service->Path("offcpud.toml")}, service->Path("log"));
  if (!service->AwaitLog("HTTP at")) {
    ADD_FAILURE() << "the service did not start:\n" << service->log();
    return nullptr;
  }
  return service;
}

bool ConfinedService::Confine(const Confinement& confinement) {
  std::vector<std::pair<std::string, std::string>> limits = {{"memory", std::to_string(confinement.memory_bytes)},
                                                             {"pids", std::to_string(confinement.tasks)}};
  if (confinement.cpu_percent != 0) limits.emplace_back("cpu", std::to_string(confinement.cpu_percent * 1000));
  for (const auto& [controller, limit] : limits) {
    const std::optional<CgroupHierarchy> hierarchy = FindCgroupHierarchy(controller);
    if (!hierarchy.has_value()) return false;
    const std::string path = hierarchy->parent() + "/offcpud-test-" + std::to_string(getpid());
    if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
      ADD_FAILURE() << path << ": " << std::strerror(errno);
      return false;
    }
    if (cgroups_.empty() || cgroups_.back() != path) cgroups_.push_back(path);
    EXPECT_TRUE(WriteCgroupFile(path + "/" + LimitFile(controller, hierarchy->is_v2), limit));
    if (controller == "memory")
      charged_path_ = path + (hierarchy->is_v2 ? "/memory.current" : "/memory.usage_in_bytes");
  }
  return true;
}

ConfinedService::~ConfinedService() {
  if (pid_ > 0 && !ended_.has_value()) {
    kill(pid_, SIGKILL);
    EXPECT_TRUE(AwaitEnd(kPatience).has_value()) << "a thread of the service cannot be killed: " << Account();
  }
  for (const std::string& cgroup : cgroups_) {
    for (int i = 0; i < 100 && rmdir(cgroup.c_str()) != 0 && errno == EBUSY; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void ConfinedService::WriteConfig(const std::string& sections, const std::string& control) const {
  std::ofstream(Path("offcpud.toml")) << "[control]\nsocket = \"" << socket() << "\"\ngroup = \"" << group_ << "\"\n"
                                      << control << "[http]\nlisten = \"127.0.0.1:" << http_port_ << "\"\n"
                                      << sections;
}

std::string ConfinedService::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(http_port_) + path;
}

bool ConfinedService::alive() const {
  siginfo_t info = {};
  return !ended_.has_value() && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

std::optional<int> ConfinedService::AwaitEnd(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!ended_.has_value()) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (std::chrono::steady_clock::now() > end) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  return ended_;
}

void ConfinedService::Signal(int signal) const { EXPECT_EQ(kill(pid_, signal), 0) << std::strerror(errno); }

void ConfinedService::Reload(const std::string& sections, const std::string& control) {
  WriteConfig(sections, control);
  Signal(SIGHUP);
}

std::string ConfinedService::log() const { return ReadText(Path("log")); }

size_t ConfinedService::CountInLog(const std::string& words) const {
  const std::string text = log();
  size_t count = 0;
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

bool ConfinedService::AwaitLog(const std::string& words, size_t times) const {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (CountInLog(words) < times) {
    if (!alive() || std::chrono::steady_clock::now() > end) return CountInLog(words) >= times;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::unique_ptr<Program> ConfinedService::StartAsking(const std::vector<std::string>& words, const std::string& name,
                                                      std::chrono::seconds patience) const {
  std::vector<std::string> all = {"timeout",
                                  "-k",
                                  "1",
                                  std::to_string(patience.count()),
                                  "sh",
                                  "-c",
                                  "exec \"$@\" >\"$0\"",
                                  Path(name + ".out"),
                                  BinDirectory() + "/offcpu"};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), {"--socket", socket()});
  return Program::Start(all, Path(name + ".err"));
}

Answer ConfinedService::Ask(const std::vector<std::string>& words, std::chrono::seconds patience) const {
  const std::unique_ptr<Program> program = StartAsking(words, "asked", patience);
  Answer answer;
  if (program == nullptr) return answer;
  answer.code = program->Wait();
  answer.output = ReadText(Path("asked.out"));
  answer.errors = ReadText(Path("asked.err"));
  return answer;
}

uint64_t ConfinedService::StatusNumber(const std::string& key) const {
  const Answer answer = Ask({"status", "--json"});
  EXPECT_EQ(answer.code, 0) << answer.errors;
  std::smatch match;
  return std::regex_search(answer.output, match, std::regex("\"" + key + "\":([0-9]+)")) ? std::stoull(match[1]) : 0;
}

uint64_t ConfinedService::LossCount(const std::string& reason) const {
  const Answer answer = Ask({"status", "--json"});
  EXPECT_EQ(answer.code, 0) << answer.errors;
  const size_t at = answer.output.find("\"" + reason + "\"");
  std::smatch match;
  const std::string rest = at == std::string::npos ? "" : answer.output.substr(at);
  return std::regex_search(rest, match, std::regex("[0-9]+")) ? std::stoull(match[0]) : 0;
}

uint64_t ConfinedService::StatusKib(const std::string& key) const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1));
  }
  return 0;
}

uint64_t ConfinedService::resident_bytes() const { return StatusKib("VmRSS") << 10; }
uint64_t ConfinedService::peak_resident_bytes() const { return StatusKib("VmHWM") << 10; }
size_t ConfinedService::threads() const { return StatusKib("Threads"); }

size_t ConfinedService::threads_called(const std::string& prefix) const {
  std::error_code error;
  size_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task", error)) {
    count += ReadText(thread.path() / "comm").starts_with(prefix);
  }
  return count;
}

uint64_t ConfinedService::charged_bytes() const {
  const std::string text = ReadCgroupFile(charged_path_);
  return text.empty() ? 0 : std::stoull(text);
}

size_t ConfinedService::descriptors() const {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/" + std::to_string(pid_) + "/fd", error);
  return static_cast<size_t>(std::count_if(begin(files), end(files), [](const auto& file) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(file.path(), gone).string();
    return !gone && (target.starts_with("/proc/") || !std::filesystem::is_regular_file(file.path(), gone));
  }));
}

std::string ConfinedService::Account() const {
  return std::to_string(resident_bytes() >> 20) + " MiB resident, " + std::to_string(peak_resident_bytes() >> 20) +
         " at most, " + std::to_string(charged_bytes() >> 20) + " MiB charged, " + std::to_string(descriptors()) +
         " descriptors, " + std::to_string(threads()) + " threads; log:\n" + log();
}

}  // namespace offcpu::integration
