#include "otlp/otlp.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp_checker.h"
#include "otlp_reader.h"
#include "otlp_requests.h"
#include "tests/profile/frame_lines.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// The only request.
OtlpReader OneOf(const RecordedProfile& recorded, const OtlpOptions& options = Everything()) {
  const std::vector<std::string> requests = RequestsOf(recorded, options);
  EXPECT_EQ(requests.size(), 1u);
  CheckOtlp(requests);
  return OtlpReader(requests.at(0));
}

TEST(OtlpTest, EachValueIsAProfile) {
  const OtlpReader reader = OneOf(OneReader());
  ASSERT_EQ(reader.message().resource_profiles_size(), 2);
  std::vector<std::pair<std::string, int64_t>> values;
  for (const otlp::Profile& profile : reader.message().resource_profiles(0).scope_profiles(0).profiles()) {
    ASSERT_EQ(profile.samples_size(), 1);
    values.emplace_back(reader.Type(profile), profile.samples(0).values(0));
    EXPECT_THAT(reader.Functions(profile.samples(0)), ElementsAre("pipe_read", "read", "loop", ""));
    EXPECT_THAT(reader.Attributes(profile.samples(0).attribute_indices()),
                UnorderedElementsAre(Pair("thread.name", "worker"), Pair("offcpu.kind", "disk"),
                                     Pair("offcpu.cause", "pipe"), Pair("offcpu.wait", "pipe"),
                                     Pair("offcpu.syscall", "read"), Pair("offcpu.user_end", "complete")));
  }
  EXPECT_THAT(values, ElementsAre(Pair("off_cpu/nanoseconds", 5001), Pair("contentions/count", 2),
                                  Pair("blocked/nanoseconds", 5000), Pair("runnable/nanoseconds", 1)));
}

TEST(OtlpTest, AProcessIsAResource) {
  const OtlpReader reader = OneOf(OneReader());
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(0)),
              UnorderedElementsAre(Pair("host.name", "web1"), Pair("service.name", "server"), Pair("process.pid", "10"),
                                   Pair("process.executable.name", "server"), Pair("process.title", "server"),
                                   Pair("container.id", "3f5c0b1e2a77")));
  const auto& scope = reader.message().resource_profiles(0).scope_profiles(0).scope();
  EXPECT_EQ(scope.version(), OFFCPU_VERSION);
  ASSERT_EQ(scope.attributes_size(), 1);
  EXPECT_EQ(scope.attributes(0).key(), "pprof.scope.default_sample_type");
  EXPECT_EQ(scope.attributes(0).value().string_value(), "off_cpu");
}

TEST(OtlpTest, ProgramsOfOnePidAreToldApartAndThreadsWhereTheyWere) {
  const OtlpReader reader = OneOf(RecordedProfile::All());
  ASSERT_EQ(reader.message().resource_profiles_size(), 6);  // of both one part is in a control group
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(1)), Not(Contains(Key("offcpu.image"))));
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(3)),
              IsSupersetOf({Pair("process.pid", "10"), Pair("offcpu.image", "1")}));
  EXPECT_THAT(reader.Attributes(Find(reader, 0, "off_cpu/nanoseconds")->samples(0).attribute_indices()),
              Contains(Pair("thread.id", "11")));
  EXPECT_THAT(reader.Attributes(Find(reader, 4, "off_cpu/nanoseconds")->samples(0).attribute_indices()),
              Not(Contains(Key("thread.id"))));
}

TEST(OtlpTest, ResourcesAreAsTheOptionsSay) {
  OtlpOptions options = Everything();
  options.service_name = "shop";
  options.resource = {{"deployment.environment.name", "prod"}, {"host.name", "alias"}, {"a", "1"}, {"a", "2"}};
  const OtlpReader reader = OneOf(OneReader(), options);
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(0)),
              IsSupersetOf({Pair("host.name", "alias"), Pair("service.name", "shop"), Pair("a", "2"),
                            Pair("process.executable.name", "server"), Pair("deployment.environment.name", "prod")}));
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(1)),
              UnorderedElementsAre(Pair("host.name", "alias"), Pair("service.name", "offcpud"), Pair("a", "2"),
                                   Pair("deployment.environment.name", "prod")));
}

