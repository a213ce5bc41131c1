// scripts/sframe-toolchain replaces what it made itself, and nothing else. Without a network: stand-ins for apt-get and
// dpkg-deb deliver packages that hold no more than a loader which does nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr char kScript[] = OFFCPU_SOURCE_DIR "/scripts/sframe-toolchain";
constexpr char kMark[] = "made-by-sframe-toolchain";

class SFrameToolchainScript : public CliTest {
 protected:
  void SetUp() override {
    if (RunWords({"dpkg", "--print-architecture"}) != 0 || output_ != "amd64\n") {
      GTEST_SKIP() << "the script is for Debian's amd64";
    }
    std::filesystem::create_directories(Path("stubs"));
    Stub("apt-get", R"(
for word; do
  case $word in Dir::Cache::Archives=*) mkdir -p "${word#*=}" && : >"${word#*=}/binutils.deb" ;; esac
done)");
    Stub("dpkg-deb", R"(
loader=$3/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
mkdir -p "${loader%/*}"
printf '#!/bin/sh\necho "loader $*"\n' >"$loader"
chmod +x "$loader")");
  }
  void Stub(const std::string& name, const std::string& text) {
    const std::string path = Path("stubs/") + name;
    std::ofstream(path) << "#!/bin/sh" << text << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  int RunScript(const std::string& destination, const std::string& with_libc = "0") {
    return RunWords(
        {"sh", "-c", R"(WITH_LIBC=$1 PATH=$0:$PATH exec "$2" "$3")", Path("stubs"), with_libc, kScript, destination});
  }
  std::vector<std::string> Names(const std::string& directory) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
    return names;
  }
};

TEST_F(SFrameToolchainScript, MakesADirectoryAndLeavesItThen) {
  ASSERT_EQ(RunScript(Path("new/tools")), 0) << errors_;
  EXPECT_THAT(Names(Path("new")), UnorderedElementsAre("tools"));
  EXPECT_THAT(Names(Path("new/tools")), UnorderedElementsAre("bin", "root", kMark));
  // It is started from its last place, and from a name elsewhere.
  std::filesystem::create_symlink(Path("new/tools/bin/as"), Path("as"));
  EXPECT_EQ(RunWords({Path("as"), "--version"}), 0) << errors_;
  EXPECT_THAT(output_, HasSubstr("/new/tools/root/usr/bin/x86_64-linux-gnu-as --version\n"));
  Stub("apt-get", "\nexit 1");
  EXPECT_EQ(RunScript(Path("new/tools")), 0) << errors_;
}

TEST_F(SFrameToolchainScript, TakesAnEmptyDirectory) {
  std::filesystem::create_directories(Path("empty"));
  EXPECT_EQ(RunScript(Path("empty")), 0) << errors_;
  EXPECT_TRUE(std::filesystem::exists(Path("empty/bin/as")));
}

TEST_F(SFrameToolchainScript, RefusesWhatItDidNotMake) {
  for (const char* name : {"bin/program", "complete", "notes"}) {
    const std::string destination = Path(std::string("not-ours-") + std::filesystem::path(name).filename().string());
    const std::filesystem::path file = destination + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "precious";
    EXPECT_EQ(RunScript(destination), 1) << name;
    EXPECT_THAT(errors_, HasSubstr("/" + std::filesystem::path(destination).filename().string() +
                                   " was not made by this script"));
    EXPECT_EQ(ReadFile(file), "precious") << name;
  }
  EXPECT_EQ(RunScript(Path("stubs/apt-get")), 1) << "a file";
  EXPECT_TRUE(std::filesystem::is_regular_file(Path("stubs/apt-get")));
}

TEST_F(SFrameToolchainScript, FailsWithoutATrace) {
  ASSERT_EQ(RunScript(Path("new/tools")), 0) << errors_;
  Stub("apt-get", "\nexit 1");
  EXPECT_NE(RunScript(Path("new/tools"), /*with_libc=*/"1"), 0) << "libc is not there, and cannot be fetched";
  EXPECT_THAT(Names(Path("new")), UnorderedElementsAre("tools"));
  EXPECT_THAT(Names(Path("new/tools")), UnorderedElementsAre("bin", "root", kMark));
}

}  // namespace
}  // namespace offcpu::integration
