// Waits below code that is exchanged at one address, or made unusable.
// Usage: remap fixed|mprotect|generated|rewritten [--rounds N]
//   fixed     another library is mapped over one, in between calls; and a copy of it while its code waits
//   mprotect  the code that waits may be written meanwhile, or not be executed
//   generated every other wait is below code that the program has written, in memory that may always be written
//   rewritten the program writes the code over and over, through another mapping of its file, which is memory: one
//             function keeps a frame pointer, the other one leaves a false one; both return to one address
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "target.h"

namespace {

constexpr size_t kPlaceBytes = 1 << 20;
constexpr size_t kPage = 4096;
constexpr int kNaps = 10;  // in one state of the code: the first wait finds that it has changed

using Code = void (*)(void (*wait)());

char* place = nullptr;
int waits = 0;
void (*before_naps)() = nullptr;
void (*after_naps)() = nullptr;

// A library's file, as a loader maps it.
class Image {
 public:
  Image(const std::string& path, const char* symbol) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    target::Check(fd_ >= 0 && pread(fd_, &header_, sizeof(header_), 0) == sizeof(header_), path.c_str());
    segments_.resize(header_.e_phnum);
    const auto bytes = static_cast<ssize_t>(segments_.size() * sizeof(Elf64_Phdr));
    target::Check(pread(fd_, segments_.data(), bytes, header_.e_phoff) == bytes, "segments");
    void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    target::Check(loaded != nullptr, "dlopen");
    offset_ = reinterpret_cast<uint64_t>(dlsym(loaded, symbol)) - static_cast<link_map*>(loaded)->l_addr;
    dlclose(loaded);
  }

  void Map() const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD) continue;
      const uint64_t before = segment.p_vaddr % kPage;
      const int protection = PROT_READ | ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
      target::Check(mmap(place + segment.p_vaddr - before, segment.p_filesz + before, protection,
                         MAP_PRIVATE | MAP_FIXED, fd_, static_cast<off_t>(segment.p_offset - before)) != MAP_FAILED,
                    "mmap");
    }
  }
  void Protect(int protection) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      char* begin = place + segment.p_vaddr / kPage * kPage;
      target::Check(mprotect(begin, segment.p_filesz, protection) == 0, "mprotect");
    }
  }
  Code code() const { return reinterpret_cast<Code>(place + offset_); }

 private:
  int fd_;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  uint64_t offset_ = 0;
};

const Image* image = nullptr;
const Image* copy = nullptr;

std::string Library(const char* name) {
  char path[PATH_MAX] = {};
  target::Check(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "readlink");
  return std::string(dirname(path)) + "/" + name;
}

std::string CopyOf(const std::string& path) {
  char name[] = "/tmp/remap.XXXXXX";
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = mkstemp(name);
  struct stat stat = {};
  off_t offset = 0;
  target::Check(from >= 0 && to >= 0 && fstat(from, &stat) == 0, "copy");
  target::Check(sendfile(to, from, &offset, stat.st_size) == stat.st_size, "copy");
  close(from);
  close(to);
  return name;
}

}  // namespace

