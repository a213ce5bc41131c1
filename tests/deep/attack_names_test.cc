// What a user without rights does with the files that his processes map, and with maps of code that they make: the
// service lives, names of others' functions stay what they are, and his own files are all that he learns of.
#include <elf.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "os/owned_fd.h"
#include "tests/harness/confined_service.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;
constexpr uint64_t kCodeAt = 0x10'0000'0000;  // of code that an attacker makes
// What the service may hold beside limits.memory, of which the default is 256 MiB: its own text and libraries, what is
// read at a time, what allocators keep.
constexpr uint64_t kMostResident = (256u + 96u) << 20;

// A process of nobody's that does `attack`, which says when it is ready. Killed at the end.
class Attacker {
 public:
  explicit Attacker(const std::function<void(const std::function<void()>& ready)>& attack) {
    std::array<int, 2> ready = {};
    if (pipe2(ready.data(), O_CLOEXEC) != 0) return;
    OwnedFd come(ready[0]);
    OwnedFd tell(ready[1]);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(1);
      attack([&tell] { (void)!write(tell.get(), "x", 1); });
      _exit(0);
    }
    tell.reset();
    char byte = 0;
    EXPECT_EQ(read(come.get(), &byte, 1), 1) << "the attack could not begin";
  }
  ~Attacker() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    unlink(MapPath().c_str());
  }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  pid_t pid() const { return pid_; }
  std::string MapPath() const { return "/tmp/perf-" + std::to_string(pid_) + ".map"; }

 private:
  pid_t pid_ = -1;
};

// Sleeps in code of its own making: nothing but a map says what it is called.
void SleepInMadeCode() {
  // push rbp; mov rbp, rsp; mov eax, SYS_nanosleep; syscall; pop rbp; ret
  constexpr std::array<uint8_t, 13> kCode = {0x55, 0x48, 0x89, 0xe5, 0xb8, 35, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3};
  void* code = mmap(reinterpret_cast<void*>(kCodeAt), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (code == MAP_FAILED) _exit(1);
  std::memcpy(code, kCode.data(), kCode.size());
  const timespec time = {.tv_sec = 0, .tv_nsec = 10'000'000};
  while (true) reinterpret_cast<long (*)(const timespec*, timespec*)>(code)(&time, nullptr);
}

std::string MapLine(const std::string& name) {
  std::ostringstream line;
  line << std::hex << kCodeAt << " 20 " << name << "\n";
  return line.str();
}

class AttackNamesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    service_ = ConfinedService::Start("");
    if (service_ == nullptr) GTEST_SKIP() << "no cgroups for memory and tasks";
    ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  }

  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  // Stacks of one process since the service began, or of all for 0.
  std::string Dump(pid_t pid) {
    std::vector<std::string> words = {"dump", "-o", Path("dump.folded"), "--time-unit", "ns", "--idle=show"};
    if (pid != 0) words.insert(words.end(), {"-p", std::to_string(pid)});
    const Answer answer = service_->Ask(words);
    EXPECT_EQ(answer.code, 0) << answer.errors << service_->log();
    std::ifstream file(Path("dump.folded"));
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // Dumps until one has `words`, which it has in the end; the last one.
  std::string DumpWith(pid_t pid, const std::string& words) {
    std::string text;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      text = Dump(pid);
    } while (text.find(words) == std::string::npos && std::chrono::steady_clock::now() < end);
    EXPECT_THAT(text, HasSubstr(words));
    return text;
  }

  struct Sleeps {
    uint64_t all_ns = 0;
    uint64_t named_ns = 0;
    std::string lines;
  };

  // A program of root's that waits in functions of known names keeps its stacks, all but a hundredth of the time of one
  // that sleeps. Only its sleeps count: while its threads start they wait elsewhere, on a slow host for long. Beside an
  // attack of root's that costs the service its budget, root's short waits are sampled, and hardly one may be a sleep
  // of a run. So there are as many runs as it takes.
  void ExpectOthersKeepTheirStacks() {
    Sleeps sleeps;
    for (int run = 0; run < 20 && sleeps.all_ns < 1'000'000'000u; ++run) AddSleeps(&sleeps);
    EXPECT_GT(sleeps.all_ns, 1'000'000'000u) << sleeps.lines;
    EXPECT_GE(sleeps.named_ns, sleeps.all_ns - sleeps.all_ns / 100) << sleeps.lines;
  }

  void AddSleeps(Sleeps* sleeps) {
    const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "4"});
    ASSERT_NE(target, nullptr);
    target->Go();
    target->AwaitDone();
    const std::string text = Dump(target->pid());
    sleeps->lines += text;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("w_nanosleep") == std::string::npos || line.find("do_nanosleep") == std::string::npos) continue;
      const uint64_t ns = std::stoull(line.substr(line.rfind(' ')));
      sleeps->all_ns += ns;
      if (line.find("wait_in_nanosleep") != std::string::npos) sleeps->named_ns += ns;
    }
  }

  void ExpectBounded() {
    EXPECT_TRUE(service_->alive()) << service_->log();
    EXPECT_LT(service_->peak_resident_bytes(), kMostResident) << service_->Account();
  }

  TemporaryDirectory directory_;
  std::unique_ptr<ConfinedService> service_;
};

