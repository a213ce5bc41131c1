// Jobs for reader threads that hang until they are released.
#ifndef OFFCPU_TESTS_OS_STUCK_H_
#define OFFCPU_TESTS_OS_STUCK_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>

namespace offcpu {

// Blocks in a read of a pipe.
class Stuck {
 public:
  Stuck() { EXPECT_EQ(pipe(fds_->fd), 0); }

  std::function<void()> job() const {
    return [fds = fds_] {
      char c = 0;
      while (read(fds->fd[0], &c, 1) != 1) {
      }
    };
  }
  void Release() { EXPECT_EQ(write(fds_->fd[1], "x", 1), 1); }

 private:
  struct Fds {
    ~Fds() {
      close(fd[0]);
      close(fd[1]);
    }
    int fd[2] = {-1, -1};
  };
  std::shared_ptr<Fds> fds_ = std::make_shared<Fds>();
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_OS_STUCK_H_
