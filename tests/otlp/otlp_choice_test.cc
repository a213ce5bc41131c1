// What requests say by default, and what by choice.
#include "otlp/otlp_choice.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "otlp_checker.h"
#include "otlp_reader.h"
#include "otlp_requests.h"

namespace offcpu {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

OtlpReader OneOf(const RecordedProfile& recorded, const OtlpOptions& options = {}) {
  const std::vector<std::string> requests = RequestsOf(recorded, options);
  EXPECT_EQ(requests.size(), 1u);
  CheckOtlp(requests);
  return OtlpReader(requests.at(0));
}

OtlpReader::Texts ResourceOf(const RecordedProfile& recorded, const OtlpOptions& options = {}) {
  return OtlpReader::Attributes(OneOf(recorded, options).message().resource_profiles(0));
}

TEST(OtlpChoiceTest, NamesAreChecked) {
  EXPECT_THAT(
      std::string(ParseOtlpTypes({"off_cpu", "longest"}).status().message()),
      HasSubstr("unknown name 'longest'; the names are off_cpu, cpu, contentions, blocked, runnable, recording, lost"));
  EXPECT_THAT(std::string(ParseOtlpLabels({"kernel"}).status().message()),
              HasSubstr("unknown name 'kernel'; the names are pid, process, exe, container,"));
  EXPECT_TRUE(ParseOtlpTypes({"off_cpu", "cpu", "contentions", "blocked", "runnable", "recording", "lost"})->all());
  EXPECT_TRUE(ParseOtlpTypes({})->none());
  const absl::StatusOr<OtlpLabels> labels = ParseOtlpLabels({"comm", "waker"});
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_TRUE(labels->Has(RowLabel::kComm));
  EXPECT_TRUE(labels->Has(OtlpLabel::kWaker));
  EXPECT_FALSE(labels->Has(RowLabel::kPid));
  EXPECT_FALSE(labels->Has(OtlpLabel::kPhase));
}

TEST(OtlpChoiceTest, TimeOffTheCpuIsOneProfileInTwoPhases) {
  const OtlpReader reader = OneOf(OneReader());
  ASSERT_EQ(reader.message().resource_profiles_size(), 1);
  ASSERT_EQ(reader.message().resource_profiles(0).scope_profiles(0).profiles_size(), 1);
  const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
  ASSERT_NE(profile, nullptr);
  std::map<std::string, int64_t> ns;
  for (const otlp::Sample& sample : profile->samples()) {
    OtlpReader::Texts attributes = reader.Attributes(sample.attribute_indices());
    EXPECT_THAT(attributes, ElementsAre(Key("offcpu.phase")));
    ns[attributes["offcpu.phase"]] += sample.values(0);
    EXPECT_THAT(reader.Functions(sample), ElementsAre("pipe_read", "read", "loop", ""));
  }
  EXPECT_THAT(ns, ElementsAre(Pair("blocked", 5000), Pair("runnable", 1)));
}

TEST(OtlpChoiceTest, WithoutPhasesItIsOne) {
  OtlpOptions options;
  options.labels = *ParseOtlpLabels({"cause"});
  const OtlpReader reader = OneOf(OneReader(), options);
  const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
  ASSERT_EQ(profile->samples_size(), 1);
  EXPECT_EQ(profile->samples(0).values(0), 5001);
  EXPECT_THAT(reader.Attributes(profile->samples(0).attribute_indices()), ElementsAre(Pair("offcpu.cause", "pipe")));
}

TEST(OtlpChoiceTest, SamplesOnTheCpuAreWhatTheyStandFor) {
  const RecordedProfile all = RecordedProfile::WithSamples();
  int64_t ns = 0;
  const OtlpReader reader = OneOf(all);
  for (const auto& resource : reader.message().resource_profiles()) {
    for (const otlp::Profile& profile : resource.scope_profiles(0).profiles()) {
      if (reader.Type(profile) != "samples/count") continue;
      EXPECT_EQ(reader.Text(profile.period_type().type_strindex()), "cpu");
      EXPECT_EQ(reader.Text(profile.period_type().unit_strindex()), "nanoseconds");
      EXPECT_EQ(profile.period(), 10'100'000);
      for (const otlp::Sample& sample : profile.samples()) ns += sample.values(0) * profile.period();
    }
  }
  EXPECT_EQ(ns, 30'300'000 + 10'100'000 + 30'300'000);
}

TEST(OtlpChoiceTest, WhoWasWokenDoesNotWaitForWorkAnyMore) {
  RecordedProfile one = OneReader();
  one.profile.rows[0].idle = "app: loop";
  const OtlpReader reader = OneOf(one);
  const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
  ASSERT_EQ(profile->samples_size(), 2);
  EXPECT_THAT(reader.Attributes(profile->samples(0).attribute_indices()),
              UnorderedElementsAre(Pair("offcpu.phase", "blocked"), Pair("offcpu.idle", "app: loop")));
  EXPECT_THAT(reader.Attributes(profile->samples(1).attribute_indices()),
              UnorderedElementsAre(Pair("offcpu.phase", "runnable")));
}

TEST(OtlpChoiceTest, AServiceIsNamedByItsProgram) {
  RecordedProfile one = OneReader();
  one.profile.processes[0].name = "fifteen-bytes-l";
  one.profile.processes[0].executable = "/opt/shop/fifteen-bytes-long";
  EXPECT_THAT(ResourceOf(one),
              UnorderedElementsAre(Pair("host.name", "web1"), Pair("service.name", "fifteen-bytes-long"),
                                   Pair("process.executable.name", "fifteen-bytes-long"),
                                   Pair("process.executable.path", "/opt/shop/fifteen-bytes-long"),
                                   Pair("container.id", "3f5c0b1e2a77")));
  OtlpOptions options;
  options.service_name = "shop";
  EXPECT_THAT(ResourceOf(one, options),
              IsSupersetOf({Pair("service.name", "shop"), Pair("process.executable.name", "fifteen-bytes-long")}));
}

// What a process says of itself first, what follows from its program last.
TEST(OtlpChoiceTest, AServiceIsNamedByWhatKnowsItBest) {
  RecordedProfile one = OneReader();
  ProcessInfo& process = one.profile.processes[0];
  const auto service = [&one] { return ResourceOf(one)["service.name"]; };
  process.executable = "/usr/bin/java";
  EXPECT_EQ(service(), "java");
  process.service.script = "com.example.Shop";
  EXPECT_EQ(service(), "com.example.Shop");
  one.profile.control_groups = {"/system.slice/shop.service"};
  one.profile.rows[0].control_group = 1;
  EXPECT_EQ(service(), "shop");
  process.service.declared = "cart";
  EXPECT_EQ(service(), "cart");
  EXPECT_EQ(ResourceOf(one)["process.executable.name"], "java");
  OtlpOptions options;
  options.service_name = "all";
  EXPECT_EQ(ResourceOf(one, options)["service.name"], "all");
}

// What runs programs of any kind names none of them.
TEST(OtlpChoiceTest, OnlyServicesOfSystemdNameAService) {
  const auto service = [](const std::string& unit) {
    RecordedProfile one = OneReader();
    one.profile.control_groups = {"/x.slice/" + unit};
    one.profile.rows[0].control_group = 1;
    return ResourceOf(one)["service.name"];
  };
  EXPECT_EQ(service("postgresql@15-main.service"), "postgresql@15-main");
  for (const char* unit : {"user@1000.service", "run-u12.service", "session-1.scope", "init.scope", "docker-ab.scope"})
    EXPECT_EQ(service(unit), "server") << unit;
}

TEST(OtlpChoiceTest, NumbersOfThreadsOfTheKernelAreNotInNames) {
  RecordedProfile one = OneReader();
  one.profile.processes[0].name = "kworker/u16:3-events";
  EXPECT_EQ(ResourceOf(one)["service.name"], "kworker/u16:*-events");
  one.profile.processes[0].name = "cc1plus";
  EXPECT_EQ(ResourceOf(one)["process.executable.name"], "cc1plus");
}

TEST(OtlpChoiceTest, PodAndUnitAreOfTheResource) {
  RecordedProfile one = OneReader();
  one.profile.control_groups = {
      "/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef.slice/cri-containerd-x.scope"};
  one.profile.rows[0].control_group = 1;
  EXPECT_THAT(ResourceOf(one), IsSupersetOf({Pair("k8s.pod.uid", "01234567-89ab-cdef-0123-456789abcdef"),
                                             Pair("offcpu.unit", "cri-containerd-x.scope")}));
}

// Each login and each job of cron is a unit.
TEST(OtlpChoiceTest, UnitsOfAMomentHaveOneName) {
  const auto unit = [](const std::string& name) {
    RecordedProfile one = OneReader();
    one.profile.control_groups = {"/user.slice/" + name};
    one.profile.rows[0].control_group = 1;
    return ResourceOf(one)["offcpu.unit"];
  };
  for (const char* name : {"session-1.scope", "session-4711.scope", "session-c2.scope"})
    EXPECT_EQ(unit(name), "session-*.scope") << name;
  for (const char* name : {"run-u12.service", "run-r0123456789abcdef0123456789abcdef.service", "run-p12-i34.service"})
    EXPECT_EQ(unit(name), "run-*.service") << name;
  for (const char* name : {"session-migration.service", "run-parts.service", "run-radius2.service", "run-.service",
                           "session-1", "web1.service", "postgresql@15-main.service"})
    EXPECT_EQ(unit(name), std::string(name) == "session-1" ? "" : name);
  RecordedProfile one = OneReader();
  one.profile.control_groups = {"/user.slice/session-1.scope"};
  one.profile.rows[0].control_group = 1;
  OtlpOptions options;
  options.labels = *ParseOtlpLabels({"unit", "cgroup"});
  EXPECT_EQ(ResourceOf(one, options)["offcpu.unit"], "session-1.scope") << "the control group says it all the same";
}

TEST(OtlpChoiceTest, ProcessesOfOneProgramAreOneResource) {
  RecordedProfile two = OneReader();
  const uint32_t child = two.AddProcess({11, 2000, 1}, "server", "3f5c0b1e2a77");
  const uint32_t elsewhere = two.AddProcess({12, 2000, 1}, "server", "other");
  two.profile.rows.push_back(two.profile.rows[0]);
  two.profile.rows.push_back(two.profile.rows[0]);
  two.profile.rows[1].process = elsewhere;
  two.profile.rows[2].process = child;
  const OtlpReader reader = OneOf(two);
  ASSERT_EQ(reader.message().resource_profiles_size(), 2);
  EXPECT_EQ(Find(reader, 0, "off_cpu/nanoseconds")->samples(0).values(0), 10'000);
  EXPECT_EQ(Find(reader, 1, "off_cpu/nanoseconds")->samples(0).values(0), 5'000);
  OtlpOptions options;
  options.labels = *ParseOtlpLabels({"pid"});
  EXPECT_EQ(OneOf(two, options).message().resource_profiles_size(), 3);
}

TEST(OtlpChoiceTest, EachProfileSaysWhatWasLost) {
  RecordedProfile one = OneReader();
  one.profile.stats.losses = {{"ring full", 3, 1500}, {"nothing", 0, 0}, {std::string(5000, 'x'), 1, 1}};
  OtlpOptions options;
  options.export_losses = {{"spool full", 4, 60'000'000'000}};
  const OtlpReader reader = OneOf(one, options);
  const otlp::Profile* profile = Find(reader, 0, "off_cpu/nanoseconds");
  EXPECT_THAT(reader.Attributes(profile->attribute_indices()),
              Contains(Pair("offcpu.lost",
                            "[recording: ring full: 3 times, 1500 ns, "
                            "export: spool full: 4 times, 60000000000 ns]")));
  EXPECT_THAT(OneOf(OneReader()).dictionary().string_table(), Not(Contains("offcpu.lost")));
}

TEST(OtlpChoiceTest, NothingIsSaidOfNothing) {
  EXPECT_THAT(RequestsOf(RecordedProfile{}, {}), IsEmpty());
  OtlpOptions options;
  options.types = *ParseOtlpTypes({"contentions"});
  EXPECT_THAT(SumsOf(RequestsOf(OneReader(), options)), ElementsAre(Pair("contentions/count", 2)));
  options.types.reset();
  EXPECT_THAT(RequestsOf(OneReader(), options), IsEmpty());
}

}  // namespace
}  // namespace offcpu
