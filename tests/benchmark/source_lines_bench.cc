// Finds the source lines of addresses spread evenly over the code of a file, and prints a row of a table: addresses,
// how many of them are known, MiB of the file, seconds, and the most MiB that the process doing it had resident.
// Usage: source_lines_bench FILE ADDRESSES
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "os/owned_fd.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "source_lines/source_lines.h"

int main(int argc, char** argv) {
  using namespace offcpu;
  if (argc != 3) return 2;
  const OwnedFd fd(open(argv[1], O_RDONLY | O_CLOEXEC));
  const FileMemory memory(fd.get());
  const auto elf = ElfFile::Parse(memory);
  const ElfSection* text = elf.ok() ? elf->Find(".text") : nullptr;
  const auto count = static_cast<uint64_t>(std::atoll(argv[2]));
  struct stat file = {};
  if (text == nullptr || count == 0 || fstat(fd.get(), &file) != 0) return 1;
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < count; ++i)
    addresses.push_back(text->address + text->size / count * i + text->size / count / 2);
  const auto start = std::chrono::steady_clock::now();
  const SourceLines lines = ReadSourceLines({.file = fd.get()}, addresses, {.time = std::chrono::seconds(60)});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto known = std::ranges::count_if(lines.chains, [](const LineChain& chain) { return !chain.empty(); });
  std::printf("| %llu | %lld | %lld | %.2f | %ld |%s\n", static_cast<unsigned long long>(count),
              static_cast<long long>(known), static_cast<long long>(file.st_size >> 20), taken.count(),
              usage.ru_maxrss >> 10, lines.is_cut ? " cut" : "");
}
