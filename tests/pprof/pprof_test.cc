#include "pprof/pprof.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bytes/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_reader.h"
#include "tests/profile/frame_lines.h"
#include "tests/profile/recorded_profile.h"
#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

namespace pb = offcpu::pprof;

// What the generated classes read in a file, with indices and ids resolved.
class File {
 public:
  explicit File(const RecordedProfile& recorded) {
    WritePprof(recorded.profile, [this](std::string_view bytes) { bytes_ += bytes; });
    EXPECT_TRUE(message_.ParseFromString(Gunzip(bytes_, 1 << 20).value()));
  }

  const std::string& bytes() const { return bytes_; }
  const pb::Profile& message() const { return message_; }
  const std::string& Text(int64_t index) const { return message_.string_table(static_cast<int>(index)); }
  std::string Type(const pb::ValueType& type) const { return Text(type.type()) + "/" + Text(type.unit()); }

  // Ids are 1, 2, ... in order: checked by a test of its own.
  const pb::Location& Location(uint64_t id) const { return message_.location(static_cast<int>(id - 1)); }
  const std::string& Function(uint64_t location) const {
    return Text(message_.function(static_cast<int>(Location(location).line(0).function_id() - 1)).name());
  }
  std::string Mapping(uint64_t location) const {
    const uint64_t id = Location(location).mapping_id();
    return id == 0 ? "" : Text(message_.mapping(static_cast<int>(id - 1)).filename());
  }
  std::vector<std::string> Functions(int sample) const {
    std::vector<std::string> names;
    for (uint64_t id : message_.sample(sample).location_id()) names.push_back(Function(id));
    return names;
  }
  std::map<std::string, std::string> Labels(int sample) const {
    std::map<std::string, std::string> labels;
    for (const pb::Label& label : message_.sample(sample).label()) {
      const std::string unit = label.num_unit() == 0 ? "" : " " + Text(label.num_unit());
      labels[Text(label.key())] = label.str() != 0 ? Text(label.str()) : std::to_string(label.num()) + unit;
    }
    return labels;
  }

 private:
  std::string bytes_;
  pb::Profile message_;
};

TEST(PprofTest, ARowIsASample) {
  const File file(RecordedProfile::OneReader());
  ASSERT_EQ(file.message().sample_size(), 1);
  EXPECT_THAT(file.message().sample(0).value(), ElementsAre(2, 5001, 5000, 1, 0, 0, 5001));
  EXPECT_THAT(file.Functions(0), ElementsAre("schedule", "pipe_read", "read", "loop", "app+0x3006"));
  EXPECT_THAT(file.Labels(0),
              UnorderedElementsAre(Pair("pid", "10"), Pair("process", "server"), Pair("comm", "worker"),
                                   Pair("container", "3f5c0b1e2a77"), Pair("kind", "disk"), Pair("cause", "pipe"),
                                   Pair("wait", "pipe"), Pair("syscall", "read"), Pair("user_end", "complete")));
}

// What tells no samples apart is no label: a store that adds up windows has one sample a stack.
TEST(PprofTest, WhatIsNoIdentityIsADetail) {
  const File file(RecordedProfile::OneReader());
  const pb::SampleDetails& details = file.message().sample(0).details();
  EXPECT_EQ(details.max_ns(), 4000);
  EXPECT_EQ(details.count_error(), 0);
  EXPECT_EQ(details.time_error(), 0);
  EXPECT_EQ(file.Text(details.unwind()), "eh_frame*2");
}

