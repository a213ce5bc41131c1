#include "process/module_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

#include "os/proc_file.h"
#include "process/memory.h"

namespace offcpu {
namespace {

// A file of ours, mapped.
class ModuleFileTest : public ::testing::Test {
 protected:
  explicit ModuleFileTest(const std::string& directory = ::testing::TempDir())
      : path_(directory + "module_file_test-" + std::to_string(getpid())) {}

  void SetUp() override {
    OwnedFd fd(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_TRUE(fd);
    ASSERT_EQ(write(fd.get(), "content", 7), 7);
    address_ = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    ASSERT_NE(address_, MAP_FAILED);
    struct stat st;
    ASSERT_EQ(fstat(fd.get(), &st), 0);
    inode_ = st.st_ino;
    device_ = st.st_dev;
  }
  void TearDown() override {
    munmap(address_, 4096);
    unlink(path_.c_str());
  }

  // Our own mapping as /proc tells it.
  Mapping Mapped() const {
    auto mappings = ParseMaps(ReadProcFile("/proc/self/maps", 64 << 20).value_or(""));
    for (const Mapping& m : *mappings) {
      if (m.begin == reinterpret_cast<uint64_t>(address_)) return m;
    }
    return Mapping();
  }
  static std::string Content(const OwnedFd& fd) {
    char buffer[16] = {};
    const ssize_t n = fd ? pread(fd.get(), buffer, sizeof(buffer), 0) : 0;
    return std::string(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  }

  const std::string path_;
  void* address_ = nullptr;
  ino_t inode_ = 0;
  dev_t device_ = 0;
};

TEST_F(ModuleFileTest, OpensForReadingOnly) {
  OwnedFd fd = OpenMappedFile(getpid(), Mapped());
  EXPECT_EQ(Content(fd), "content");
  EXPECT_EQ(fcntl(fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_TRUE(fcntl(fd.get(), F_GETFD) & FD_CLOEXEC);
}

// Few processes may follow the links in map_files; the others have the path.
TEST_F(ModuleFileTest, ByPathIfThereIsNoSuchMapping) {
  Mapping m;
  m.begin = 0x1000;
  m.end = 0x2000;
  m.inode = inode_;
  m.dev_major = major(device_);
  m.dev_minor = minor(device_);
  m.path = path_;
  EXPECT_EQ(Content(OpenMappedFile(getpid(), m)), "content");
  m.inode = inode_ + 1;
  EXPECT_FALSE(OpenMappedFile(getpid(), m)) << "another file has taken its name";
  m.inode = inode_;
  m.dev_minor = minor(device_) + 1;
  EXPECT_FALSE(OpenMappedFile(getpid(), m)) << "of another file system";
  m.dev_minor = minor(device_);
  m.deleted = true;
  EXPECT_FALSE(OpenMappedFile(getpid(), m));
}

TEST_F(ModuleFileTest, DeletedFile) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to follow map_files";
  unlink(path_.c_str());
  Mapping m = Mapped();
  EXPECT_TRUE(m.deleted);
  EXPECT_EQ(Content(OpenMappedFile(getpid(), m)), "content");
}

// A file system whose numbers are those that the kernel tells of mappings.
class ModuleFileOnTmpfsTest : public ModuleFileTest {
 protected:
  ModuleFileOnTmpfsTest() : ModuleFileTest("/dev/shm/") {}
};

TEST_F(ModuleFileOnTmpfsTest, IsAnotherIfItHasAnotherNumber) {
  Mapping m = Mapped();
  const OwnedFd file(open(m.path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  struct statfs fs;
  ASSERT_EQ(fstatfs(file.get(), &fs), 0);
  ASSERT_EQ(fs.f_type, TMPFS_MAGIC);
  EXPECT_FALSE(IsAnotherFile(file, m));
  EXPECT_FALSE(IsAnotherFile(OwnedFd(), m)) << "nothing is known of it";
  ++m.inode;
  EXPECT_TRUE(IsAnotherFile(file, m));
}

// A fifo would block, a device may do anything.
TEST_F(ModuleFileTest, RegularFilesOnly) {
  const std::string fifo = path_ + ".fifo";
  unlink(fifo.c_str());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero"), std::string("/"), std::string("/none")}) {
    struct stat st = {};
    stat(path.c_str(), &st);
    Mapping m;
    m.begin = 0x1000;
    m.end = 0x2000;
    m.inode = st.st_ino;
    m.path = path;
    EXPECT_FALSE(OpenMappedFile(getpid(), m)) << path;
  }
  unlink(fifo.c_str());
}

TEST_F(ModuleFileTest, FileMemoryReadsWhatIsThere) {
  OwnedFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  FileMemory memory(fd.get());
  EXPECT_EQ(memory.ReadValue<char>(0), 'c');
  EXPECT_EQ(memory.ReadValue<char>(6), 't');
  EXPECT_EQ(memory.ReadValue<char>(7), std::nullopt);
  EXPECT_EQ(memory.ReadValue<uint64_t>(0), std::nullopt);
  EXPECT_EQ(memory.ReadValue<char>(UINT64_MAX), std::nullopt);
  EXPECT_EQ(memory.ReadValue<char>(INT64_MAX), std::nullopt);
}

}  // namespace
}  // namespace offcpu
