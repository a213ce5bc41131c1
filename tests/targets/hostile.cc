// A process that does what it can to stop a reader of its memory and files; beside it a process that behaves.
//   uffd       the unwind table of a library lies in memory whose faults nobody ever serves
//   truncated  a library's file is cut to half (--zero: to nothing) while a thread waits below it
//   device     a device is mapped executable, and a FIFO lies at the path of a deleted library
// With --user both are that user's once all is prepared.
// Usage: hostile uffd|truncated|device [--zero] [--seconds S] [--user UID]
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <string>

#include "target.h"

namespace {

using HostileCall = void (*)(void (*)());

target::Gate gate;
target::Sum hostile_sum;
target::Sum device_sum;
sem_t below;  // threads that are where they wait
sem_t measured;

// The callers may not be there any more: nothing returns to them.
[[noreturn]] void StayBelow() {
  sem_post(&measured);
  while (true) pause();
}

std::string LibraryPath() {
  char path[PATH_MAX] = {};
  target::Check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
  return std::string(dirname(path)) + "/libhostile.so";
}

void CopyLibrary(int to) {
  const int from = open(LibraryPath().c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  target::Check(from >= 0 && fstat(from, &status) == 0, "open");
  target::Check(sendfile(to, from, nullptr, static_cast<size_t>(status.st_size)) == status.st_size, "sendfile");
  close(from);
}

struct Library {
  HostileCall call = nullptr;
  link_map* map = nullptr;
};

Library Load(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  target::Check(handle != nullptr, path.c_str());
  return {reinterpret_cast<HostileCall>(dlsym(handle, "hostile_call")), static_cast<link_map*>(handle)};
}

// The read-only segment of the library that holds its unwind tables.
struct Segment {
  uint64_t base;   // of the library
  uint64_t begin;  // page-aligned
  uint64_t end;
  uint64_t offset;  // of `begin` in the file
};

int FindTables(dl_phdr_info* info, size_t, void* argument) {
  auto* segment = static_cast<Segment*>(argument);
  if (info->dlpi_addr != segment->base) return 0;
  uint64_t header = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) header = info->dlpi_phdr[i].p_vaddr;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& load = info->dlpi_phdr[i];
    if (load.p_type != PT_LOAD || header < load.p_vaddr || header >= load.p_vaddr + load.p_memsz) continue;
    segment->begin = segment->base + (load.p_vaddr & ~0xfffUL);
    segment->end = segment->base + ((load.p_vaddr + load.p_memsz + 0xfff) & ~0xfffUL);
    segment->offset = load.p_offset & ~0xfffUL;
  }
  return 1;
}

Segment TablesOf(const Library& library) {
  Segment segment = {library.map->l_addr, 0, 0, 0};
  dl_iterate_phdr(FindTables, &segment);
  target::Check(segment.begin != 0, "no unwind table");
  return segment;
}

Library PrepareUserfault() {
  const int file = memfd_create("libhostile", MFD_CLOEXEC);
  target::Check(file >= 0, "memfd_create");
  CopyLibrary(file);
  const Library library = Load("/proc/self/fd/" + std::to_string(file));
  const Segment tables = TablesOf(library);
  const auto bytes = static_cast<off_t>(tables.end - tables.begin);
  target::Check(
      fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(tables.offset), bytes) == 0,
      "fallocate");

  const int faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api = {};
  api.api = UFFD_API;
  target::Check(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0, "userfaultfd");
  uffdio_register range = {};
  range.range = {tables.begin, tables.end - tables.begin};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  target::Check(ioctl(faults, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
  return library;
}

std::string TemporaryPath() { return "/tmp/offcpu-hostile-" + std::to_string(getpid()) + ".so"; }

int CreateCopy(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  target::Check(file >= 0, path.c_str());
  CopyLibrary(file);
  return file;
}

int truncated_file = -1;
off_t truncated_size = 0;

Library PrepareTruncated(bool zero) {
  const std::string path = TemporaryPath();
  truncated_file = CreateCopy(path);
  const Library library = Load(path);
  truncated_size = zero ? 0 : static_cast<off_t>(TablesOf(library).offset);
  unlink(path.c_str());
  return library;
}

Library PrepareFifo() {
  const std::string path = TemporaryPath();
  close(CreateCopy(path));
  const Library library = Load(path);
  unlink(path.c_str());
  target::Check(mkfifo(path.c_str(), 0600) == 0, "mkfifo");
  return library;
}

// The code of hostile_call in memory of a device: sub $24,%rsp; call *%rdi; add $24,%rsp; ret.
HostileCall CallInDevice() {
  static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x18, 0xc3};
  const int device = open("/dev/zero", O_RDWR | O_CLOEXEC);
  void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, device, 0);
  target::Check(mapped != MAP_FAILED, "mmap /dev/zero");
  memcpy(mapped, code, sizeof(code));
  target::Check(mprotect(mapped, 4096, PROT_READ | PROT_EXEC) == 0, "mprotect");
  return reinterpret_cast<HostileCall>(mapped);
}

}  // namespace