TEST(PprofTest, TheHeaderSaysWhatTheValuesAre) {
  RecordedProfile one = RecordedProfile::OneReader();
  one.AddStats();
  const File file(one);
  const pb::Profile& message = file.message();
  std::vector<std::string> types;
  for (const pb::ValueType& type : message.sample_type()) types.push_back(file.Type(type));
  EXPECT_THAT(types, ElementsAre("contentions/count", "off_cpu/nanoseconds", "blocked/nanoseconds",
                                 "runnable/nanoseconds", "samples/count", "cpu/nanoseconds", "wall/nanoseconds"))
      << "whether what ran was sampled or not";
  EXPECT_EQ(file.Text(message.default_sample_type()), "off_cpu");
  EXPECT_EQ(file.Type(message.period_type()), "contentions/count");
  EXPECT_EQ(message.period(), 1);
  EXPECT_EQ(message.time_nanos(), 1'790'000'000'123'456'789);
  EXPECT_EQ(message.duration_nanos(), 5'000'000'001);
  std::vector<std::string> comments;
  for (int64_t index : message.comment()) comments.push_back(file.Text(index));
  EXPECT_THAT(comments, IsSupersetOf({"offcpu recording 2, start 1790000000123456789", "host: web1",
                                      "lost: no user stack: budget: 3 times, 1500 ns"}));
  EXPECT_THAT(comments, Contains(AllOf(StartsWith("counters: intervals 101, cookies 102, captures 103, capture_ns "),
                                       SizeIs(Le(120)))));
  EXPECT_THAT(comments, Contains(HasSubstr("walk_ends complete 200")));
  EXPECT_THAT(comments, SizeIs(Le(20))) << "pprof prints them all above its tables";
}

TEST(PprofTest, ViewsBeginWithWhatWaits) {
  RecordedProfile one = RecordedProfile::OneReader();
  const auto dropped = [&one] {
    const File file(one);
    return file.Text(file.message().drop_frames());
  };
  EXPECT_EQ(dropped(), "schedule");
  const uint32_t poll = one.AddKernel({{0xffffffff81000010, "__schedule"},
                                       {0xffffffff81000020, "schedule"},
                                       {0xffffffff81000030, "schedule_hrtimeout_range_clock.part.0"},
                                       {0xffffffff81000040, "io_schedule"},  // the cause follows from it
                                       {0xffffffff81000050, "do_poll"}});
  EXPECT_EQ(dropped(), "schedule") << "no row has that stack";
  one.profile.rows.push_back(one.profile.rows[0]);
  one.profile.rows.back().kernel_stack = poll;
  EXPECT_EQ(dropped(), "__schedule|schedule|schedule_hrtimeout_range_clock");
}

// pprof drops all that such a function called.
TEST(PprofTest, NothingElseIsDropped) {
  const auto dropped = [](const RecordedProfile& one) {
    const File file(one);
    return file.Text(file.message().drop_frames());
  };
  RecordedProfile interrupted = RecordedProfile::OneReader();
  interrupted.profile.rows.push_back(interrupted.profile.rows[0]);
  interrupted.profile.rows.back().kernel_stack = interrupted.AddKernel({{0xffffffff81000010, "net_rx_action"},
                                                                        {0xffffffff81000020, "asm_common_interrupt"},
                                                                        {0xffffffff81000030, "__schedule"},
                                                                        {0xffffffff81000040, "schedule_timeout"}});
  EXPECT_EQ(dropped(interrupted), "schedule") << "which no interrupt came in below";

  RecordedProfile same_name = RecordedProfile::OneReader();
  same_name.profile.user_stacks[0].frames[1].lines = Line("schedule(int)");
  EXPECT_EQ(dropped(same_name), "");
  same_name.profile.user_stacks[0].frames[1].lines = Line("job::schedule");
  EXPECT_EQ(dropped(same_name), "schedule");

  RecordedProfile woken = RecordedProfile::OneReader();
  woken.profile.wakers = {{}};
  woken.profile.rows[0].waker = 1;
  EXPECT_EQ(dropped(woken), "") << "the wakers are below the wait";
}

// An interrupt in the scheduler, as samples on the CPU show it, does not leave every wait of a file in it.
TEST(PprofTest, WhatWasInterruptedHasANameOfItsOwn) {
  RecordedProfile one = RecordedProfile::OneReader();
  for (const uint32_t kernel :
       {one.AddKernel({{0xffffffff81000010, "__schedule"}, {0xffffffff81000020, "schedule"}}),
        one.AddKernel({{0xffffffff81000030, "__schedule"},  // the interrupt's own wait: the thread is preempted
                       {0xffffffff81000040, "asm_sysvec_apic_timer_interrupt"},
                       {0xffffffff81000010, "__schedule"},
                       {0xffffffff81000020, "schedule"},
                       {0xffffffff81000050, "do_poll"}})}) {
    one.profile.rows.push_back(one.profile.rows[0]);
    one.profile.rows.back().kernel_stack = kernel;
  }
  const File file(one);
  EXPECT_EQ(file.Text(file.message().drop_frames()), "__schedule|schedule");
  EXPECT_THAT(file.Functions(1), ElementsAre("__schedule", "schedule", "read", "loop", "app+0x3006"));
  EXPECT_THAT(file.Functions(2),
              ElementsAre("__schedule", "asm_sysvec_apic_timer_interrupt", "__schedule [interrupted]",
                          "schedule [interrupted]", "do_poll", "read", "loop", "app+0x3006"));
  const absl::StatusOr<NamedProfile> stored = ParsePprof(file.bytes());
  ASSERT_TRUE(stored.ok()) << stored.status();
  std::vector<std::string_view> names;
  for (const NamedFrame& frame : stored->kernel_stacks[stored->rows[2].kernel_stack].frames)
    names.push_back(frame.name());
  EXPECT_THAT(names, ElementsAre("__schedule", "asm_sysvec_apic_timer_interrupt", "__schedule", "schedule", "do_poll"));
}

TEST(PprofTest, WhatCompilersAppendIsInTheSystemNameOnly) {
  RecordedProfile one = RecordedProfile::OneReader();
  one.profile.user_stacks[0].frames[1].lines = Line("loop.constprop.0");
  const File file(one);
  EXPECT_THAT(file.Functions(0), ElementsAre("schedule", "pipe_read", "read", "loop", "app+0x3006"));
  std::vector<std::string> whole;
  for (const pb::Function& function : file.message().function()) whole.push_back(file.Text(function.system_name()));
  EXPECT_THAT(whole, ElementsAre("", "", "", "loop.constprop.0", ""));
  const absl::StatusOr<NamedProfile> stored = ParsePprof(file.bytes());
  ASSERT_TRUE(stored.ok()) << stored.status();
  EXPECT_EQ(stored->user_stacks[0].frames[1].name(), "loop.constprop.0");
}

TEST(PprofTest, AddressesAreThoseToLookUp) {
  const File file(RecordedProfile::OneReader());
  std::vector<uint64_t> addresses;
  for (uint64_t id : file.message().sample(0).location_id()) addresses.push_back(file.Location(id).address());
  EXPECT_THAT(addresses, ElementsAre(0xffffffff8100000f, 0xffffffff8100001f,  // return addresses, less one
                                     0x1000,                                  // the leaf's own
                                     0x2004, 0x3006));                        // return addresses, less one
}

TEST(PprofTest, MappingsAreTheModulesAndTheKernel) {
  const File file(RecordedProfile::OneReader());
  std::vector<std::string> of_locations;
  for (uint64_t id : file.message().sample(0).location_id()) of_locations.push_back(file.Mapping(id));
  EXPECT_THAT(of_locations,
              ElementsAre("[kernel.kallsyms]", "[kernel.kallsyms]", "/usr/lib/libc.so.6", "/opt/app", "/opt/app"));
  std::vector<std::pair<std::string, std::string>> mappings;
  for (const pb::Mapping& mapping : file.message().mapping()) {
    mappings.emplace_back(file.Text(mapping.filename()), file.Text(mapping.build_id()));
    EXPECT_TRUE(mapping.has_functions());
    EXPECT_EQ(mapping.memory_start(), 0u);
    EXPECT_EQ(mapping.memory_limit(), std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(mapping.file_offset(), 0u);
  }
  // The program is the first, though it is not used first.
  EXPECT_THAT(mappings,
              ElementsAre(Pair("/opt/app", "bb02"), Pair("/usr/lib/libc.so.6", "aa01"), Pair("[kernel.kallsyms]", "")));
}

TEST(PprofTest, WhatIsMissingIsNamedAsInTheFoldedForm) {
  const File file(RecordedProfile::All());
  EXPECT_THAT(file.Functions(2), ElementsAre("schedule", "pipe_read", "read", "on_signal", "log", "__restore_rt",
                                             "[unknown] 0x7f0001", "app+0x3006", "[truncated: stack copy]"));
  EXPECT_THAT(file.Functions(3), ElementsAre("[unknown kernel stack]", "[no user stack: budget]"));
  EXPECT_THAT(file.Functions(5), ElementsAre("schedule", "pipe_read", "[truncated: not mapped]"));
  EXPECT_THAT(file.Functions(6), ElementsAre("[other]", "[other]"));
  const auto labels = [&file](int sample) { return file.Labels(sample); };
  EXPECT_THAT(labels(2), IsSupersetOf({Pair("user_end", "stack copy")}));
  const auto unwind = [&file](int sample) { return file.Text(file.message().sample(sample).details().unwind()); };
  EXPECT_EQ(unwind(2), "sframe*2+eh_frame!*1+trampoline*1+fp*1");
  EXPECT_THAT(labels(3), IsSupersetOf({Pair("no_user_stack", "budget"), Pair("no_kernel_stack", "lost")}));
  EXPECT_THAT(labels(5), IsSupersetOf({Pair("user_end", "not mapped")}));
  EXPECT_THAT(labels(6), IsSupersetOf({Pair("no_user_stack", "other"), Pair("no_kernel_stack", "other")}));
  for (int sample : {3, 6}) {
    EXPECT_EQ(labels(sample).count("user_end"), 0u);
    EXPECT_EQ(unwind(sample), "");
  }
}

TEST(PprofTest, LabelsTellThreadsAndProgramsOfOnePidApart) {
  const File file(RecordedProfile::All());
  EXPECT_EQ(file.Labels(0)["tid"], "11");
  EXPECT_EQ(file.Labels(1)["tid"], "12");
  EXPECT_EQ(file.Labels(6).count("tid"), 0u);
  EXPECT_EQ(file.Labels(0).count("image"), 0u);
  EXPECT_EQ(file.Labels(4)["image"], "1");
  EXPECT_EQ(file.Labels(3).count("comm"), 0u);
}

TEST(PprofTest, OnlyASampleHasErrors) {
  const File file(RecordedProfile::All());
  EXPECT_EQ(file.message().sample(1).details().count_error(), 5);
  EXPECT_EQ(file.message().sample(1).details().time_error(), 50990);
  EXPECT_EQ(file.message().sample(0).details().count_error(), 0);
  EXPECT_EQ(file.message().sample(0).details().time_error(), 0);
}

TEST(PprofTest, EverythingIsThereOnceAndIdsAreInOrder) {
  const File file(RecordedProfile::All());
  const pb::Profile& message = file.message();
  EXPECT_EQ(message.string_table(0), "");
  EXPECT_EQ(std::set<std::string>(message.string_table().begin(), message.string_table().end()).size(),
            static_cast<size_t>(message.string_table_size()));
  std::set<std::string> locations;
  for (int i = 0; i < message.location_size(); ++i) {
    EXPECT_EQ(message.location(i).id(), static_cast<uint64_t>(i + 1));
    pb::Location location = message.location(i);
    location.clear_id();
    EXPECT_TRUE(locations.insert(location.SerializeAsString()).second);
  }
  std::set<int64_t> functions;
  for (int i = 0; i < message.function_size(); ++i) {
    EXPECT_EQ(message.function(i).id(), static_cast<uint64_t>(i + 1));
    EXPECT_TRUE(functions.insert(message.function(i).name()).second);
    EXPECT_EQ(message.function(i).system_name(), 0);
  }
  for (int i = 0; i < message.mapping_size(); ++i) EXPECT_EQ(message.mapping(i).id(), static_cast<uint64_t>(i + 1));
}

TEST(PprofTest, TheSameProfileGivesTheSameBytes) {
  const std::string bytes = File(RecordedProfile::All()).bytes();
  EXPECT_EQ(bytes, File(RecordedProfile::All()).bytes());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x1f\x8b\x08"       // gzip, deflated
                                            "\x00"               // no name
                                            "\x00\x00\x00\x00",  // no time
                                            8));
}

