// A thread that naps on a stack with a neighbour: memory right above it that is nobody's to touch. It counts its naps.
//   uffd-above     userfaultfd, whose faults nobody serves
//   uffd-served    userfaultfd, whose faults this thread serves between its naps; another thread takes them
//   uffd-stack     the stack lies in such memory itself; nobody serves, and what is above the first pages is not there
//   fuse-above     a private mapping of a file whose server does not answer
//   fuse-stack     the stack lies in such a mapping itself; its pages have been written, those above have not
//   shared-above   shared anonymous memory
//   memfd-above    a shared mapping of a file in memory
//   file-above     a private mapping of a file, and of what is behind its end
//   none-above     no access; the stack is one page
//   hole-above     nothing; the stack is one page
//   grows-down     the stack is a mapping that grows when it is needed
//   uffd-asked     as uffd-above, and it naps in a signal handler on a stack of its own that says that it has
//   interrupted fuse-asked     code whose stack is there: a walk would go on there; as fuse-above
// Usage: neighbours PLACE [--seconds S]
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "silent_file.h"
#include "target.h"

namespace {

constexpr uint64_t kNapNs = 1'000'000;
constexpr size_t kPage = 4096;
constexpr size_t kStackBytes = 4 * kPage;
constexpr size_t kAboveBytes = 32 * kPage;  // more than a recorder copies of a stack
constexpr size_t kHoleBytes = 64 * kPage;   // less than the kernel keeps free below what grows: nothing comes in
constexpr int kReadWrite = PROT_READ | PROT_WRITE;
constexpr int kAnonymous = MAP_PRIVATE | MAP_ANONYMOUS;

// Where the thread lives, and what it must not see touched.
struct Place {
  char* stack = nullptr;
  size_t stack_bytes = kStackBytes;
  char* above = nullptr;
  size_t above_bytes = kAboveBytes;
};

target::Gate gate;
Place place;
int faults = -1;
bool serves = false;
bool descends = false;
bool forges = false;
std::atomic<uint64_t> naps = 0;
std::atomic<uint64_t> longest_ns = 0;
std::atomic<uint64_t> served = 0;
std::atomic<bool> has_ended = false;

char* Map(char* at, size_t bytes, int protection, int flags, int file = -1) {
  void* memory = mmap(at, bytes, protection, flags | (at != nullptr ? MAP_FIXED : 0), file, 0);
  target::Check(memory != MAP_FAILED, "mmap");
  return static_cast<char*>(memory);
}

// A stack with room above it, and pages without access around both.
Place Lay() {
  char* room = Map(nullptr, kStackBytes + kAboveBytes + 2 * kPage, PROT_NONE, kAnonymous);
  Place laid;
  laid.stack = room + kPage;
  laid.above = laid.stack + kStackBytes;
  return laid;
}

Place LayWithStack() {
  const Place laid = Lay();
  Map(laid.stack, kStackBytes, kReadWrite, kAnonymous);
  return laid;
}

void Register(char* at, size_t bytes) {
  faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api = {};
  api.api = UFFD_API;
  target::Check(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0, "userfaultfd");
  uffdio_register range = {};
  range.range = {reinterpret_cast<uint64_t>(at), bytes};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  target::Check(ioctl(faults, UFFDIO_REGISTER, &range) == 0, "UFFDIO_REGISTER");
}

Place UffdAbove() {
  const Place laid = LayWithStack();
  Map(laid.above, kAboveBytes, kReadWrite, kAnonymous);
  Register(laid.above, kAboveBytes);
  return laid;
}

Place UffdServed() {
  serves = true;
  Place laid = UffdAbove();
  laid.above_bytes = 0;  // it is touched
  return laid;
}

Place UffdStack() {
  const Place laid = Lay();
  Map(laid.stack, kStackBytes + kAboveBytes, kReadWrite, kAnonymous);
  madvise(laid.stack, kStackBytes + kAboveBytes, MADV_NOHUGEPAGE);
  memset(laid.stack, 0, kStackBytes);
  Register(laid.stack, kStackBytes + kAboveBytes);
  return laid;
}

Place FuseAbove() {
  const Place laid = LayWithStack();
  Map(laid.above, kAboveBytes, kReadWrite, MAP_PRIVATE, target::SilentFile::Open(kAboveBytes, 0));
  return laid;
}

Place FuseStack() {
  const Place laid = Lay();
  const int file = target::SilentFile::Open(kStackBytes + kAboveBytes, kStackBytes);
  Map(laid.stack, kStackBytes + kAboveBytes, kReadWrite, MAP_PRIVATE, file);
  memset(laid.stack, 0, kStackBytes);
  return laid;
}

Place UffdAsked() {
  forges = true;
  return UffdAbove();
}

Place FuseAsked() {
  forges = true;
  return FuseAbove();
}

Place SharedAbove() {
  const Place laid = LayWithStack();
  Map(laid.above, kAboveBytes, kReadWrite, MAP_SHARED | MAP_ANONYMOUS);
  return laid;
}

Place MemfdAbove() {
  const Place laid = LayWithStack();
  const int file = memfd_create("neighbour", MFD_CLOEXEC);
  target::Check(file >= 0 && ftruncate(file, kAboveBytes) == 0, "memfd_create");
  Map(laid.above, kAboveBytes, kReadWrite, MAP_SHARED, file);
  return laid;
}

Place FileAbove() {
  const Place laid = LayWithStack();
  Map(laid.above, kAboveBytes, PROT_READ, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  return laid;
}

Place NoneAbove() {
  Place laid = Lay();
  Map(laid.stack, kPage, kReadWrite, kAnonymous);
  laid.stack_bytes = kPage;
  return laid;
}

Place HoleAbove() {
  const Place laid = NoneAbove();
  munmap(laid.stack + kPage, kStackBytes - kPage + kAboveBytes);
  return laid;
}

Place GrowsDown() {
  descends = true;
  char* room = Map(nullptr, kHoleBytes + 2 * kPage, PROT_NONE, kAnonymous);
  munmap(room + kPage, kHoleBytes);
  const Place laid = {room + kPage + kHoleBytes, kPage, nullptr, 0};
  Map(laid.stack, kPage, kReadWrite, kAnonymous | MAP_GROWSDOWN);
  return laid;
}

const std::map<std::string, Place (*)()> kPlaces = {
    {"uffd-above", UffdAbove}, {"uffd-served", UffdServed},   {"uffd-stack", UffdStack},   {"fuse-above", FuseAbove},
    {"fuse-stack", FuseStack}, {"shared-above", SharedAbove}, {"memfd-above", MemfdAbove}, {"file-above", FileAbove},
    {"none-above", NoneAbove}, {"hole-above", HoleAbove},     {"grows-down", GrowsDown},   {"uffd-asked", UffdAsked},
    {"fuse-asked", FuseAsked},
};

void ServeFault() {
  uffd_msg message;
  if (read(faults, &message, sizeof(message)) != sizeof(message) || message.event != UFFD_EVENT_PAGEFAULT) return;
  uffdio_zeropage page = {};
  page.range = {message.arg.pagefault.address & ~(kPage - 1), kPage};
  ioctl(faults, UFFDIO_ZEROPAGE, &page);
  ++served;
}

// Touches what is served, over and over. Ends with the process.
void TakeFaults() {
  for (size_t at = 0;; at = (at + kPage) % kAboveBytes) {
    [[maybe_unused]] const char byte = *const_cast<volatile char*>(place.above + at);
    madvise(place.above + at, kPage, MADV_DONTNEED);
  }
}

}  // namespace

TARGET_FUNCTION void neighbour_nap() {
  const uint64_t before_ns = target::ClockNs(CLOCK_MONOTONIC);
  target::SleepNs(kNapNs);
  if (serves) ServeFault();
  const uint64_t nap_ns = target::ClockNs(CLOCK_MONOTONIC) - before_ns;
  if (nap_ns > longest_ns) longest_ns = nap_ns;
  ++naps;
}

// Each level takes most of a page more.
TARGET_FUNCTION void neighbour_descend(int levels) {
  char room[3000];
  asm volatile("" : : "r"(room) : "memory");
  neighbour_nap();
  if (levels > 1 && !target::Over()) neighbour_descend(levels - 1);
  TARGET_AFTER_CALL;
}

// What it has interrupted was not there; it is again before anybody returns to it.
TARGET_FUNCTION void neighbour_forge(int, siginfo_t*, void* context) {
  greg_t* sp = &static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RSP];
  const greg_t before = *sp;
  *sp = static_cast<greg_t>(reinterpret_cast<uint64_t>(place.above)) + 64;
  neighbour_nap();
  *sp = before;
}

