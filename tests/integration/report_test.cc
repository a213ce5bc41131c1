// Recordings in every format, and as `offcpu report` writes them again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/harness/cli.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Pprof : public CliTest {
 protected:
  void RecordWaits() {
    target_ = StartedTarget({"waits", "--seconds", "20"});
    ASSERT_NE(target_, nullptr);
    std::vector<std::string> words = {"record",       "--time-unit", "ns",
                                      "--per-thread", "-p",          std::to_string(target_->pid())};
    for (const char* suffix : {"pb.gz", "folded", "txt", "json", "html", "otlp"}) {
      words.insert(words.end(), {"-o", Path(std::string("out.") + suffix)});
    }
    words.emplace_back("0.5");
    ASSERT_EQ(Run(words), 0) << errors_;
  }

  const std::string recorded_ = Path("out.pb.gz");
  std::unique_ptr<Target> target_;
};

TEST_F(Pprof, ReportWritesWhatRecordWrote) {
  RecordWaits();
  for (const char* suffix : {"pb.gz", "folded", "txt", "json"}) {
    const std::string again = Path(std::string("again.") + suffix);
    ASSERT_EQ(Run({"report", recorded_, "-o", again, "--time-unit", "ns"}), 0) << errors_;
    EXPECT_THAT(output_, IsEmpty());
    EXPECT_EQ(ReadFile(again), ReadFile(Path(std::string("out.") + suffix))) << suffix;
  }
  EXPECT_THAT(ReadFile(Path("out.html")), testing::StartsWith("<!DOCTYPE html>\n"));
  EXPECT_NE(ReadFile(Path("out.otlp")), "");
  ASSERT_EQ(Run({"report", recorded_, "--frame-sources", "-o", Path("sources.folded")}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("sources.folded")), HasSubstr(" [eh_frame];"));
}

TEST_F(Pprof, ReportPrintsTheCostliestStacksOnly) {
  RecordWaits();
  ASSERT_EQ(Run({"report", recorded_}), 0) << errors_;
  EXPECT_THAT(output_, HasSubstr("\n#10  "));
  EXPECT_THAT(output_, Not(HasSubstr("\n#11  ")));
  EXPECT_THAT(ReadFile(Path("out.txt")), HasSubstr("\n#11  "));
}

TEST_F(Pprof, ReportByALabelAndOnlyWhatHasOne) {
  RecordWaits();
  ASSERT_EQ(Run({"report", recorded_, "--by", "comm", "--only", "comm=w_nano*"}), 0) << errors_;
  EXPECT_THAT(output_, HasSubstr("  COMM\n100.0 %"));
  EXPECT_THAT(output_, HasSubstr("  w_nanosleep\n\n#1  "));
  EXPECT_THAT(output_, Not(HasSubstr("w_lambda")));
  ASSERT_EQ(Run({"report", recorded_, "--only", "cause=lock", "-o", Path("locks.folded")}), 0) << errors_;
  EXPECT_THAT(ReadFile(Path("locks.folded")), HasSubstr("futex"));
  EXPECT_THAT(ReadFile(Path("locks.folded")), Not(HasSubstr("nanosleep;-;")));
  EXPECT_EQ(Run({"report", recorded_, "--by", "group"}), 2);
  EXPECT_THAT(errors_, HasSubstr("no label is called 'group' (did you mean cgroup?); the labels are pid, process,"));
  EXPECT_EQ(Run({"report", recorded_, "--only", "lock"}), 2);
  EXPECT_THAT(errors_, HasSubstr("'lock' does not have the form LABEL=PATTERN"));
}

TEST_F(Pprof, ReportSaysWhatIsWrongWithItsFile) {
  EXPECT_EQ(Run({"report", Path("none.pb.gz")}), 2);
  EXPECT_EQ(errors_, "offcpu: " + Path("none.pb.gz") + " cannot be read: No such file or directory\n");
  EXPECT_EQ(Run({"report", "-"}), 2);
  EXPECT_EQ(errors_, "offcpu: cannot read standard input: name a .pb.gz file\n");
  EXPECT_EQ(Run({"report"}), 2);
  EXPECT_THAT(errors_, HasSubstr("FILE is required"));
  std::ofstream(Path("text.pb.gz")) << "no profile\n";
  EXPECT_EQ(Run({"report", Path("text.pb.gz")}), 1);
  EXPECT_EQ(errors_, "offcpu: " + Path("text.pb.gz") + " is damaged, or not a pprof file\n");
  EXPECT_EQ(Run({"report", Path("text.pb.gz"), "-o", Path("out.nonsense")}), 2);
  EXPECT_THAT(errors_, HasSubstr("out.nonsense: the suffix chooses the format"));
}

}  // namespace
}  // namespace offcpu::integration
