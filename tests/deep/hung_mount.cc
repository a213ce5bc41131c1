#include "tests/deep/hung_mount.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

constexpr uint64_t kFile = 2;  // node; the root is 1
constexpr uint64_t kSeconds = 3600;

constexpr int kHang = SIGUSR1;
volatile sig_atomic_t hangs = 0;

// Answers one request after the other, in a process of its own. A request that it has taken is answered before it
// hangs: the kernel lets a process that waits for such a one wait whatever signal comes.
class Server {
 public:
  Server(int fd, std::string content) : fd_(fd), content_(std::move(content)) {}

  // kHang must be blocked.
  void Serve() {
    signal(kHang, [](int) { hangs = 1; });
    sigset_t none;
    sigemptyset(&none);
    std::vector<char> request(1 << 17);
    pollfd readable = {.fd = fd_, .events = POLLIN, .revents = 0};
    while (true) {
      const int ready = ppoll(&readable, 1, nullptr, &none);
      if (hangs != 0) HangForEver();
      if (ready <= 0) continue;
      const ssize_t got = read(fd_, request.data(), request.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
      if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) return;
      fuse_in_header header;
      std::memcpy(&header, request.data(), sizeof(header));
      Answer(header, request.data() + sizeof(header));
    }
  }
  [[noreturn]] static void HangForEver() {
    while (true) pause();
  }

 private:
  template <typename T>
  static T As(const char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }

  void Reply(uint64_t unique, int error, const void* bytes, size_t size) const {
    fuse_out_header header = {.len = static_cast<uint32_t>(sizeof(header) + size), .error = -error, .unique = unique};
    const std::array<iovec, 2> parts = {{{&header, sizeof(header)}, {const_cast<void*>(bytes), size}}};
    [[maybe_unused]] const ssize_t written = writev(fd_, parts.data(), size == 0 ? 1 : 2);
  }
  template <typename T>
  void Reply(uint64_t unique, const T& value) const {
    Reply(unique, 0, &value, sizeof(value));
  }

  fuse_attr AttributesOf(uint64_t node) const {
    fuse_attr attributes = {};
    attributes.ino = node;
    attributes.size = node == kFile ? content_.size() : 0;
    attributes.mode = node == kFile ? S_IFREG | 0755 : S_IFDIR | 0755;
    attributes.nlink = 1;
    attributes.blksize = 4096;
    return attributes;
  }

  void Answer(const fuse_in_header& header, const char* body) const {
    switch (header.opcode) {
      case FUSE_INIT: {
        fuse_init_out out = {};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = std::min<uint32_t>(As<fuse_init_in>(body).minor, FUSE_KERNEL_MINOR_VERSION);
        out.max_write = 4096;
        return Reply(header.unique, out);  // nothing is read ahead
      }
      case FUSE_LOOKUP: {
        if (std::strcmp(body, "program") != 0) return Reply(header.unique, ENOENT, nullptr, 0);
        fuse_entry_out out = {};
        out.nodeid = kFile;
        out.entry_valid = out.attr_valid = kSeconds;
        out.attr = AttributesOf(kFile);
        return Reply(header.unique, out);
      }
      case FUSE_GETATTR: {
        fuse_attr_out out = {};
        out.attr_valid = kSeconds;
        out.attr = AttributesOf(header.nodeid);
        return Reply(header.unique, out);
      }
      case FUSE_OPEN: {
        const fuse_open_out out = {};
        return Reply(header.unique, out);
      }
      case FUSE_READ: {
        const auto in = As<fuse_read_in>(body);
        const size_t begin = std::min<size_t>(in.offset, content_.size());
        return Reply(header.unique, 0, content_.data() + begin, std::min<size_t>(in.size, content_.size() - begin));
      }
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;  // want no answer
      case FUSE_RELEASE:
        return Reply(header.unique, 0, nullptr, 0);
      default:
        return Reply(header.unique, ENOSYS, nullptr, 0);
    }
  }

  const int fd_;
  const std::string content_;
};

}  // namespace

std::unique_ptr<HungMount> HungMount::Create(const std::string& directory, const std::string& program) {
  const int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  std::stringstream content;
  content << std::ifstream(program, std::ios::binary).rdbuf();
  EXPECT_EQ(mkdir(directory.c_str(), 0755), 0) << directory << ": " << std::strerror(errno);
  const std::string options =
      "fd=" + std::to_string(fd) + ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions";
  if (mount("offcpu-test", directory.c_str(), "fuse.offcpu-test", MS_NODEV | MS_NOSUID, options.c_str()) != 0) {
    close(fd);
    return nullptr;
  }
  // Nobody else holds the descriptor, so that nobody waits any more once the server is dead.
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, kHang);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Server(fd, content.str()).Serve();
    _exit(0);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(fd);
  std::unique_ptr<HungMount> mounted(new HungMount(directory, server));
  // From the first close on the kernel knows that the server does not want to hear of any: a process that closes a
  // file, or ends with one open, waits for that answer, whatever signal comes.
  const int file = open(mounted->path().c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GE(file, 0) << mounted->path() << ": " << std::strerror(errno);
  close(file);
  return mounted;
}

HungMount::~HungMount() {
  kill(server_, SIGKILL);
  waitpid(server_, nullptr, 0);
  umount2(directory_.c_str(), MNT_DETACH);
}

void HungMount::Hang() const { EXPECT_EQ(kill(server_, kHang), 0); }

}  // namespace offcpu::integration
