#include "tests/harness/real_program.h"

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace offcpu::integration {
namespace {

std::string Text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<pid_t> Numbers(const std::string& directory) {
  std::vector<pid_t> numbers;
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) return numbers;
  while (const dirent* entry = readdir(dir)) {
    if (const pid_t number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  }
  closedir(dir);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// All threads of these processes if they wait so; none, if one does not or if a process has ended meanwhile.
std::vector<pid_t> ThreadsThatAre(char state, const std::vector<pid_t>& pids) {
  std::vector<pid_t> all;
  for (const pid_t pid : pids) {
    const std::vector<pid_t> tids = Threads(pid);
    const bool are = std::all_of(tids.begin(), tids.end(), [&](pid_t tid) { return State(pid, tid) == state; });
    if (tids.empty() || !are) return {};
    all.insert(all.end(), tids.begin(), tids.end());
  }
  return all;
}

// A thread that a timer has woken may be stopped in the middle of its own code, and one that is only just starting
// before the first of it.
bool IsWaitingInACall(pid_t pid, pid_t tid) {
  std::istringstream text(Text(absl::StrCat("/proc/", pid, "/task/", tid, "/syscall")));
  long call = -1;  // "running" is no number
  if (!(text >> call)) return false;
  return call >= 0 && call != SYS_clone && call != SYS_clone3 && call != SYS_fork && call != SYS_vfork &&
         call != SYS_execve && call != SYS_execveat;
}

bool AllAreInCalls(pid_t pid) {
  const std::vector<pid_t> tids = Threads(pid);
  return std::all_of(tids.begin(), tids.end(), [pid](pid_t tid) { return IsWaitingInACall(pid, tid); });
}

}  // namespace

const char kNginx[] = R"(cat >n.conf <<END
user root; worker_processes 4; pid $PWD/pid; error_log $PWD/errors; daemon off;
thread_pool default threads=32 max_queue=100;
events { }
http { access_log off; server { listen unix:$PWD/socket; location / { aio threads; root $PWD; } } }
END
exec /usr/sbin/nginx -p $PWD -c $PWD/n.conf)";

const char kPostgres[] = R"(bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
chmod 755 . && mkdir d && chown postgres d
runuser -u postgres -- $bin/initdb --no-sync -D d >initdb.log 2>&1
exec setpriv --reuid postgres --regid postgres --clear-groups $bin/postgres -D d -k $PWD/d -c listen_addresses= )";

bool RealProgram::is_installed() const { return access(needs.c_str(), X_OK) == 0; }

std::vector<pid_t> Threads(pid_t pid) { return Numbers(absl::StrCat("/proc/", pid, "/task")); }

bool AwaitStopped(pid_t pid) {
  return HoldsWithin(std::chrono::seconds(10), [pid] { return !ThreadsThatAre('T', {pid}).empty(); });
}

std::vector<pid_t> Family(pid_t pid) {
  std::vector<pid_t> family = {pid};
  for (size_t i = 0; i < family.size(); ++i) {
    for (const pid_t tid : Threads(family[i])) {
      std::istringstream children(Text(absl::StrCat("/proc/", family[i], "/task/", tid, "/children")));
      for (pid_t child = 0; children >> child;) family.push_back(child);
    }
  }
  return family;
}

char State(pid_t pid, pid_t tid) {
  const std::string stat = Text(absl::StrCat("/proc/", pid, "/task/", tid, "/stat"));
  const size_t at = stat.rfind(") ");
  return at == std::string::npos ? 0 : stat[at + 2];
}

RunningProgram::RunningProgram(const RealProgram& program) {
  program_ = Program::Start({"sh", "-c", absl::StrCat("cd ", directory_.path(), " && ", program.script)},
                            directory_.path() + "/stderr");
}

RunningProgram::~RunningProgram() {
  if (program_ == nullptr) return;
  const std::vector<pid_t> family = pids();
  program_->Signal(SIGTERM);
  for (const pid_t pid : family) kill(pid, SIGCONT);
  HoldsWithin(std::chrono::seconds(5), [this] { return State(program_->pid(), program_->pid()) == 'Z'; });
  for (const pid_t pid : family) kill(pid, SIGKILL);
}

bool RunningProgram::AwaitBlocked(size_t threads) const {
  if (program_ == nullptr) return false;
  // What builds the program waits, too, now and then.
  const auto is_built = [&] { return Text(absl::StrCat("/proc/", program_->pid(), "/comm")) != "sh\n"; };
  constexpr int kLooks = 5;
  std::vector<pid_t> before;
  int same = 0;
  return HoldsWithin(std::chrono::seconds(180), is_built) && HoldsWithin(std::chrono::seconds(60), [&] {
           std::vector<pid_t> now = ThreadsThatAre('S', pids());
           same = now.size() >= threads && now == before ? same + 1 : 0;
           before = std::move(now);
           return same == kLooks;
         });
}

bool RunningProgram::Stop(size_t threads) const {
  return HoldsWithin(std::chrono::seconds(30), [&] {
    for (const pid_t pid : pids()) kill(pid, SIGSTOP);
    const bool have_stopped =
        HoldsWithin(std::chrono::seconds(1), [&] { return ThreadsThatAre('T', pids()).size() >= threads; });
    const std::vector<pid_t> family = pids();
    if (have_stopped && std::all_of(family.begin(), family.end(), AllAreInCalls)) return true;
    for (const pid_t pid : family) kill(pid, SIGCONT);
    return false;
  });
}

std::string RunningProgram::errors() const { return Text(directory_.path() + "/stderr"); }

}  // namespace offcpu::integration
