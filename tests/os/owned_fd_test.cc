#include "os/owned_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <utility>

namespace offcpu {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(OwnedFdTest, ClosesOnceWhoeverHoldsIt) {
  OwnedFd a(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = a.get();
  ASSERT_TRUE(IsOpen(number));
  OwnedFd b(std::move(a));
  EXPECT_TRUE(b && IsOpen(number));
  OwnedFd c(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int replaced = c.get();
  c = std::move(b);
  EXPECT_FALSE(IsOpen(replaced));
  EXPECT_TRUE(IsOpen(number));
  c.reset();
  EXPECT_FALSE(IsOpen(number));
  EXPECT_FALSE(c);
}

}  // namespace
}  // namespace offcpu
