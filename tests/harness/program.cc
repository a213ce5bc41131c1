#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "gtest/gtest.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr int kLineTimeoutMs = 60'000;

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

Pipe OpenPipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0) << std::strerror(errno);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

}  // namespace

Program::Program(pid_t pid, OwnedFd input, OwnedFd output)
    : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}

std::unique_ptr<Program> Program::Start(const std::vector<std::string>& words, const std::string& error_path) {
  Pipe input = OpenPipe();
  Pipe output = OpenPipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write.get(), STDOUT_FILENO);
  if (!error_path.empty()) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  }
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    ADD_FAILURE() << words[0] << ": " << std::strerror(error);
    return nullptr;
  }
  return std::unique_ptr<Program>(new Program(pid, std::move(input.write), std::move(output.read)));
}

Program::~Program() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Program::ReadLine(std::string* line) {
  while (true) {
    const size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      *line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return true;
    }
    pollfd entry = {output_.get(), POLLIN, 0};
    if (poll(&entry, 1, kLineTimeoutMs) != 1) return false;
    char bytes[4096];
    const ssize_t count = read(output_.get(), bytes, sizeof(bytes));
    if (count <= 0) return false;
    buffer_.append(bytes, static_cast<size_t>(count));
  }
}

void Program::Write(std::string_view bytes) {
  EXPECT_EQ(write(input_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

void Program::Signal(int signal) { EXPECT_EQ(kill(pid_, signal), 0) << std::strerror(errno); }

int Program::Wait(std::string* rest_of_output) {
  CloseInput();
  std::string line;
  while (ReadLine(&line)) {
    if (rest_of_output != nullptr) *rest_of_output += line + "\n";
  }
  if (rest_of_output != nullptr) *rest_of_output += buffer_;
  int status = 0;
  EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::unique_ptr<Program> StartBusyLoop(int cpu) {
  std::unique_ptr<Program> loop = Program::Start({"setpriv", "--pdeathsig", "KILL", "taskset", "-c",
                                                  std::to_string(cpu), "sh", "-c", "echo; while :; do :; done"});
  std::string line;
  EXPECT_TRUE(loop != nullptr && loop->ReadLine(&line));
  return loop;
}

int FreePort() {
  const OwnedFd probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

}  // namespace offcpu::integration