namespace {

void GiveHandlersAStack() {
  constexpr size_t kHandlerBytes = 64 << 10;
  stack_t stack = {};
  stack.ss_sp = Map(nullptr, kHandlerBytes, kReadWrite, kAnonymous);
  stack.ss_size = kHandlerBytes;
  target::Check(sigaltstack(&stack, nullptr) == 0, "sigaltstack");
  struct sigaction action = {};
  action.sa_sigaction = neighbour_forge;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  target::Check(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
}

void LiveThere() {
  while (!target::Over()) {
    if (forges) {
      raise(SIGUSR1);
      continue;
    }
    if (!descends) {
      neighbour_nap();
      continue;
    }
    neighbour_descend(20);
    munmap(place.stack - kHoleBytes, kHoleBytes);  // to grow again
  }
}

void RunThread() {
  pthread_setname_np(pthread_self(), "neighbour");
  neighbour_nap();  // what is bound lazily takes more stack than there is
  gate.Pass();
  naps = 0;
  longest_ns = 0;
  if (forges) GiveHandlersAStack();
  static ucontext_t here;
  static ucontext_t there;
  getcontext(&there);
  there.uc_stack.ss_sp = place.stack;
  there.uc_stack.ss_size = place.stack_bytes;
  there.uc_link = &here;
  makecontext(&there, LiveThere, 0);
  swapcontext(&here, &there);
  has_ended = true;
}

// How many pages of the neighbour are mapped; none has been used by this program.
uint64_t PagesTouched() {
  const int map = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  uint64_t touched = 0;
  for (size_t at = 0; at < place.above_bytes; at += kPage) {
    constexpr uint64_t kPresentOrSwapped = uint64_t{3} << 62;
    uint64_t entry = 0;
    const auto page = static_cast<off_t>(reinterpret_cast<uint64_t>(place.above + at) / kPage);
    target::Check(pread(map, &entry, sizeof(entry), page * 8) == sizeof(entry), "pagemap");
    touched += (entry & kPresentOrSwapped) != 0;
  }
  close(map);
  return touched;
}

}  // namespace

int main(int argc, char** argv) {
  const auto found = kPlaces.find(argc > 1 ? argv[1] : "");
  if (found == kPlaces.end()) {
    fprintf(stderr, "neighbours: unknown place\n");
    return 2;
  }
  place = found->second();
  if (place.above_bytes != 0) target::Check(PagesTouched() == 0, "its neighbour has changed made");
  std::thread(RunThread).detach();
  if (serves) std::thread(TakeFaults).detach();

  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 1));
  gate.Open();
  while (!target::Over()) target::SleepNs(kNapNs);
  constexpr uint64_t kPatienceNs = 1'000'000'000;  // with a thread that hangs
  for (uint64_t waited_ns = 0; waited_ns < kPatienceNs && !has_ended; waited_ns += kNapNs) target::SleepNs(kNapNs);
  target::Value("naps", naps);
  target::Value("longest_ns", longest_ns);
  target::Value("served", served);
  target::Value("has_ended", has_ended ? 1 : 0);
  target::Value("touched", PagesTouched());
  target::DoneAndStay();
  _exit(0);
}
