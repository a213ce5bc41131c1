// A program on a pseudo-terminal of its own, which is of UTF-8, as if a user had started it there. Failures are
// reported to GoogleTest.
#ifndef OFFCPU_TESTS_HARNESS_TERMINAL_H_
#define OFFCPU_TESTS_HARNESS_TERMINAL_H_

#include <sys/types.h>
#include <termios.h>

#include <memory>
#include <string>
#include <vector>

#include "os/owned_fd.h"

namespace offcpu::integration {

class Terminal {
 public:
  // Killed and reaped when it goes out of scope.
  static std::unique_ptr<Terminal> Start(const std::vector<std::string>& words, unsigned short lines = 24,
                                         unsigned short columns = 80);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  pid_t pid() const { return pid_; }
  void Type(const std::string& keys);
  void Resize(unsigned short lines, unsigned short columns);
  // Until the output since the last call has the text: all of it up to there, or "" if it does not come.
  std::string ReadUntil(const std::string& text);
  // The rest of the output, and the exit code in `code`, or 128 + the signal that ended it.
  std::string ReadToEnd(int* code);
  // Whether the terminal is set as it was when the program began.
  bool IsAsBefore() const;

 private:
  Terminal(pid_t pid, OwnedFd master, OwnedFd slave);
  bool ReadMore();
  termios Settings() const;

  pid_t pid_;
  OwnedFd master_;
  OwnedFd slave_;  // keeps the terminal when the program has ended
  termios before_;
  std::string output_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_TERMINAL_H_
