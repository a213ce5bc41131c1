// A program for which a worker thread of io_uring waits, and one that polls a ring for requests: in its process, but in
// the kernel alone.
// Usage: uring FIFO     a name that is free; opens it 200 times, after 5 ms each
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 5'000'000;
constexpr int kRounds = 200;

// With one request at a time.
class Ring {
 public:
  explicit Ring(unsigned flags) {
    io_uring_params params = {};
    params.flags = flags;
    params.sq_thread_idle = 1;  // ms
    file_ = static_cast<int>(syscall(__NR_io_uring_setup, 1, &params));
    target::Check(file_ >= 0, "io_uring_setup");
    char* submissions = Map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char* completions = Map(params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    entry_ = reinterpret_cast<io_uring_sqe*>(Map(sizeof(io_uring_sqe), IORING_OFF_SQES));
    submitted_ = reinterpret_cast<unsigned*>(submissions + params.sq_off.tail);
    taken_ = reinterpret_cast<unsigned*>(completions + params.cq_off.head);
    results_ = reinterpret_cast<io_uring_cqe*>(completions + params.cq_off.cqes);
    mask_ = params.cq_entries - 1;
  }

  // A worker waits until there is a writer.
  void OpenFifo(const char* path) {
    *entry_ = {};
    entry_->opcode = IORING_OP_OPENAT;
    entry_->flags = IOSQE_ASYNC;
    entry_->fd = AT_FDCWD;
    entry_->addr = reinterpret_cast<uint64_t>(path);
    entry_->open_flags = O_RDONLY;
    __atomic_store_n(submitted_, *submitted_ + 1, __ATOMIC_RELEASE);  // the only place there is
    Enter(1, 0);
  }

  int AwaitFile() {
    Enter(0, 1);
    const int file = results_[*taken_ & mask_].res;
    __atomic_store_n(taken_, *taken_ + 1, __ATOMIC_RELEASE);
    target::Check(file >= 0, "IORING_OP_OPENAT");
    return file;
  }

 private:
  char* Map(size_t bytes, off_t offset) const {
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, offset);
    target::Check(mapped != MAP_FAILED, "mmap");
    return static_cast<char*>(mapped);
  }

  void Enter(unsigned submit, unsigned complete) const {
    const unsigned flags = complete != 0 ? IORING_ENTER_GETEVENTS : 0;
    target::Check(syscall(__NR_io_uring_enter, file_, submit, complete, flags, nullptr, 0) >= 0, "io_uring_enter");
  }

  int file_ = -1;
  io_uring_sqe* entry_ = nullptr;
  unsigned* submitted_ = nullptr;
  unsigned* taken_ = nullptr;
  io_uring_cqe* results_ = nullptr;
  unsigned mask_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: uring FIFO\n");
    return 2;
  }
  const char* path = argv[1];
  target::Check(mkfifo(path, 0600) == 0, path);
  Ring ring(0);
  const Ring polled(IORING_SETUP_SQPOLL);
  target::ReadyAndRun("", 0);
  for (int round = 0; round < kRounds; ++round) {
    ring.OpenFifo(path);
    target::SleepNs(kWaitNs);
    const int writer = open(path, O_WRONLY | O_CLOEXEC);
    close(ring.AwaitFile());
    close(writer);
  }
  unlink(path);
  target::DoneAndStay();
  return 0;
}
