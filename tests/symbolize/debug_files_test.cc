#include "symbolize/debug_files.h"

#include <sys/stat.h>

#include <string>

#include "fixtures.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

class DebugFilesTest : public ::testing::Test {
 protected:
  std::string ByBuildId(const std::string& id) const {
    return ".build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
  }

  bool OpensByLink(const std::string& path, const std::string& build_id) {
    SpanMemory memory = MemoryOf(stripped_);
    auto elf = ElfFile::Parse(memory);
    return elf.ok() && OpenDebugFileByLink(directory_.path(), path, *elf, build_id);
  }

  TemporaryDirectory directory_;
  std::string stripped_ = Contents(kStripped);
  std::string separate_ = Contents(kSeparate);
  std::string build_id_ = BuildIdOf(kFull);
};

TEST_F(DebugFilesTest, FindsAFileByItsBuildId) {
  ASSERT_EQ(build_id_.size(), 40u);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_));
  directory_.Write(ByBuildId(build_id_), separate_);
  EXPECT_TRUE(OpenDebugFileByBuildId(directory_.path(), build_id_));
}

// A build id is no proof, and the file may be anybody's secret.
TEST_F(DebugFilesTest, OnlyWhatAnybodyMayRead) {
  directory_.Write(ByBuildId(build_id_), separate_);
  const std::string path = directory_.path() + "/" + ByBuildId(build_id_);
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_));
  ASSERT_EQ(chmod(path.c_str(), 0646), 0);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_)) << "anybody may have written it";
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_TRUE(OpenDebugFileByBuildId(directory_.path(), build_id_));
  if (getuid() != 0) return;
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_)) << "another user's";
}

TEST_F(DebugFilesTest, SymbolicLinksAreRootsToo) {
  directory_.Write("usr/bin/program.debug", separate_);
  directory_.Write(ByBuildId(build_id_), "");
  const std::string path = directory_.path() + "/" + ByBuildId(build_id_);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("../../usr/bin/program.debug", path.c_str()), 0);
  EXPECT_TRUE(OpenDebugFileByBuildId(directory_.path(), build_id_));
  if (getuid() != 0) return;
  ASSERT_EQ(lchown(path.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_));
}

TEST_F(DebugFilesTest, AFileWithAnotherBuildIdIsNotTheOne) {
  std::string other = build_id_;
  other.back() = other.back() == '0' ? '1' : '0';
  directory_.Write(ByBuildId(other), separate_);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), other));
  directory_.Write(ByBuildId(build_id_), "not an ELF file");
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_));
}

TEST_F(DebugFilesTest, ABuildIdThatIsNoHexNumberNamesNoFile) {
  for (const char* id : {"", "ab", "../../../../etc/passwd", "ABCDEF", "ab/cdef"}) {
    EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), id)) << id;
  }
}

// Would wait for a writer if it were opened as a file is.
TEST_F(DebugFilesTest, AFifoIsNotOpened) {
  directory_.Write(ByBuildId(build_id_), "");
  std::string path = directory_.path() + "/" + ByBuildId(build_id_);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(OpenDebugFileByBuildId(directory_.path(), build_id_));
}

TEST_F(DebugFilesTest, FindsAFileByTheLinkAndTheDirectoryOfTheModule) {
  EXPECT_FALSE(OpensByLink("/usr/lib/libfixture.so", build_id_));
  directory_.Write("usr/lib/separate.debug", separate_);
  EXPECT_TRUE(OpensByLink("/usr/lib/libfixture.so", build_id_));
  EXPECT_TRUE(OpensByLink("/usr/lib/libfixture.so", ""));
  EXPECT_FALSE(OpensByLink("/usr/libfixture.so", build_id_));
  EXPECT_FALSE(OpensByLink("libfixture.so", build_id_));
}

TEST_F(DebugFilesTest, ALinkedFileMustHaveTheCrcAndTheBuildId) {
  directory_.Write("usr/lib/separate.debug", separate_);
  EXPECT_FALSE(OpensByLink("/usr/lib/libfixture.so", "abcdef"));
  separate_.back() ^= 1;
  directory_.Write("usr/lib/separate.debug", separate_);
  EXPECT_FALSE(OpensByLink("/usr/lib/libfixture.so", ""));
}

TEST_F(DebugFilesTest, APathDoesNotLeadOutOfTheDirectory) {
  directory_.Write("usr/separate.debug", separate_);
  directory_.Write("usr/lib/other", "");
  EXPECT_FALSE(OpensByLink("/usr/lib/../libfixture.so", build_id_));
}

TEST_F(DebugFilesTest, ALinkThatIsCutOrLeadsElsewhereIsNone) {
  directory_.Write("usr/lib/separate.debug", separate_);
  directory_.Write("usr/separate.debug", separate_);
  size_t name = stripped_.find("separate.debug");
  ASSERT_NE(name, std::string::npos);
  std::string whole = stripped_;
  stripped_.replace(name, 3, "../");
  EXPECT_FALSE(OpensByLink("/usr/lib/libfixture.so", build_id_));
  stripped_ = whole;
  stripped_[name] = '\0';
  EXPECT_FALSE(OpensByLink("/usr/lib/libfixture.so", build_id_));
}

}  // namespace
}  // namespace offcpu