// A file of root's with lines of the form of a map, which nobody else may read.
TEST_F(AttackNamesTest, RootsFilesAreNotReadAsMaps) {
  std::ofstream(Path("secret")) << MapLine("secret_of_root");
  ASSERT_EQ(chmod(Path("secret").c_str(), 0600), 0);
  {
    const Attacker attacker([this](const auto& ready) {
      const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      if (symlink(Path("secret").c_str(), map.c_str()) != 0) _exit(1);
      ready();
      SleepInMadeCode();
    });
    EXPECT_THAT(DumpWith(attacker.pid(), "[unknown] 0x10000000"), Not(HasSubstr("secret")));
    EXPECT_GT(service_->LossCount("perf map refused: symbolic link"), 0u);
  }
  {
    // To make a hard link takes no right to read, where the kernel is not set to ask for it: root stands in for that.
    const Attacker attacker([](const auto& ready) {
      ready();
      SleepInMadeCode();
    });
    ASSERT_EQ(link(Path("secret").c_str(), attacker.MapPath().c_str()), 0);
    const Attacker same([](const auto& ready) {
      const std::string map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      ready();
      for (int i = 0; i < 1000 && access(map.c_str(), F_OK) != 0; ++i) usleep(1000);
      SleepInMadeCode();
    });
    ASSERT_EQ(link(Path("secret").c_str(), same.MapPath().c_str()), 0);
    EXPECT_THAT(DumpWith(same.pid(), "[unknown] 0x10000000"), Not(HasSubstr("secret")));
    EXPECT_GT(service_->LossCount("perf map refused: several names"), 0u);
  }
  const Attacker honest([](const auto& ready) {
    std::ofstream("/tmp/perf-" + std::to_string(getpid()) + ".map") << MapLine("function_of_mine");
    ready();
    SleepInMadeCode();
  });
  DumpWith(honest.pid(), "function_of_mine");
}

TEST_F(AttackNamesTest, AMapOfTinyLinesCostsLittle) {
  const Attacker attacker([](const auto& ready) {
    std::ofstream map("/tmp/perf-" + std::to_string(getpid()) + ".map");
    std::string lines;
    for (int i = 0; i < 1 << 17; ++i) lines += std::to_string(i % 10) + " 1 a\n";
    for (int i = 0; i < 86; ++i) map << lines;  // more than 64 MiB
    map << MapLine("too_late_in_the_map");
    map.flush();
    ready();
    SleepInMadeCode();
  });
  const uint64_t before = service_->resident_bytes();
  DumpWith(attacker.pid(), "[unknown] 0x10000000");
  EXPECT_LT(service_->peak_resident_bytes(), before + (64u << 20)) << service_->Account();
  ExpectBounded();
}

