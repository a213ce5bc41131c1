// A file descriptor that closes itself.
#ifndef OFFCPU_OS_OWNED_FD_H_
#define OFFCPU_OS_OWNED_FD_H_

namespace offcpu {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;
  ~OwnedFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset();

 private:
  int fd_ = -1;
};

}  // namespace offcpu

#endif  // OFFCPU_OS_OWNED_FD_H_