TARGET_FUNCTION void hostile_wait() {
  sem_post(&below);
  gate.Pass();
  while (!target::Over()) {
    const target::OffCpuTimer timer(hostile_sum);
    target::SleepNs(1'000'000);
  }
  StayBelow();
}

TARGET_FUNCTION void device_wait() {
  sem_post(&below);
  gate.Pass();
  while (!target::Over()) {
    const target::OffCpuTimer timer(device_sum);
    target::SleepNs(1'000'000);
  }
  StayBelow();
}

TARGET_FUNCTION void normal_wait(target::Sum* sum) {
  const target::OffCpuTimer timer(*sum);
  target::SleepNs(1'000'000);
}

namespace {

struct NormalProcess {
  pid_t pid = 0;
  int start = -1;  // a byte lets it go
  target::Sum* sum = nullptr;
};

void BecomeUser(uid_t user) { target::Check(user == 0 || (setgid(user) == 0 && setuid(user) == 0), "setuid"); }

NormalProcess StartNormal(double seconds, uid_t user) {
  NormalProcess normal;
  int ends[2];
  target::Check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  void* memory = mmap(nullptr, sizeof(target::Sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  target::Check(memory != MAP_FAILED, "mmap");
  normal.sum = new (memory) target::Sum;
  normal.pid = fork();
  if (normal.pid == 0) {
    close(ends[1]);
    BecomeUser(user);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    char byte;
    if (read(ends[0], &byte, 1) != 1) _exit(1);
    target::deadline_ns = target::ClockNs(CLOCK_MONOTONIC) + static_cast<uint64_t>(seconds * 1e9);
    while (!target::Over()) normal_wait(normal.sum);
    _exit(0);
  }
  close(ends[0]);
  normal.start = ends[1];
  return normal;
}

void* RunBelow(void* call) {
  reinterpret_cast<HostileCall>(call)(hostile_wait);
  return nullptr;
}

void* RunInDevice(void* call) {
  reinterpret_cast<HostileCall>(call)(device_wait);
  return nullptr;
}

void StartThread(void* (*run)(void*), HostileCall call, const char* name) {
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, run, reinterpret_cast<void*>(call)) == 0, "pthread_create");
  pthread_setname_np(thread, name);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const double seconds = target::Option(argc, argv, "--seconds", 3);
  const auto user = static_cast<uid_t>(target::Option(argc, argv, "--user", 0));
  const NormalProcess normal = StartNormal(seconds, user);

  Library library;
  if (mode == "uffd") library = PrepareUserfault();
  if (mode == "truncated") library = PrepareTruncated(target::Flag(argc, argv, "--zero"));
  if (mode == "device") library = PrepareFifo();
  if (library.call == nullptr) {
    fprintf(stderr, "hostile: unknown mode\n");
    return 2;
  }
  BecomeUser(user);
  sem_init(&below, 0, 0);
  sem_init(&measured, 0, 0);
  const int threads = mode == "device" ? 2 : 1;
  StartThread(RunBelow, library.call, "hostile_thread");
  if (threads == 2) StartThread(RunInDevice, CallInDevice(), "device_thread");

  for (int i = 0; i < threads; ++i) sem_wait(&below);
  if (truncated_file >= 0) target::Check(ftruncate(truncated_file, truncated_size) == 0, "ftruncate");

  char details[64];
  snprintf(details, sizeof(details), "normal=%d", normal.pid);
  target::ReadyAndRun(details, seconds);
  gate.Open();
  target::Check(write(normal.start, "x", 1) == 1, "write");

  waitpid(normal.pid, nullptr, 0);
  for (int i = 0; i < threads; ++i) sem_wait(&measured);
  unlink(TemporaryPath().c_str());
  target::Measured("hostile_thread", "hostile_wait", hostile_sum);
  if (mode == "device") target::Measured("device_thread", "device_wait", device_sum);
  target::Measured("hostile", "normal_wait", *normal.sum);
  target::DoneAndStay();
  _exit(0);  // no destructor of a library that has no pages any more
}
