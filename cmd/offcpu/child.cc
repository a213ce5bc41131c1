#include "offcpu/child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "offcpu/exit_code.h"

namespace offcpu {
namespace {

[[noreturn]] void BeTheCommand(const std::vector<std::string>& command, const sigset_t& signals, int gate, int error) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  signal(SIGPIPE, SIG_DFL);
  char go;
  if (read(gate, &go, 1) != 1) _exit(kExitFailed);
  execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(error, &reason, sizeof(reason));
  _exit(kExitCommandUnknown);
}

}  // namespace

absl::StatusOr<Child> Child::Fork(const std::vector<std::string>& command, const sigset_t& signals) {
  int gate[2];
  int error[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  OwnedFd gate_out(gate[0]);
  OwnedFd gate_in(gate[1]);
  if (pipe2(error, O_CLOEXEC) != 0) return absl::InternalError(absl::StrCat("pipe: ", strerror(errno)));
  OwnedFd error_out(error[0]);
  OwnedFd error_in(error[1]);
  const pid_t pid = fork();
  if (pid < 0) return absl::InternalError(absl::StrCat("fork: ", strerror(errno)));
  if (pid == 0) {
    gate_in.reset();
    BeTheCommand(command, signals, gate_out.get(), error_in.get());
  }
  return Child(pid, std::move(gate_in), std::move(error_out));
}

int Child::Run() {
  const char go = 0;
  if (write(gate_.get(), &go, 1) != 1) return errno;
  int reason = 0;
  ssize_t got;
  do {
    got = read(error_.get(), &reason, sizeof(reason));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(reason) ? reason : 0;
}

bool Child::Ended() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) != 0;
  return ended_;
}

void Child::WaitForEnd() {
  while (!ended_) ended_ = waitpid(pid_, &status_, 0) >= 0 || errno != EINTR;
}

int Child::exit_status() const {
  constexpr int kOfSignals = 128;
  return WIFSIGNALED(status_) ? kOfSignals + WTERMSIG(status_) : WEXITSTATUS(status_);
}

}  // namespace offcpu
