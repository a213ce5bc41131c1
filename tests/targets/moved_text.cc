// A program that moves its text to another memory, at the same addresses, as programs do that want it on huge pages,
// and waits below functions of it. Usage: moved_text [--seconds S]
#include <sys/mman.h>
#include <sys/syscall.h>

#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 1'000'000;

}  // namespace

TARGET_FUNCTION void moved_inner() {
  target::SleepNs(kWaitNs);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void moved_outer() {
  moved_inner();
  TARGET_AFTER_CALL;
}

namespace {

// A file that is memory, in the place of the mapping that this code is in.
void MoveText() {
  const auto here = reinterpret_cast<uint64_t>(&moved_outer);
  FILE* maps = fopen("/proc/self/maps", "re");
  target::Check(maps != nullptr, "maps");
  unsigned long begin = 0;
  unsigned long end = 0;
  while (fscanf(maps, "%lx-%lx%*[^\n]", &begin, &end) == 2 && end <= here) {
  }
  fclose(maps);
  const size_t bytes = end - begin;
  const auto file = static_cast<int>(syscall(SYS_memfd_create, "text", 0));
  const bool is_written = write(file, reinterpret_cast<const void*>(begin), bytes) == static_cast<ssize_t>(bytes);
  target::Check(file >= 0 && is_written, "memfd");
  void* place = reinterpret_cast<void*>(begin);
  target::Check(mmap(place, bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, 0) == place, "mmap");
  close(file);
}

}  // namespace

int main(int argc, char** argv) {
  MoveText();
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  while (!target::Over()) moved_outer();
  target::DoneAndStay();
}