TARGET_FUNCTION void remap_wait() {
  if (before_naps != nullptr) before_naps();
  for (int i = 0; i < kNaps; ++i) target::SleepNs(20'000);
  if (after_naps != nullptr) after_naps();
  waits += kNaps;
}

TARGET_FUNCTION void call_a(Code code) {
  code(remap_wait);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void call_b(Code code) {
  code(remap_wait);
  TARGET_AFTER_CALL;
}

namespace {

void RunFixed(int rounds) {
  const std::string path = Library("libremap_a.so");
  const std::string copy_path = CopyOf(path);
  const Image a(path, "lib_a_call");
  const Image a_copy(copy_path, "lib_a_call");
  const Image b(Library("libremap_b.so"), "lib_b_call");
  unlink(copy_path.c_str());
  copy = &a_copy;
  for (int i = 0; i < rounds; ++i) {
    a.Map();
    before_naps = i % 2 == 0 ? nullptr : +[] { copy->Map(); };
    call_a(a.code());
    before_naps = nullptr;
    b.Map();
    call_b(b.code());
  }
}

void RunMprotect(int rounds) {
  const Image a(Library("libremap_a.so"), "lib_a_call");
  image = &a;
  a.Map();
  after_naps = [] { image->Protect(PROT_READ | PROT_EXEC); };
  for (int i = 0; i < rounds; ++i) {
    constexpr void (*kChanges[])() = {
        [] {},
        [] { image->Protect(PROT_READ); },
        [] { image->Protect(PROT_READ | PROT_WRITE | PROT_EXEC); },
    };
    before_naps = kChanges[i % 3];
    call_a(a.code());
  }
}

// A function of the x86-64 ABI that calls its argument.
constexpr unsigned char kGenerated[] = {
    0x48, 0x83, 0xec, 0x08,  // sub $8,%rsp
    0xff, 0xd7,              // call *%rdi
    0x48, 0x83, 0xc4, 0x08,  // add $8,%rsp
    0xc3,                    // ret
};

void CallDirectly(void (*wait)()) {
  wait();
  TARGET_AFTER_CALL;
}

void RunGenerated(int rounds) {
  constexpr int kRoundsOfOne = 50;
  for (int i = 0; i < rounds; ++i) {
    char* code = place + i / kRoundsOfOne % (kPlaceBytes / kPage) * kPage;
    if (i % kRoundsOfOne == 0) {
      target::Check(mmap(code, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                         0) != MAP_FAILED,
                    "mmap");
      memcpy(code, kGenerated, sizeof(kGenerated));
    }
    call_a(reinterpret_cast<Code>(code));
    call_b(CallDirectly);
  }
}

// Returns to the same address as the next one.
constexpr unsigned char kHonest[] = {
    0x55,                                                                          // push %rbp
    0x48, 0x89, 0xe5,                                                              // mov %rsp,%rbp
    0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,  // nop
    0xff, 0xd7,                                                                    // call *%rdi
    0x5d,                                                                          // pop %rbp
    0xc3,                                                                          // ret
};

// The frame that %rbp points to says that remap_decoy is the caller.
constexpr unsigned char kLying[] = {
    0x55,                                      // push %rbp
    0x48, 0xb8, 0,    0,    0, 0, 0, 0, 0, 0,  // mov $decoy,%rax
    0x50,                                      // push %rax
    0x6a, 0x00,                                // push $0
    0x48, 0x89, 0xe5,                          // mov %rsp,%rbp
    0xff, 0xd7,                                // call *%rdi
    0x48, 0x83, 0xc4, 0x10,                    // add $16,%rsp
    0x5d,                                      // pop %rbp
    0xc3,                                      // ret
};
constexpr size_t kDecoyAt = 3;

void* decoy = nullptr;

__attribute__((noinline)) void TakeDecoy() { decoy = __builtin_return_address(0); }

}  // namespace

TARGET_FUNCTION void remap_decoy() {
  TakeDecoy();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void below_honest() {
  remap_wait();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void below_lying() {
  remap_wait();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void call_honest(void (*code)(void (*)())) {
  code(below_honest);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void call_lying(void (*code)(void (*)())) {
  code(below_lying);
  TARGET_AFTER_CALL;
}

namespace {

void RunRewritten(int rounds) {
  const int file = memfd_create("rewritten", MFD_CLOEXEC);
  target::Check(file >= 0 && ftruncate(file, kPage) == 0, "memfd_create");
  void* writable = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* code = mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
  target::Check(writable != MAP_FAILED && code != MAP_FAILED, "mmap");
  remap_decoy();
  unsigned char lying[sizeof(kLying)];
  memcpy(lying, kLying, sizeof(lying));
  memcpy(lying + kDecoyAt, &decoy, sizeof(decoy));
  for (int i = 0; i < rounds; ++i) {
    memcpy(writable, kHonest, sizeof(kHonest));
    call_honest(reinterpret_cast<Code>(code));
    memcpy(writable, lying, sizeof(lying));
    call_lying(reinterpret_cast<Code>(code));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int rounds = static_cast<int>(target::Option(argc, argv, "--rounds", 100));
  place = static_cast<char*>(mmap(nullptr, kPlaceBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  target::Check(place != MAP_FAILED, "mmap");
  target::ReadyAndRun("", 0);
  if (mode == "fixed") RunFixed(rounds);
  if (mode == "mprotect") RunMprotect(rounds);
  if (mode == "generated") RunGenerated(rounds);
  if (mode == "rewritten") RunRewritten(rounds);
  target::Value("waits", static_cast<uint64_t>(waits));
  target::DoneAndStay();
}
