#include "tests/harness/terminal.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

constexpr int kOutputTimeoutMs = 30'000;

[[noreturn]] void Run(const std::vector<std::string>& words, int terminal) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  setenv("TERM", "xterm", 1);
  setenv("LC_ALL", "C.UTF-8", 1);
  if (login_tty(terminal) == 0) execv(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Terminal::Terminal(pid_t pid, OwnedFd master, OwnedFd slave)
    : pid_(pid), master_(std::move(master)), slave_(std::move(slave)), before_(Settings()) {}

std::unique_ptr<Terminal> Terminal::Start(const std::vector<std::string>& words, unsigned short lines,
                                          unsigned short columns) {
  int master = -1;
  int slave = -1;
  const winsize size = {.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) {
    ADD_FAILURE() << "no terminal: " << std::strerror(errno);
    return nullptr;
  }
  // Its settings are read before the program can change them.
  std::unique_ptr<Terminal> terminal(new Terminal(-1, OwnedFd(master), OwnedFd(slave)));
  terminal->pid_ = fork();
  if (terminal->pid_ == 0) {
    close(master);
    Run(words, dup(slave));
  }
  return terminal;
}

Terminal::~Terminal() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Terminal::Type(const std::string& keys) {
  EXPECT_EQ(write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

void Terminal::Resize(unsigned short lines, unsigned short columns) {
  const winsize size = {.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  EXPECT_EQ(ioctl(master_.get(), TIOCSWINSZ, &size), 0) << std::strerror(errno);
}

bool Terminal::ReadMore() {
  pollfd entry = {master_.get(), POLLIN, 0};
  if (poll(&entry, 1, kOutputTimeoutMs) != 1) return false;
  char bytes[4096];
  const ssize_t count = read(master_.get(), bytes, sizeof(bytes));
  if (count <= 0) return false;
  output_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::string Terminal::ReadUntil(const std::string& text) {
  size_t found = output_.find(text);
  while (found == std::string::npos) {
    if (!ReadMore()) {
      ADD_FAILURE() << text << " did not come, but: " << output_;
      return "";
    }
    found = output_.find(text);
  }
  std::string read = output_.substr(0, found + text.size());
  output_.erase(0, read.size());
  return read;
}

std::string Terminal::ReadToEnd(int* code) {
  int status = 0;
  // What it writes is read meanwhile, or it would never end.
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    pollfd entry = {master_.get(), POLLIN, 0};
    if (poll(&entry, 1, 10) == 1) ReadMore();
  }
  pid_ = -1;
  *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  pollfd entry = {master_.get(), POLLIN, 0};
  while (poll(&entry, 1, 0) == 1 && ReadMore()) {
  }
  return std::exchange(output_, "");
}

bool Terminal::IsAsBefore() const {
  const termios now = Settings();
  return now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag && now.c_cflag == before_.c_cflag &&
         now.c_lflag == before_.c_lflag && std::memcmp(now.c_cc, before_.c_cc, sizeof(now.c_cc)) == 0;
}

termios Terminal::Settings() const {
  termios settings = {};
  EXPECT_EQ(tcgetattr(slave_.get(), &settings), 0) << std::strerror(errno);
  return settings;
}

}  // namespace offcpu::integration