TEST(OtlpTest, AProcessWithoutANameHasAService) {
  RecordedProfile one = OneReader();
  one.profile.processes[0].name = "";
  const OtlpReader::Texts of = OtlpReader::Attributes(OneOf(one).message().resource_profiles(0));
  EXPECT_THAT(of, Contains(Pair("service.name", "unknown_service")));
  EXPECT_THAT(of, Not(Contains(Key("process.executable.name"))));
}

TEST(OtlpTest, LocationsSayWhereTheyAre) {
  RecordedProfile one = OneReader();
  auto go = std::make_shared<Module>();
  go->path = "/opt/go";
  go->language = "go";
  one.profile.code.push_back(go);
  one.profile.user_stacks[0].frames[2].code = go.get();
  one.profile.user_stacks[0].frames[1].code = nullptr;
  const OtlpReader reader = OneOf(one);
  std::vector<std::vector<std::string>> places;
  for (const otlp::Location* location : reader.Locations(Find(reader, 0, "off_cpu/nanoseconds")->samples(0))) {
    const otlp::Mapping& mapping = reader.dictionary().mapping_table(location->mapping_index());
    OtlpReader::Texts of_mapping = reader.Attributes(mapping.attribute_indices());
    OtlpReader::Texts of_location = reader.Attributes(location->attribute_indices());
    places.push_back({std::to_string(location->address()), reader.Text(mapping.filename_strindex()),
                      of_mapping["process.executable.build_id.gnu"], of_location["profile.frame.type"]});
    EXPECT_EQ(mapping.memory_start(), 0u);
    EXPECT_EQ(mapping.memory_limit(), location->mapping_index() == 0 ? 0 : ~uint64_t{0});
  }
  EXPECT_THAT(places,
              ElementsAre(ElementsAre("18446744071578845215", "[kernel.kallsyms]", "", "kernel"),  // 0x...100001f
                          ElementsAre("4096", "/usr/lib/libc.so.6", "aa01", "native"),
                          ElementsAre("8196", "", "", ""),  // generated
                          ElementsAre("12294", "/opt/go", "", "go")));
}

// Else all leaves of a back end would be the scheduler.
TEST(OtlpTest, StacksEndWhereTheThreadWaits) {
  RecordedProfile one = OneReader();
  const auto functions = [&](const std::vector<std::pair<uint64_t, std::string_view>>& kernel) {
    one.profile.rows[0].kernel_stack = one.AddKernel(kernel);
    const OtlpReader reader = OneOf(one);
    std::vector<std::string> names = reader.Functions(Find(reader, 0, "off_cpu/nanoseconds")->samples(0));
    names.resize(names.size() - 3);  // of the user stack
    return names;
  };
  EXPECT_THAT(functions({{1, "__schedule"}, {2, "schedule"}, {3, "io_schedule"}, {4, "folio_wait_bit"}}),
              ElementsAre("io_schedule", "folio_wait_bit"));
  EXPECT_THAT(functions({{1, "schedule.constprop.0"}, {2, "schedule_timeout"}, {3, "x"}}), ElementsAre("x"));
  EXPECT_THAT(functions({{1, "asm_timer"}, {2, "schedule"}, {3, "x"}}), ElementsAre("asm_timer", "schedule", "x"))
      << "an interrupt ran";
  EXPECT_THAT(functions({{1, "__schedule"}, {2, "schedule"}}), ElementsAre("__schedule", "schedule"))
      << "there is nothing else";
}

TEST(OtlpTest, CodeThatAProcessHasMadeIsOfNoKnownType) {
  RecordedProfile one = OneReader();
  auto made = std::make_shared<CodeObject>(CodeKind::kPerfMap, "/tmp/perf-10.map");
  one.profile.code.push_back(made);
  one.profile.user_stacks[0].frames[1].code = made.get();
  const OtlpReader reader = OneOf(one);
  const auto locations = reader.Locations(Find(reader, 0, "off_cpu/nanoseconds")->samples(0));
  EXPECT_EQ(locations[2]->attribute_indices_size(), 0);
  EXPECT_EQ(locations[3]->attribute_indices_size(), 1);
}