// The same tables and build id, and other names.
TEST_F(AttackNamesTest, ACopyRenamesNothingOfTheOriginal) {
  const std::string original = BinDirectory() + "/targets/waits";
  std::ifstream file(original, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::string name = "wait_in_nanosleep";
  const std::string other = "renamed_by_nobody";
  size_t count = 0;
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1), ++count)
    bytes.replace(at, name.size(), other);
  ASSERT_GT(count, 0u) << original;
  std::ofstream(Path("copy"), std::ios::binary) << bytes;
  ASSERT_EQ(chmod(Path("copy").c_str(), 0755), 0);
  ASSERT_EQ(chown(Path("copy").c_str(), kNobody, kNobody), 0);
  const std::string path = Path("copy");
  const Attacker attacker([&path](const auto& ready) {
    std::array<int, 2> input = {};
    if (pipe(input.data()) != 0 || dup2(input[0], STDIN_FILENO) < 0 || write(input[1], "\n", 1) != 1) _exit(1);
    if (freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
    ready();
    execl(path.c_str(), path.c_str(), "--seconds", "20", nullptr);
    _exit(1);
  });
  EXPECT_THAT(DumpWith(attacker.pid(), other), Not(HasSubstr(name)));
  ExpectOthersKeepTheirStacks();
  EXPECT_THAT(Dump(attacker.pid()), HasSubstr(other));
}

// A file of a few KiB that says it holds tables of 64 MiB each, and does: of zeros.
class SparseObject {
 public:
  static constexpr uint64_t kMiB = 1 << 20;
  static constexpr uint64_t kTable = 64 * kMiB - 4096;
  static constexpr uint64_t kHeader = 16 * kMiB;
  static constexpr uint64_t kEhFrame = 80 * kMiB;
  static constexpr uint64_t kSFrame = 144 * kMiB;
  static constexpr uint64_t kGo = 208 * kMiB;
  static constexpr uint64_t kText = 272 * kMiB;
  static constexpr uint64_t kDebug = 273 * kMiB;

  // `number`: each has tables of its own.
  static bool Write(const std::string& path, uint32_t number) {
    const OwnedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755));
    if (!fd) return false;
    const auto put = [&fd](uint64_t at, const void* bytes, size_t size) {
      return pwrite(fd.get(), bytes, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
    };
    Elf64_Ehdr file = {};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_type = ET_DYN;
    file.e_machine = EM_X86_64;
    file.e_version = EV_CURRENT;
    file.e_phoff = sizeof(file);
    file.e_phentsize = sizeof(Elf64_Phdr);
    file.e_phnum = 4;
    file.e_shoff = 4096;
    file.e_shentsize = sizeof(Elf64_Shdr);
    file.e_shnum = 8;
    file.e_shstrndx = 7;
    const Elf64_Phdr segments[] = {{PT_LOAD, PF_R, 0, 0, 0, kText, kText, 4096},
                                   {PT_LOAD, PF_R | PF_X, kText, kText, kText, 4096, 4096, 4096},
                                   {PT_GNU_EH_FRAME, PF_R, kHeader, kHeader, kHeader, kTable, kTable, 4},
                                   {0x6474e554, PF_R, kSFrame, kSFrame, kSFrame, kTable, kTable, 8}};
    // Version 1; the address of .eh_frame is 8 bytes, as it is; no search table.
    const uint8_t header[] = {1, 4, 0xff, 0xff, 0, 0, 0, kEhFrame >> 24, 0, 0, 0, 0};
    const uint32_t entry[] = {static_cast<uint32_t>(kTable - 8), 0, number};  // one, as long as the table
    const char names[] = "\0.text\0.eh_frame\0.sframe\0.gopclntab\0.note.go.buildid\0.debug_frame\0.shstrtab";
    std::vector<uint8_t> packed(compressBound(kTable));
    uLongf packed_size = packed.size();
    const std::vector<uint8_t> zeros(kTable);
    if (compress(packed.data(), &packed_size, zeros.data(), zeros.size()) != Z_OK) return false;
    const Elf64_Chdr compressed = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = kTable, .ch_addralign = 8};
    const auto section = [](uint32_t name, uint32_t type, uint64_t flags, uint64_t at, uint64_t size) {
      return Elf64_Shdr{
          .sh_name = name, .sh_type = type, .sh_flags = flags, .sh_addr = at, .sh_offset = at, .sh_size = size};
    };
    const Elf64_Shdr sections[] = {{},
                                   section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kText, 4096),
                                   section(7, SHT_PROGBITS, SHF_ALLOC, kEhFrame, kTable),
                                   section(17, SHT_PROGBITS, SHF_ALLOC, kSFrame, kTable),
                                   section(25, SHT_PROGBITS, SHF_ALLOC, kGo, kTable),
                                   section(36, SHT_NOTE, SHF_ALLOC, kGo, 16),
                                   section(53, SHT_PROGBITS, SHF_COMPRESSED, kDebug, sizeof(compressed) + packed_size),
                                   section(66, SHT_STRTAB, 0, 8192, sizeof(names))};
    return put(0, &file, sizeof(file)) && put(sizeof(file), segments, sizeof(segments)) &&
           put(4096, sections, sizeof(sections)) && put(8192, names, sizeof(names)) &&
           put(kHeader, header, sizeof(header)) && put(kEhFrame, entry, sizeof(entry)) &&
           put(kSFrame + kTable - 1, &number, 1) && put(kText, &number, sizeof(number)) &&
           put(kDebug, &compressed, sizeof(compressed)) && put(kDebug + sizeof(compressed), packed.data(), packed_size);
  }

  static bool Map(const std::string& path) {
    const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char* base = static_cast<char*>(mmap(nullptr, kText + 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0));
    return base != MAP_FAILED && mmap(base + kText, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd.get(),
                                      static_cast<off_t>(kText)) != MAP_FAILED;
  }
};

