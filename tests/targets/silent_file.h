// A file whose server answers reads of its first bytes and never any other: FUSE, by the kernel's own protocol.
//
// The server is a child process; when the thread that called Open ends, it is killed, and the kernel then fails what it
// has not answered. So nothing that waits for it outlives the caller. The mount is in a namespace of the caller's own
// and gone from that when Open returns; only the file is left. Needs root. To be called before there are threads.
#ifndef OFFCPU_TESTS_TARGETS_SILENT_FILE_H_
#define OFFCPU_TESTS_TARGETS_SILENT_FILE_H_

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "target.h"

namespace target {

class SilentFile {
 public:
  // Makes a file of that many bytes in all, the first `answered` of which can be read: as zeros. Returns a descriptor
  // for reading and writing.
  static int Open(uint64_t bytes, uint64_t answered) {
    Check(unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "unshare");
    const int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    Check(device >= 0, "/dev/fuse");
    char path[] = "/tmp/offcpu-silent-XXXXXX";
    close(mkstemp(path));
    char options[64];
    snprintf(options, sizeof(options), "fd=%d,rootmode=%o,user_id=0,group_id=0", device, S_IFREG);
    const bool mounted = mount("silent", path, "fuse", MS_NOSUID | MS_NODEV, options) == 0;
    if (mounted && fork() == 0) SilentFile(device, bytes, answered).Serve();
    close(device);
    const int file = mounted ? open(path, O_RDWR | O_CLOEXEC) : -1;
    umount2(path, MNT_DETACH);
    unlink(path);
    struct stat status = {};  // asking is what makes the kernel know the size
    Check(file >= 0 && fstat(file, &status) == 0 && status.st_size != 0, "a file of FUSE");
    return file;
  }

 private:
  SilentFile(int device, uint64_t bytes, uint64_t answered) : device_(device), bytes_(bytes), answered_(answered) {}

  [[noreturn]] void Serve() {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The reader of our output shall see its end though this lives.
    const auto device = static_cast<unsigned>(device_);
    close_range(0, device - 1, 0);
    close_range(device + 1, ~0u, 0);
    alignas(8) static char request[FUSE_MIN_READ_BUFFER * 16];
    while (read(device_, request, sizeof(request)) >= static_cast<ssize_t>(sizeof(fuse_in_header))) {
      Answer(*reinterpret_cast<const fuse_in_header*>(request), request + sizeof(fuse_in_header));
    }
    _exit(0);
  }

  void Answer(const fuse_in_header& in, const char* arguments) {
    switch (in.opcode) {
      case FUSE_INIT: {
        fuse_init_out out = {};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = 31;
        out.max_write = kPage;
        return Reply(in, 0, &out, sizeof(out));  // without reading ahead: each page is a request
      }
      case FUSE_GETATTR: {
        fuse_attr_out out = {};
        out.attr_valid = 3600;
        out.attr.ino = FUSE_ROOT_ID;
        out.attr.size = bytes_;
        out.attr.mode = S_IFREG | 0600;
        out.attr.nlink = 1;
        out.attr.blksize = kPage;
        return Reply(in, 0, &out, sizeof(out));
      }
      case FUSE_OPEN: {
        const fuse_open_out out = {};
        return Reply(in, 0, &out, sizeof(out));
      }
      case FUSE_READ: {
        static const char zeros[kPage] = {};
        const auto* read_in = reinterpret_cast<const fuse_read_in*>(arguments);
        if (read_in->offset >= answered_) return;
        return Reply(in, 0, zeros, read_in->size < kPage ? read_in->size : kPage);
      }
      case FUSE_RELEASE:
        return Reply(in, 0, nullptr, 0);
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;
      default:
        return Reply(in, -ENOSYS, nullptr, 0);
    }
  }

  void Reply(const fuse_in_header& in, int error, const void* bytes, size_t count) const {
    fuse_out_header out = {};
    out.len = static_cast<uint32_t>(sizeof(out) + count);
    out.error = error;
    out.unique = in.unique;
    const iovec parts[] = {{&out, sizeof(out)}, {const_cast<void*>(bytes), count}};
    [[maybe_unused]] const ssize_t written = writev(device_, parts, count != 0 ? 2 : 1);
  }

  static constexpr uint32_t kPage = 4096;

  int device_;
  uint64_t bytes_;
  uint64_t answered_;
};

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_SILENT_FILE_H_