TEST(OtlpTest, NamesThatCanBeFoundLaterCanBeLeftOut) {
  RecordedProfile one = OneReader();
  const Module* nameless = one.AddModule("/opt/plugin", "");
  one.profile.user_stacks[0].frames[1].code = nameless;
  one.profile.user_stacks[0].end = EndReason::kStackCopy;
  OtlpOptions options = Everything();
  options.names = false;
  const OtlpReader reader = OneOf(one, options);
  EXPECT_THAT(reader.Functions(Find(reader, 0, "off_cpu/nanoseconds")->samples(0)),
              ElementsAre("pipe_read", "", "loop", "", "[truncated: stack copy]"));
}

// A back end finds their names by the build id, and shows where it cannot what is known.
TEST(OtlpTest, FramesWithoutANameAreAddressesOfAFileThatIsKnown) {
  RecordedProfile one = OneReader();
  const OtlpReader reader = OneOf(one);
  const auto locations = reader.Locations(Find(reader, 0, "off_cpu/nanoseconds")->samples(0));
  ASSERT_EQ(locations.size(), 4u);
  EXPECT_EQ(locations[3]->lines_size(), 0);
  EXPECT_EQ(locations[3]->address(), 0x3006u);
  const otlp::Mapping& mapping = reader.dictionary().mapping_table(locations[3]->mapping_index());
  EXPECT_EQ(reader.Text(mapping.filename_strindex()), "/opt/app");
  EXPECT_THAT(reader.Attributes(mapping.attribute_indices()),
              Contains(Pair("process.executable.build_id.gnu", "bb02")));
  auto hashed = std::make_shared<Module>();
  hashed->path = "/opt/stripped";
  hashed->file_hash = "600dcafe4a110000f2bf38c493f5fb92";
  one.profile.code.push_back(hashed);
  one.profile.user_stacks[0].frames.back().code = hashed.get();
  const OtlpReader by_hash = OneOf(one);
  const auto hash_locations = by_hash.Locations(Find(by_hash, 0, "off_cpu/nanoseconds")->samples(0));
  EXPECT_EQ(hash_locations[3]->lines_size(), 0);
  EXPECT_THAT(
      by_hash.Attributes(by_hash.dictionary().mapping_table(hash_locations[3]->mapping_index()).attribute_indices()),
      ElementsAre(Pair("process.executable.build_id.htlhash", "600dcafe4a110000f2bf38c493f5fb92")));
  one.profile.user_stacks[0].frames.back().code = one.AddModule("/opt/plugin", "");
  const OtlpReader unknown = OneOf(one);
  EXPECT_THAT(unknown.Functions(Find(unknown, 0, "off_cpu/nanoseconds")->samples(0)),
              ElementsAre("pipe_read", "read", "loop", "app+0x3006"))
      << "without an id nobody finds it";
}

TEST(OtlpTest, AProfileSaysWhatIsASample) {
  const OtlpReader reader = OneOf(RecordedProfile::All());
  for (int resource : {0, 5}) {
    const otlp::Profile& profile = reader.message().resource_profiles(resource).scope_profiles(0).profiles(0);
    EXPECT_THAT(reader.Attributes(profile.attribute_indices()), Contains(Pair("offcpu.sample_period", "64000000")));
    EXPECT_EQ(reader.Text(reader.dictionary().attribute_table(profile.attribute_indices(0)).unit_strindex()), "ns");
  }
}

TEST(OtlpTest, NothingIsAValueThatCannotBeAddedUp) {
  for (const auto& [type, sum] : SumsOf(RequestsOf(RecordedProfile::WithSamples()))) {
    EXPECT_THAT(type, Not(::testing::ContainsRegex("longest|error|max")));
  }
}

