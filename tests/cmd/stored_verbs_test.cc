// What `offcpu report` and `offcpu diff` say of stored files. Nothing is recorded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "output/format.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class StoredVerbsTest : public ::testing::Test {
 protected:
  StoredVerbsTest() {
    std::filesystem::create_directory(directory_);
    const uint32_t process = fake_.Process(10, "server");
    fake_.Row(process, fake_.Comm("server"), fake_.User({"lock"}), fake_.Kernel({"schedule"}), 300'000'000);
    fake_.Row(process, 0, fake_.User({"epoll_wait"}), 0, 500'000'000);
    fake_.Idle({"", "server: loop"});
    fake_.profile.duration_ns = 1'000'000'000;
    Write("waits.pb.gz");
    fake_.profile.stats.oncpu_period_ns = 10'000'000;
    Write("samples.pb.gz");
  }
  ~StoredVerbsTest() override { std::filesystem::remove_all(directory_); }

  void Write(const std::string& name) const {
    std::ofstream file(directory_ + "/" + name, std::ios::binary);
    WriteProfile(OutputFormat::kPprof, fake_.profile, {}, [&](std::string_view piece) { file << piece; });
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  // The exit status; what it prints, errors too, is in output_.
  int Run(const std::string& words) {
    const std::string command = "cd " + directory_ + "; ASAN_OPTIONS=detect_leaks=0 " OFFCPU_BIN_DIR "/offcpu " + words;
    output_.clear();
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> bytes;
    while (const size_t got = fread(bytes.data(), 1, bytes.size(), pipe)) output_.append(bytes.data(), got);
    return WEXITSTATUS(pclose(pipe));
  }

  const std::string directory_ =
      std::filesystem::temp_directory_path() / ("stored_verbs_test-" + std::to_string(getpid()));
  FakeProfile fake_;
  std::string output_;
};

TEST_F(StoredVerbsTest, AStandardOutputThatTakesNothingIsAnError) {
  for (const char* to : {">/dev/full", ">&-"}) {
    for (const char* words : {"report waits.pb.gz ", "--help ", "help report "}) {
      EXPECT_EQ(Run(std::string(words) + to + " 2>errors; code=$?; cat errors; exit $code; true"), 1) << words << to;
      EXPECT_THAT(output_, StartsWith("offcpu: cannot write to standard output: ")) << words << to;
    }
  }
}

TEST_F(StoredVerbsTest, TheStandardOutputTakesAnyFormat) {
  EXPECT_EQ(Run("report waits.pb.gz -o - --format folded --idle=show"), 0);
  const std::string folded = output_;
  EXPECT_THAT(folded, HasSubstr("server;server;lock;-;schedule_[k] 300000\n"));
  EXPECT_EQ(Run("report waits.pb.gz -o /dev/stdout --format folded --idle=show"), 0);
  EXPECT_EQ(output_, folded);
  EXPECT_EQ(Run("report waits.pb.gz -o named --format folded --idle=show && cat named"), 0);
  EXPECT_EQ(output_, folded);
  EXPECT_EQ(Run("report waits.pb.gz -o named.txt --format folded --idle=show && cat named.txt"), 0);
  EXPECT_THAT(output_, HasSubstr("PROCESS")) << "a suffix says it first";
  EXPECT_EQ(Run("report waits.pb.gz -o -"), 2);
  EXPECT_THAT(output_, HasSubstr("-: the suffix chooses the format"));
  EXPECT_THAT(output_, HasSubstr(", or name the format with --format"));
}

TEST_F(StoredVerbsTest, ADirectoryIsNoFile) {
  EXPECT_EQ(Run("report waits.pb.gz -o / --format txt"), 2);
  EXPECT_EQ(output_, "offcpu: cannot write /: it is a directory\n");
}

TEST_F(StoredVerbsTest, OfOtherFilesItSaysWhatCanBeRead) {
  for (const char* name : {"waits.html", "waits.folded", "waits.json", "waits.txt"}) {
    EXPECT_EQ(Run(std::string("report ") + name), 2);
    EXPECT_THAT(output_, HasSubstr(std::string(name) +
                                   ": only .pb.gz files, which hold the whole recording, can be read again"));
  }
}

TEST_F(StoredVerbsTest, ACauseMayBeWrittenAsItIsSpoken) {
  for (const char* cause : {"'block io'", "Block-I/O", "BLOCKIO", "'page_fault'"})
    EXPECT_EQ(Run(std::string("report waits.pb.gz --cause ") + cause), 0) << output_;
  EXPECT_EQ(Run("report waits.pb.gz --cause blockade"), 2);
}

// As `offcpu dump` writes it of a time without windows.
TEST_F(StoredVerbsTest, ReportTakesAFileOfNoTime) {
  fake_ = {};
  Write("nothing.pb.gz");
  EXPECT_EQ(Run("report nothing.pb.gz"), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("recorded      0 ns: 0 intervals of 0 processes, 0 rows\n"));
  EXPECT_EQ(Run("report nothing.pb.gz --since 2001-01-01"), 2);
}