TEST_F(AttackNamesTest, SparseTablesCostTheirUserAndNobodyElse) {
  std::vector<std::string> paths;
  for (uint32_t i = 0; i < 4; ++i) {
    paths.push_back(Path("sparse" + std::to_string(i)));
    ASSERT_TRUE(SparseObject::Write(paths.back(), i + 1));
    struct stat st;
    ASSERT_EQ(stat(paths.back().c_str(), &st), 0);
    EXPECT_LT(st.st_blocks * 512, 200 << 10);
  }
  const auto attack = [&paths](const auto& ready) {
    for (const std::string& path : paths) {
      if (!SparseObject::Map(path)) _exit(1);
    }
    ready();
    while (true) usleep(10'000);
  };
  const Attacker one(attack);
  const Attacker two(attack);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (service_->LossCount("over its user's share of memory") == 0 && std::chrono::steady_clock::now() < end) {
    Dump(one.pid());
  }
  EXPECT_GT(service_->LossCount("over its user's share of memory"), 0u);
  ExpectOthersKeepTheirStacks();
  ExpectBounded();
}

// Pieces of one file, mapped executable as often as the kernel lets a process do so.
TEST_F(AttackNamesTest, TensOfThousandsOfMappingsBlindNobody) {
  const std::string path = BinDirectory() + "/targets/waits";
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (int i = 0; i < 3; ++i) {
    attackers.push_back(std::make_unique<Attacker>([&path](const auto& ready) {
      const OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
      for (int n = 0; n < 30'000; ++n) {  // a hole behind each keeps them apart
        char* two = static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 4096));
        if (two == MAP_FAILED || munmap(two + 4096, 4096) != 0) _exit(1);
      }
      ready();
      while (true) {
        usleep(5'000);
        void* page = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 4096);  // its code changes
        munmap(page, 4096);
      }
    }));
  }
  ExpectOthersKeepTheirStacks();
  EXPECT_GT(service_->LossCount("executable mapping left out: too many in one process"), 0u);
  ExpectBounded();
}

}  // namespace
}  // namespace offcpu::integration
