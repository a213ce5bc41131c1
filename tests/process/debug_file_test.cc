#include "process/debug_file.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {
namespace {

// An ELF file of sections only: a build id, and a symbol table or a link to the file that has it.
std::string ElfWith(uint8_t build_id, uint32_t type, const std::string& name, const std::string& content) {
  const std::string names = std::string(1, '\0') + name + std::string(1, '\0');
  const size_t link_name = 1;
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 4;
  header.e_shstrndx = 3;
  header.e_shoff = sizeof(header);
  const char note[] = {4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, static_cast<char>(build_id), 1, 2, 3};
  const size_t note_at = sizeof(header) + 4 * sizeof(Elf64_Shdr);
  const size_t content_at = note_at + sizeof(note);
  const size_t names_at = content_at + content.size();
  const Elf64_Shdr sections[4] = {
      {},
      {.sh_type = SHT_NOTE, .sh_offset = note_at, .sh_size = sizeof(note)},
      {.sh_name = link_name, .sh_type = type, .sh_offset = content_at, .sh_size = content.size()},
      {.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = names.size()}};
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  file.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  return file + std::string(note, sizeof(note)) + content + names;
}

const std::string kProgram = ElfWith(0xab, SHT_PROGBITS, ".gnu_debuglink", std::string("p.debug\0\1\2\3\4", 12));
const std::string kDebug = ElfWith(0xab, SHT_SYMTAB, ".symtab", "");
constexpr char kBuildId[] = "ab010203";

// A directory that is the root of a child of this process, which is mapped from there.
class DebugFileTest : public ::testing::Test {
 protected:
  DebugFileTest() {
    std::string name = ::testing::TempDir() + "offcpu-XXXXXX";
    root_ = std::filesystem::canonical(mkdtemp(name.data()));
  }
  void SetUp() override {
    if (getuid() != 0) GTEST_SKIP() << "only root can change its root";
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      const char byte = chroot(root_.c_str()) == 0 ? 1 : 0;
      if (write(ready[1], &byte, 1) == 1) pause();
      _exit(0);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(byte, 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~DebugFileTest() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    std::filesystem::remove_all(root_);
  }

  std::string Write(const std::string& path, const std::string& bytes = kDebug) const {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    EXPECT_EQ(chmod(file.c_str(), 0644), 0);
    return file;
  }
  // What is found is what has `path` below the root; an empty path stands for nothing.
  void ExpectFound(const std::string& path, const std::string& build_id = kBuildId,
                   const std::string& program = "/opt/bin/p") const {
    const TrustedFile found = Open(build_id, program);
    ASSERT_EQ(static_cast<bool>(found.file), !path.empty());
    struct stat st;
    struct stat expected;
    if (path.empty()) return;
    ASSERT_EQ(fstat(found.file.get(), &st), 0);
    ASSERT_EQ(stat((root_ + path).c_str(), &expected), 0);
    EXPECT_EQ(st.st_ino, expected.st_ino) << path;
  }
  // For a process of that user, which is root's child in truth, and an object of `owner`.
  TrustedFile Open(const std::string& build_id = kBuildId, const std::string& program = "/opt/bin/p",
                   const std::string& file = kProgram, uid_t user = 0, uid_t owner = 0) const {
    const SpanMemory memory(0, std::as_bytes(std::span(file)));
    const absl::StatusOr<ElfFile> elf = ElfFile::Parse(memory);
    EXPECT_TRUE(elf.ok());
    Module object;
    object.path = program;
    object.build_id = build_id;
    object.file = OwnedFd(memfd_create("p", MFD_CLOEXEC));
    EXPECT_EQ(fchown(object.file.get(), owner, owner), 0);
    return OpenDebugFileOfTarget(child_, {.uid = user}, object, *elf);
  }

  std::string root_;
  pid_t child_ = -1;
};

TEST_F(DebugFileTest, IsLookedForInTheOrderThatDebuggersUse) {
  ExpectFound("");
  const std::vector<std::string> places = {"/usr/lib/debug/opt/bin/p.debug", "/opt/bin/.debug/p.debug",
                                           "/opt/bin/p.debug", "/usr/lib/debug/.build-id/ab/010203.debug"};
  for (const std::string& place : places) {
    Write(place);
    ExpectFound(place);
  }
}

// A process with another root directory in the same mount namespace maps files whose paths begin with its root.
TEST_F(DebugFileTest, ThePathMayBeginWithTheRoot) {
  Write("/opt/bin/.debug/p.debug");
  ExpectFound("/opt/bin/.debug/p.debug", kBuildId, root_ + "/opt/bin/p");
}

TEST_F(DebugFileTest, MustHaveTheBuildId) {
  Write("/opt/bin/p.debug", ElfWith(0xac, SHT_SYMTAB, ".symtab", ""));
  ExpectFound("");
  Write("/opt/bin/.debug/p.debug");
  ExpectFound("/opt/bin/.debug/p.debug");
}

TEST_F(DebugFileTest, MustHaveSymbols) {
  Write("/opt/bin/p.debug", kProgram);
  ExpectFound("");
}

// Its CRC is compared by those who read names.
TEST_F(DebugFileTest, WithoutABuildIdTheLinkAloneNamesIt) {
  Write("/usr/lib/debug/.build-id/ab/010203.debug");
  ExpectFound("", "");
  Write("/opt/bin/p.debug", ElfWith(0xac, SHT_SYMTAB, ".symtab", ""));
  ExpectFound("/opt/bin/p.debug", "");
}

TEST_F(DebugFileTest, MustBeTrusted) {
  const std::string path = Write("/opt/bin/p.debug");
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  ExpectFound("");
  EXPECT_EQ(Open().refusal, FileRefusal::kOtherOwner);
  ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  ASSERT_EQ(chmod(path.c_str(), 0646), 0);
  EXPECT_EQ(Open().refusal, FileRefusal::kWritable);
}

// The names are those of all processes that map the object.
TEST_F(DebugFileTest, ItsOwnerIsTheObjectsOrRoot) {
  const std::string path = Write("/opt/bin/p.debug");
  EXPECT_TRUE(Open(kBuildId, "/opt/bin/p", kProgram, /*user=*/12345, /*owner=*/12345).file) << "root's";
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(Open(kBuildId, "/opt/bin/p", kProgram, /*user=*/12345, /*owner=*/12345).file);
  const TrustedFile of_roots = Open(kBuildId, "/opt/bin/p", kProgram, /*user=*/12345, /*owner=*/0);
  EXPECT_FALSE(of_roots.file);
  EXPECT_EQ(of_roots.refusal, FileRefusal::kOtherOwner);
}

// Such a file of the host is not the process's.
TEST_F(DebugFileTest, ALinkDoesNotLeadOutOfTheRoot) {
  const std::string outside = root_ + ".outside";
  std::ofstream(outside, std::ios::binary) << kDebug;
  std::filesystem::create_directories(root_ + "/opt/bin");
  std::filesystem::create_symlink(outside, root_ + "/opt/bin/p.debug");
  EXPECT_EQ(Open().refusal, FileRefusal::kSymbolicLink);
  std::filesystem::remove(outside);
  Write("/lib/p.debug");
  ExpectFound("/lib/p.debug", kBuildId, "/../../lib/p");
}

TEST_F(DebugFileTest, AFileWithAllSymbolsNeedsNone) {
  Write("/opt/bin/p.debug");
  EXPECT_FALSE(Open(kBuildId, "/opt/bin/p", kDebug).file);
}

}  // namespace
}  // namespace offcpu
