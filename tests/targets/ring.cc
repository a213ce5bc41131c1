// Processes in a ring on one CPU that hand each other a byte: nothing but context switches, of as many processes, with
// as many libraries and at as many stacks as are asked for. Each process is one of its own, with its own addresses.
// Usage: ring [--processes N] [--libraries N] [--stacks N] [--warm-up S] [--seconds S] [--cpu N]
// Prints `value switches N` and `value wall_ns N` of the seconds after those to warm up.
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <string>

#include "cpus.h"
#include "target.h"

namespace {

constexpr int kLevels = 17;  // of calls that each go one of two ways: more than 100,000 stacks

int from = -1;
int to = -1;
uint64_t warm_up_ns = 0;
uint64_t turns = 0;
bool is_first = false;

std::string Self() {
  char path[PATH_MAX] = {};
  target::Check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
  return path;
}

std::string LibraryOf(const std::string& directory, int index) {
  return directory + "/" + std::to_string(index) + ".so";
}

// Each is a file of its own.
void MakeLibraries(const std::string& directory, int count) {
  std::string self = Self();
  const std::string library = std::string(dirname(self.data())) + "/libchurn_a.so";
  const int source = open(library.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat stat = {};
  target::Check(source >= 0 && fstat(source, &stat) == 0, library.c_str());
  for (int i = 0; i < count; ++i) {
    const int copy = open(LibraryOf(directory, i).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    off_t offset = 0;
    target::Check(copy >= 0 && sendfile(copy, source, &offset, stat.st_size) == stat.st_size, "copy");
    close(copy);
  }
  close(source);
}

}  // namespace

// False at the end.
TARGET_FUNCTION bool hand_on() {
  static uint64_t since_ns = 0;
  static uint64_t turns_before = 0;
  const uint64_t now_ns = is_first ? target::ClockNs(CLOCK_MONOTONIC) : 0;
  if (is_first && since_ns == 0 && now_ns >= warm_up_ns) {
    since_ns = now_ns;
    turns_before = turns;
  }
  if (is_first && now_ns >= target::deadline_ns) {
    target::Value("turns", turns - turns_before);
    target::Value("wall_ns", now_ns - since_ns);
    return false;
  }
  ++turns;
  char byte = 'x';
  return write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1;
}

TARGET_FUNCTION bool go_right(uint64_t way, int levels);

TARGET_FUNCTION bool go_left(uint64_t way, int levels) {
  const bool goes_on = levels == 0      ? hand_on()
                       : (way & 1) != 0 ? go_right(way >> 1, levels - 1)
                                        : go_left(way >> 1, levels - 1);
  TARGET_AFTER_CALL;
  return goes_on;
}

TARGET_FUNCTION bool go_right(uint64_t way, int levels) {
  const bool goes_on = levels == 0      ? hand_on()
                       : (way & 1) != 0 ? go_right(way >> 1, levels - 1)
                                        : go_left(way >> 1, levels - 1);
  TARGET_AFTER_CALL;
  return goes_on;
}

namespace {

void RunMember(int stacks) {
  for (uint64_t way = 0; go_left(way, kLevels); way = (way + 1) % static_cast<uint64_t>(stacks)) {
  }
}

void OpenLibraries(const std::string& directory, int count) {
  for (int i = 0; i < count; ++i)
    target::Check(dlopen(LibraryOf(directory, i).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr, "dlopen");
}

// Waits for its byte before anything else, so that those before it are ready when the first one begins.
[[noreturn]] void BeMember(char** argv, const std::string& directory) {
  const std::string read_end = std::to_string(from);
  const std::string write_end = std::to_string(to);
  fcntl(from, F_SETFD, 0);
  fcntl(to, F_SETFD, 0);
  setenv("RING_FROM", read_end.c_str(), 1);
  setenv("RING_TO", write_end.c_str(), 1);
  setenv("RING_LIBRARIES", directory.c_str(), 1);
  execv("/proc/self/exe", argv);
  target::Die("execv");
}

// The others of the ring, each between two pipes of its own.
void StartOthers(int count, char** argv, const std::string& directory) {
  int link[2];
  target::Check(pipe2(link, O_CLOEXEC) == 0, "pipe");
  to = link[1];
  int last = link[0];
  for (int i = 0; i < count; ++i) {
    target::Check(pipe2(link, O_CLOEXEC) == 0, "pipe");
    const pid_t pid = fork();
    target::Check(pid >= 0, "fork");
    if (pid == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      from = last;
      to = link[1];
      BeMember(argv, directory);
    }
    close(last);
    close(link[1]);
    last = link[0];
  }
  from = last;
}

}  // namespace

int main(int argc, char** argv) {
  const int libraries = static_cast<int>(target::Option(argc, argv, "--libraries", 0));
  const int stacks = static_cast<int>(target::Option(argc, argv, "--stacks", 1));
  target::Pin(0, static_cast<int>(target::Option(argc, argv, "--cpu", 0)));
  prctl(PR_SET_NAME, "ring");
  if (const char* end = getenv("RING_FROM"); end != nullptr) {
    from = atoi(end);
    to = atoi(getenv("RING_TO"));
    OpenLibraries(getenv("RING_LIBRARIES"), libraries);
    char byte;
    if (read(from, &byte, 1) == 1) RunMember(stacks);
    return 0;
  }
  char directory[] = "/tmp/ring.XXXXXX";
  target::Check(mkdtemp(directory) != nullptr, "mkdtemp");
  MakeLibraries(directory, libraries);
  is_first = true;
  const int processes = static_cast<int>(target::Option(argc, argv, "--processes", 2));
  StartOthers(processes - 1, argv, directory);
  OpenLibraries(directory, libraries);
  const double warm_up = target::Option(argc, argv, "--warm-up", 0);
  target::ReadyAndRun("", warm_up + target::Option(argc, argv, "--seconds", 1));
  warm_up_ns = target::ClockNs(CLOCK_MONOTONIC) + static_cast<uint64_t>(warm_up * 1e9);
  RunMember(stacks);
  close(to);
  while (wait(nullptr) > 0) {
  }
  for (int i = 0; i < libraries; ++i) unlink(LibraryOf(directory, i).c_str());
  rmdir(directory);
  target::DoneAndStay();
}