TEST(PprofTest, NamesAreValidUtf8WithoutControlCharacters) {
  RecordedProfile one = RecordedProfile::OneReader();
  one.profile.user_stacks[0].frames[1].lines = Line("l\xc3\xa9\xff\n");
  one.profile.comms[0] = "\xed\xa0\x80\x1b";  // a surrogate is three bytes that are none
  const File file(one);
  EXPECT_EQ(file.Functions(0)[3], "l\xc3\xa9\xef\xbf\xbd?");
  EXPECT_EQ(file.Labels(0)["comm"], "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd?");
}

TEST(PprofTest, AnEmptyProfileHasNoSamples) {
  const File file(RecordedProfile{});
  EXPECT_EQ(file.message().sample_size(), 0);
  EXPECT_EQ(file.message().sample_type_size(), 7);
}

TEST(PprofTest, CommentsSayHowFarOffASampleMayBe) {
  RecordedProfile sampled;
  sampled.profile = SampledProfile().profile;
  const auto comments_of = [](const File& file) {
    std::vector<std::string> comments;
    for (const int64_t index : file.message().comment()) comments.push_back(file.Text(index));
    return comments;
  };
  EXPECT_THAT(comments_of(File(sampled)),
              Contains("accuracy: 110 ms ±1 % off the CPU; waits below 100 us sampled; times of rows above 1 % within "
                       "±5 % (standard error)"));
  sampled.profile.rows.resize(2);
  sampled.profile.stats = {};
  EXPECT_THAT(comments_of(File(sampled)), Not(Contains(StartsWith("accuracy"))));
}

}  // namespace
}  // namespace offcpu
