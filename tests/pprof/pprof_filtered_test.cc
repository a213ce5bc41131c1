// What `go tool pprof -proto` makes of our files, change by change: each test does to the message what one of pprof's
// options does. tests/deep/pprof_recordings_test.cc has pprof itself do it.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "perftools/profile.pb.h"
#include "tests/pprof/pprof_message.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace pb = offcpu::pprof;

class PprofFilteredTest : public PprofMessageTest {
 protected:
  PprofFilteredTest() : PprofMessageTest(RecordedProfile::All().profile) {}

  void Read() { stored_ = PprofMessageTest::Read(); }
  void ExpectError(absl::StatusCode code, const std::string& part) {
    const absl::Status status = ParsePprof(message_.SerializeAsString()).status();
    EXPECT_EQ(status.code(), code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }

  int64_t AddText(const std::string& text) {
    message_.add_string_table(text);
    return message_.string_table_size() - 1;
  }
  // As -tagroot and -tagleaf do it: a location of nothing but a function.
  uint64_t AddWord(const std::string& text) {
    pb::Function& function = *message_.add_function();
    function.set_id(static_cast<uint64_t>(message_.function_size()));
    function.set_name(AddText(text));
    pb::Location& location = *message_.add_location();
    location.set_id(static_cast<uint64_t>(message_.location_size()));
    location.add_line()->set_function_id(function.id());
    return location.id();
  }

  const NamedUserStack& User(size_t row) const { return stored_.user_stacks[stored_.rows[row].user_stack]; }
  std::vector<std::string> UserNames(size_t row) const {
    std::vector<std::string> names;
    for (const NamedFrame& frame : User(row).frames) names.emplace_back(frame.name);
    return names;
  }
  std::vector<std::string_view> KernelNames(size_t row) const {
    std::vector<std::string_view> names;
    for (const NamedFrame& frame : stored_.kernel_stacks[stored_.rows[row].kernel_stack].frames) {
      names.push_back(frame.name);
    }
    return names;
  }

  NamedProfile stored_;
};

TEST_F(PprofFilteredTest, NothingIsMarkedInAFileAsItWas) {
  Read();
  for (size_t row = 0; row < stored_.rows.size(); ++row) EXPECT_FALSE(User(row).filtered) << row;
}

TEST_F(PprofFilteredTest, AHiddenFrameThatTheSourcesNeedMarksTheStack) {
  Hide("log");
  Read();
  EXPECT_TRUE(User(2).filtered);
  EXPECT_THAT(UserNames(2), ElementsAre("read", "on_signal", "__restore_rt", "[unknown] 0x7f0001", "app+0x3006",
                                        "[truncated: stack copy]"));
  EXPECT_EQ(User(2).frames[1].address, 0x2104u);  // as in the file: the one to look up
  EXPECT_FALSE(User(0).filtered);
  const std::string json = Written(OutputFormat::kJson, stored_);
  EXPECT_THAT(json, HasSubstr(R"({"name":"app+0x3006","module":"app","address":"0x3006"},)"
                              R"({"name":"[truncated: stack copy]","module":"","address":"0x0"}],"filtered":true,)"));
  EXPECT_THAT(Written(OutputFormat::kFolded, stored_),
              HasSubstr(";[truncated: stack copy];app+0x3006;[unknown] 0x7f0001;__restore_rt;on_signal;read;-;"));
}

TEST_F(PprofFilteredTest, AHiddenLeafMarksTheStackThoughItsCallersAreAllOfOneSource) {
  Hide("read");
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_THAT(UserNames(0), ElementsAre("loop", "app+0x3006"));
}

TEST_F(PprofFilteredTest, OfAHiddenStackNothingIsKnown) {
  for (const char* name : {"read", "loop", "app+0x3006"}) Hide(name);
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_THAT(UserNames(0), IsEmpty());
}

TEST_F(PprofFilteredTest, AHiddenWordMarksTheStack) {
  Hide("[truncated: stack copy]");
  Hide("[no user stack: budget]");
  Read();
  EXPECT_TRUE(User(2).filtered);
  EXPECT_TRUE(User(3).filtered);
  EXPECT_THAT(UserNames(3), IsEmpty());
  EXPECT_THAT(Written(OutputFormat::kFolded, stored_), Not(HasSubstr("[no user stack")));
}

// By sample; "" of those without a walk.
std::vector<std::string> EndsOf(const pb::Profile& message) {
  std::vector<std::string> ends;
  for (const pb::Sample& sample : message.sample()) {
    std::string& end = ends.emplace_back();
    for (const pb::Label& label : sample.label()) {
      if (message.string_table(static_cast<int>(label.key())) != "user_end") continue;
      end = message.string_table(static_cast<int>(label.str()));
    }
  }
  return ends;
}

TEST_F(PprofFilteredTest, WhyWalksEndedIsToldOn) {
  const auto ends = ElementsAre("complete", "complete", "stack copy", "", "complete", "not mapped", "");
  ASSERT_THAT(EndsOf(message_), ends);
  Hide("log");
  for (pb::Sample& sample : *message_.mutable_sample()) sample.clear_details();  // as pprof does
  Read();
  EXPECT_TRUE(User(2).filtered);
  EXPECT_EQ(User(2).filtered_end, EndReason::kStackCopy);
  EXPECT_THAT(Written(OutputFormat::kJson, stored_), HasSubstr(R"("filtered":true,"user_end":"stack copy",)"));
  pb::Profile again;
  ASSERT_TRUE(again.ParseFromString(Gunzip(Written(OutputFormat::kPprof, stored_), 1 << 20).value()));
  EXPECT_THAT(EndsOf(again), ends);
  RemoveLabels([](const std::string& key) { return key == "user_end"; });
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_EQ(User(0).filtered_end, std::nullopt);
}

// Read() writes it and reads it again.
TEST_F(PprofFilteredTest, OneFrameThatIsLeftIsNoWholeStack) {
  for (const char* name : {"loop", "app+0x3006"}) Hide(name);
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_EQ(User(0).filtered_end, EndReason::kComplete);
  EXPECT_THAT(UserNames(0), ElementsAre("read"));
}

TEST_F(PprofFilteredTest, WithoutKernelFramesTheLeafIsUnknown) {
  for (const char* name : {"schedule", "pipe_read", "read"}) Hide(name);  // as -prune_from does
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_THAT(UserNames(0), ElementsAre("loop", "app+0x3006"));
  EXPECT_EQ(User(0).frames[0].address, 0x2004u);
  EXPECT_THAT(KernelNames(0), IsEmpty());
}

TEST_F(PprofFilteredTest, WithoutALineAFrameIsItsAddress) {
  for (pb::Location& location : *message_.mutable_location()) location.clear_line();
  Read();
  EXPECT_THAT(KernelNames(0), ElementsAre("[kernel] 0xffffffff8100000f", "[kernel] 0xffffffff8100001f"));
  EXPECT_THAT(UserNames(0), ElementsAre("libc.so.6+0x1000", "app+0x2004", "app+0x3006"));
  EXPECT_THAT(UserNames(2), ElementsAre("libc.so.6+0x1000", "app+0x2104", "app+0x2204", "libc.so.6+0x1100",
                                        "[unknown] 0x7f0001", "app+0x3006", "[unknown]"));
}

TEST_F(PprofFilteredTest, WordsAtRootAndLeafAreFrames) {
  const uint64_t root = AddWord("server");
  const uint64_t leaf = AddWord("sleeping");
  for (pb::Sample& sample : *message_.mutable_sample()) {
    std::vector<uint64_t> ids = {leaf};
    ids.insert(ids.end(), sample.location_id().begin(), sample.location_id().end());
    ids.push_back(root);
    sample.mutable_location_id()->Assign(ids.begin(), ids.end());
  }
  Read();
  EXPECT_THAT(UserNames(0), ElementsAre("read", "loop", "app+0x3006", "server"));
  EXPECT_THAT(UserNames(3), ElementsAre("[no user stack: budget]", "server"));
  EXPECT_THAT(KernelNames(0), ElementsAre("sleeping", "schedule", "pipe_read"));
  EXPECT_THAT(KernelNames(3), ElementsAre("sleeping", "[unknown kernel stack]"));
  for (size_t row = 0; row < stored_.rows.size(); ++row) EXPECT_TRUE(User(row).filtered) << row;
}

TEST_F(PprofFilteredTest, OneLabelThatIsLeftIsEnough) {
  RemoveLabels([](const std::string& key) { return key != "comm"; });  // -tagshow comm
  Read();
  ASSERT_EQ(stored_.rows.size(), 7u);
  EXPECT_EQ(stored_.rows.back().process, stored_.rows.front().process);
  EXPECT_EQ(stored_.processes[stored_.rows[0].process].key.pid, 0);
  EXPECT_EQ(stored_.comms[stored_.rows[0].comm], "worker");
  EXPECT_EQ(stored_.rows[0].kind, WaitKind::kOther);
  EXPECT_THAT(UserNames(2), ElementsAre("read", "on_signal", "log", "__restore_rt", "[unknown] 0x7f0001", "app+0x3006",
                                        "[truncated: stack copy]"));
  EXPECT_THAT(UserNames(6), ElementsAre("[other]"));
  EXPECT_TRUE(stored_.kernel_stacks[stored_.rows[6].kernel_stack].overflow);
}

TEST_F(PprofFilteredTest, WithoutOneLabelTheRestIsKept) {
  for (const char* gone :
       {"pid", "comm", "kind", "syscall", "cause", "container", "process", "image", "tid", "no_kernel_stack"}) {
    SCOPED_TRACE(gone);
    RemoveLabels([&](const std::string& key) { return key == gone; });  // -taghide
    Read();
    for (size_t row = 0; row < 7; ++row) EXPECT_FALSE(User(row).filtered) << row;
  }
  // pprof drops what it does not know from whatever it writes.
  for (pb::Sample& sample : *message_.mutable_sample()) sample.clear_details();
  Read();
  EXPECT_TRUE(User(0).filtered);
  EXPECT_FALSE(User(3).filtered);
}

TEST_F(PprofFilteredTest, ADividedTimeNeedNotBeTheSumToTheNanosecond) {
  pb::Sample& sample = *message_.mutable_sample(0);
  // Thirds of 5'001'499, 5'000'000 and 1'499: rounded.
  const std::vector<int64_t> thirds = {1, 1'667'167, 1'666'667, 500, 0, 0, 1'667'167};
  ASSERT_EQ(sample.value(1), 5'001'499);
  sample.mutable_value()->Assign(thirds.begin(), thirds.end());
  sample.set_value(1, 1'667'166);
  Read();
  EXPECT_EQ(stored_.rows[0].total_ns(), 1'667'167u);
  sample.set_value(1, 1'667'168);
  Read();
  for (const int64_t total : {1'667'165, 1'667'169}) {
    sample.set_value(1, total);
    ExpectError(absl::StatusCode::kDataLoss, "a time that is not the sum of its parts");
  }
}

TEST_F(PprofFilteredTest, ADifferenceIsNoRecording) {
  for (int value = 0; value < 4; ++value) message_.mutable_sample(0)->set_value(value, -1);
  ExpectError(absl::StatusCode::kInvalidArgument, "holds negative times, as the difference of two files does");
}

}  // namespace
}  // namespace offcpu