// Each file by itself is one, and five of them would begin again at 0.
TEST_F(StoredVerbsTest, ReportRefusesFilesWhoseSumNoNumberHolds) {
  const auto write = [&](const std::string& name, uint64_t ns) {
    fake_ = {};
    fake_.Row(fake_.Process(10, "server"), fake_.Comm("server"), fake_.User({"lock"}), fake_.Kernel({"schedule"}), ns);
    fake_.profile.duration_ns = 1'000'000'000;
    Write(name);
  };
  constexpr uint64_t kHalf = uint64_t{1} << 62;
  for (const char* name : {"a.pb.gz", "b.pb.gz", "c.pb.gz", "d.pb.gz", "e.pb.gz"}) write(name, kHalf);
  write("less.pb.gz", kHalf - 1);
  EXPECT_EQ(Run("report a.pb.gz b.pb.gz c.pb.gz d.pb.gz e.pb.gz"), 1);
  EXPECT_EQ(
      output_,
      "offcpu: b.pb.gz and the files before it have more than 292 years of waits, which is too much to add up: give "
      "fewer files\n");
  for (const char* form : {"json", "html", "folded", "otlp", "pb.gz"})
    EXPECT_EQ(Run(std::string("report a.pb.gz b.pb.gz -o all.") + form), 1) << form;
  EXPECT_EQ(Run("report less.pb.gz a.pb.gz -o all.json"), 0) << output_;
  EXPECT_THAT(Text("all.json"), HasSubstr("\"blocked_ns\":9223372036854775807,"));
  EXPECT_EQ(Run("report less.pb.gz a.pb.gz -o all.pb.gz && " OFFCPU_BIN_DIR "/offcpu report all.pb.gz"), 0) << output_;
}

TEST_F(StoredVerbsTest, DiffTakesAValueThatBothFilesHave) {
  EXPECT_EQ(Run("diff waits.pb.gz samples.pb.gz --value wall"), 2);
  EXPECT_THAT(output_, HasSubstr("--value wall: waits.pb.gz has no time on a CPU, but the other file has\n"));
  EXPECT_EQ(Run("diff samples.pb.gz waits.pb.gz --value wall"), 2);
  EXPECT_THAT(output_, HasSubstr("--value wall: waits.pb.gz has no time on a CPU, but the other file has\n"));
  EXPECT_EQ(Run("diff waits.pb.gz samples.pb.gz --value cpu"), 2);
  EXPECT_EQ(Run("diff waits.pb.gz waits.pb.gz --value wall"), 0);
  for (const char* files : {"waits.pb.gz samples.pb.gz", "samples.pb.gz waits.pb.gz", "waits.pb.gz waits.pb.gz"}) {
    EXPECT_EQ(Run(std::string("diff ") + files), 0);
    EXPECT_THAT(output_, StartsWith("before   300 ms a second (off_cpu), "));
  }
  EXPECT_EQ(Run("diff samples.pb.gz samples.pb.gz"), 0);
  EXPECT_THAT(output_, StartsWith("before   300 ms a second (wall), "));
}

TEST_F(StoredVerbsTest, DiffWritesAPage) {
  fake_.Row(0, 0, fake_.User({"new"}), 0, 100'000'000);
  fake_.Idle({"", "server: loop", ""});
  Write("later.pb.gz");
  EXPECT_EQ(Run("diff waits.pb.gz later.pb.gz -o a.html -o a.json"), 0);
  EXPECT_THAT(output_, IsEmpty()) << "it hides and shows waits for work itself";
  const std::string page = Text("a.html");
  EXPECT_THAT(page, StartsWith("<!DOCTYPE html>"));
  EXPECT_THAT(Text("a.json"), HasSubstr("\"frames\":[\"server\",\"server\",\"new\",\"-\",\"schedule_[k]\"]"))
      << "of the same run";
  EXPECT_EQ(Run("diff waits.pb.gz waits.pb.gz -o same.html"), 0);
  EXPECT_NE(Text("same.html"), page);
  EXPECT_EQ(Run("report waits.pb.gz -o one.html"), 0);
  EXPECT_NE(Text("same.html"), Text("one.html"));
  EXPECT_EQ(Run("diff waits.pb.gz later.pb.gz -o no/such.html"), 2);
  EXPECT_EQ(Run("diff waits.pb.gz later.pb.gz -o a.otlp"), 2);
  EXPECT_THAT(output_, HasSubstr("a.otlp: diff writes .html, .folded, .json or .txt;"));
}

TEST_F(StoredVerbsTest, DiffSaysWhatAFoldedFileDoesNotHold) {
  EXPECT_EQ(Run("diff waits.pb.gz waits.pb.gz -o a.folded"), 0);
  EXPECT_EQ(output_, "hidden   waits for work, 500 ms a second before, 500 ms after; --idle=show shows them\n");
  EXPECT_EQ(Run("diff waits.pb.gz waits.pb.gz -o a.folded --idle=show"), 0);
  EXPECT_THAT(output_, IsEmpty());
  EXPECT_EQ(Run("diff waits.pb.gz waits.pb.gz -o a.json -o a.txt"), 0);
  EXPECT_THAT(output_, IsEmpty()) << "which say it themselves";
}

}  // namespace
}  // namespace offcpu