TEST(OtlpTest, WhatWasLostIsTold) {
  RecordedProfile one = OneReader();
  one.profile.stats.losses = {{"ring full", 3, 1500}, {"module damaged", 2, 0}};
  OtlpOptions options = Everything();
  options.export_losses = {{"spool full", 4, 60'000'000'000}, {"ring full", 1, 2}};
  const OtlpReader reader = OneOf(one, options);
  const auto told = [&](const char* type) {
    std::vector<std::string> lines;
    for (const otlp::Sample& sample : Find(reader, 1, type)->samples()) {
      OtlpReader::Texts attributes = reader.Attributes(sample.attribute_indices());
      lines.push_back(attributes["offcpu.lost.where"] + ": " + reader.Functions(sample).at(0) + " " +
                      std::to_string(sample.values(0)));
      EXPECT_EQ(reader.Locations(sample).size(), 1u);
    }
    return lines;
  };
  EXPECT_THAT(told("lost/nanoseconds"),
              ElementsAre("recording: ring full 1500", "export: spool full 60000000000", "export: ring full 2"));
  EXPECT_THAT(told("lost/count"), ElementsAre("recording: ring full 3", "recording: module damaged 2",
                                              "export: spool full 4", "export: ring full 1"));
}

TEST(OtlpTest, AWindowWithoutSamplesTellsOfItself) {
  RecordedProfile empty;
  empty.AddStats();
  const OtlpReader reader = OneOf(empty);
  ASSERT_EQ(reader.message().resource_profiles_size(), 1);
  const otlp::Profile* recording = Find(reader, 0, "recording/nanoseconds");
  ASSERT_NE(recording, nullptr);
  EXPECT_EQ(recording->samples(0).values(0), 5'000'000'001);
  EXPECT_EQ(recording->time_unix_nano(), 1'790'000'000'123'456'789u);
  EXPECT_EQ(recording->duration_nano(), 5'000'000'001u);
  EXPECT_THAT(
      reader.Attributes(recording->attribute_indices())["pprof.profile.comment"],
      ::testing::StartsWith(
          "[offcpu recording 2, start 1790000000123456789, host: web1, accuracy: waits below 64.0 ms sampled; none "
          "sampled: at most 192 ms more, counters: intervals 101, "));
  EXPECT_EQ(SumsOf(RequestsOf(empty))["lost/nanoseconds"], 1500);
}

TEST(OtlpTest, NothingAtAllIsStillASample) {
  const OtlpReader reader = OneOf(RecordedProfile{});
  EXPECT_THAT(reader.Sums(), ElementsAre(Pair("recording/nanoseconds", 1)));
}

TEST(OtlpTest, TheSameWindowGivesTheSameBytesAndAnotherWindowOtherIds) {
  const std::vector<std::string> requests = RequestsOf(RecordedProfile::All());
  EXPECT_EQ(requests, RequestsOf(RecordedProfile::All()));
  std::set<std::string> ids;
  for (uint8_t i = 0; i < 4; ++i) {  // ids that differ little, in either half
    OtlpOptions options = Everything();
    options.window_id[0] = i & 1;
    options.window_id[15] = i >> 1;
    for (const std::string& request : RequestsOf(RecordedProfile::All(), options)) OtlpChecker(request).Check(&ids);
  }
}

TEST(OtlpTest, SamplesThatCannotBeToldApartAreOne) {
  RecordedProfile one = OneReader();
  one.AddComm("work\x01r");
  one.AddComm("work\x02r");
  one.profile.rows = {{{{0, 0, 1, 0, 0, WaitKind::kDisk, kNoSystemCall}, {2, 5000, 1, 4000, 0, 9, 16}}},
                      {{{0, 0, 0, 0, 0, WaitKind::kDisk, kNoSystemCall}, {7, 70, 7, 7}}},
                      {{{0, 0, 2, 0, 0, WaitKind::kDisk, kNoSystemCall}, {3, 6000, 2, 3000, 0, 16, 9}}}};
  const OtlpReader reader = OneOf(one);
  EXPECT_EQ(Find(reader, 0, "off_cpu/nanoseconds")->samples_size(), 2);
  EXPECT_EQ(Find(reader, 0, "off_cpu/nanoseconds")->samples(0).values(0), 11003);
  EXPECT_EQ(Find(reader, 0, "contentions/count")->samples(0).values(0), 5);
}

TEST(OtlpTest, WhoEndedAWaitIsAnAttribute) {
  RecordedProfile one = OneReader();
  const uint32_t timer = one.AddKernel({{0x1001, "try_to_wake_up"}, {0x2001, "asm_timer"}});
  const Waker thread = {.process = one.profile.rows[0].process,
                        .comm = one.profile.rows[0].comm,
                        .kernel_stack = timer,
                        .user_stack = one.profile.rows[0].user_stack};
  one.profile.wakers = {{{.interrupt = true, .kernel_stack = timer}},
                        {thread, {.interrupt = true, .kernel_stack = timer}}};
  one.profile.rows.resize(1);
  one.profile.rows.push_back(one.profile.rows[0]);
  one.profile.rows[0].waker = 1;
  one.profile.rows[1].waker = 2;
  const OtlpReader reader = OneOf(one);
  const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
  ASSERT_EQ(profile->samples_size(), 2);
  const auto has = [&](int sample, const std::string& text) {
    EXPECT_THAT(reader.Attributes(profile->samples(sample).attribute_indices()), Contains(Pair("offcpu.waker", text)));
  };
  has(0, "try_to_wake_up;asm_timer;-;[interrupt]");
  has(1, "try_to_wake_up;asm_timer;-;read;loop;app+0x3006;worker;--;try_to_wake_up;asm_timer;-;[interrupt]");
}

TEST(OtlpTest, RowsThatAreNotInOrderAreOneResourceEach) {
  RecordedProfile all = RecordedProfile::All();
  const auto sums = SumsOf(RequestsOf(all));
  std::swap(all.profile.rows[1], all.profile.rows[4]);
  const OtlpReader reader = OneOf(all);
  EXPECT_EQ(reader.message().resource_profiles_size(), 6);
  EXPECT_EQ(reader.Sums(), sums);
}

TEST(OtlpTest, NamesOfAnyoneAreValid) {
  RecordedProfile one = OneReader();
  const std::string nul("a\0b", 3);
  const std::string huge(1 << 20, 'x');
  one.profile.user_stacks[0].frames[0].lines = Line("l\xc3\xa9\xff\n");
  one.profile.user_stacks[0].frames[1].lines = Line(nul);
  one.profile.user_stacks[0].frames[2].lines = Line(huge);
  one.profile.user_stacks[0].frames[2].named = true;
  one.profile.comms[0] = "\xed\xa0\x80\x1b";  // a surrogate is three bytes that are none
  one.profile.processes[0].name = "\xfe";
  const OtlpReader reader = OneOf(one);
  const otlp::Sample& sample = Find(reader, 0, "off_cpu/nanoseconds")->samples(0);
  EXPECT_THAT(reader.Functions(sample), ElementsAre("pipe_read", "l\xc3\xa9\xef\xbf\xbd?", "a?b", huge));
  EXPECT_EQ(reader.Attributes(sample.attribute_indices())["thread.name"], "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd?");
  EXPECT_THAT(OtlpReader::Attributes(reader.message().resource_profiles(0)),
              Contains(Pair("service.name", "\xef\xbf\xbd")));
}

TEST(OtlpTest, ValuesBeyondTheFormatsAreTheMostThatItHas) {
  RecordedProfile one = OneReader();
  one.profile.rows[0].blocked_ns = ~uint64_t{0} - 5;
  one.profile.rows[0].count = ~uint64_t{0};
  const OtlpReader reader = OneOf(one);
  EXPECT_EQ(Find(reader, 0, "contentions/count")->samples(0).values(0), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Find(reader, 0, "blocked/nanoseconds")->samples(0).values(0), std::numeric_limits<int64_t>::max());
}

}  // namespace
}  // namespace offcpu
