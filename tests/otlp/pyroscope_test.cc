// Windows as a back end takes them: nothing is refused, few series, and sums that are the report's.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "labels/row_labels.h"
#include "otlp_checker.h"
#include "otlp_reader.h"
#include "otlp_requests.h"
#include "pyroscope_rules.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr uint32_t kPrograms = 25;

// A host as a recording of seconds shows it: programs with several processes and threads each, some of them in pods,
// threads of the kernel, and waits of all sorts, at stacks that many of them share.
class Host : public RecordedProfile {
 public:
  Host() : RecordedProfile(WithSamples()) {
    profile.processes.clear();
    profile.comms.clear();
    profile.rows.clear();
    profile.control_groups.clear();
    profile.ledger.clear();
    profile.stats.losses = {{"ring full", 3, 1500}};
    for (uint32_t i = 0; i < 8; ++i) AddComm("worker-" + std::to_string(i));
    for (uint32_t program = 0; program < kPrograms; ++program) AddProgram(program);
    for (int32_t i = 0; i < 40; ++i) {
      NamedRow& row = profile.rows.emplace_back();
      row.process = AddProcess({2000 + i, 1, 1}, "kworker/" + std::to_string(i) + ":1");
      row.blocked_ns = 1'000'000;
      row.count = 1;
    }
  }

 private:
  uint64_t Any(uint64_t below) {
    random_ = random_ * 6364136223846793005 + 1442695040888963407;
    return (random_ >> 33) % below;
  }

  void AddProgram(uint32_t program) {
    const std::string name = "program-" + std::to_string(program);
    const std::string number = std::to_string(100 + program);
    const bool in_pod = program % 3 == 0;
    profile.control_groups.push_back(in_pod ? "/kubepods/pod01234567-89ab-cdef-0123-456789abc" + number + "/c"
                                            : "/system.slice/" + name + ".service");
    for (int32_t i = 0; i < 4; ++i) {
      const int32_t pid = static_cast<int32_t>(1000 + 10 * program) + i;
      const uint32_t process = AddProcess({pid, 1, 1}, name.substr(0, 15), in_pod ? "container" + number : "");
      profile.processes[process].executable = "/usr/bin/" + name;
      for (int32_t thread = 0; thread < 12; ++thread) AddRow(process, pid + thread, program + 1);
    }
  }

  void AddRow(uint32_t process, int32_t tid, uint32_t control_group) {
    const std::vector<WaitKind> kinds = {WaitKind::kSleeping, WaitKind::kDisk, WaitKind::kPreempted, WaitKind::kOpen};
    NamedRow& row = profile.rows.emplace_back();
    row.process = process;
    row.tid = tid;
    row.control_group = control_group;
    row.comm = static_cast<uint32_t>(Any(8));
    row.kernel_stack = static_cast<uint32_t>(Any(profile.kernel_stacks.size()));
    row.user_stack = static_cast<uint32_t>(Any(profile.user_stacks.size()));
    row.kind = kinds[Any(kinds.size())];
    row.syscall = static_cast<int32_t>(Any(20));
    row.count = 1 + Any(100);
    row.blocked_ns = Any(1'000'000'000);
    row.runnable_ns = Any(10'000'000);
    row.max_ns = Any(1'000'000);
    row.ns_variance = 1e9;
    row.samples = Any(3);
    row.cpu_ns = row.samples * profile.stats.oncpu_period_ns;
    if (Any(4) == 0 && row.samples == 0) row.idle = "a pool";  // what runs does not wait for work
  }

  uint64_t random_ = 1;
};

PyroscopeStore StoreOf(const RecordedProfile& recorded, const OtlpOptions& options) {
  PyroscopeStore store;
  const std::vector<std::string> requests = RequestsOf(recorded, options);
  CheckOtlp(requests);
  for (const std::string& request : requests) store.Take(request);
  return store;
}

// As a report of the profile adds them up, by the name of the program.
std::map<std::string, int64_t> Reported(const NamedProfile& profile, uint64_t (*value)(const ProfileRow&)) {
  std::map<std::string, int64_t> sums;
  for (const NamedRow& row : profile.rows) {
    const ProcessInfo& process = profile.processes[row.process];
    const std::string program = process.executable.empty() ? "kworker/*:*" : process.executable.substr(9);
    if (value(row) != 0) sums[program] += static_cast<int64_t>(value(row));
  }
  return sums;
}

TEST(PyroscopeTest, AWindowIsTakenWhole) {
  const Host host;
  const PyroscopeStore store = StoreOf(host, {});
  EXPECT_THAT(store.refused(), IsEmpty());
  EXPECT_EQ(store.Sums("off_cpu:off_cpu", "service_name"),
            Reported(host.profile, [](const ProfileRow& row) { return row.total_ns(); }));
  EXPECT_EQ(store.Sums("process_cpu:cpu", "service_name"),
            Reported(host.profile, [](const ProfileRow& row) { return row.cpu_ns; }));
  std::map<std::string, int64_t> phases;
  for (const ProfileRow& row : host.profile.rows) {
    phases["blocked"] += static_cast<int64_t>(row.blocked_ns);
    phases["runnable"] += static_cast<int64_t>(row.runnable_ns);
  }
  EXPECT_EQ(store.Sums("off_cpu:off_cpu", "offcpu_phase"), phases);
}

TEST(PyroscopeTest, AWindowIsFewSeries) {
  Host host;
  const auto sets = [&host](const OtlpOptions& options) {
    std::set<PyroscopeStore::Labels> labels;
    const PyroscopeStore store = StoreOf(host, options);
    for (const auto& series : store.series()) {
      PyroscopeStore::Labels of = series.first;
      of.erase("__type__");
      of.erase("__name__");
      labels.insert(of);
    }
    return labels.size();
  };
  EXPECT_LE(sets({}), 4 * (kPrograms + 1)) << "phases, of which one may be idle, and time on the CPU without one";
  EXPECT_GT(sets(Everything()), 1000u);
  for (NamedRow& row : host.profile.rows) row.samples = row.cpu_ns = 0;
  EXPECT_LE(sets({}), 100u);
}

TEST(PyroscopeTest, WhatIsChosenIsTakenToo) {
  const Host host;
  const PyroscopeStore store = StoreOf(host, Everything());
  EXPECT_THAT(store.refused(), IsEmpty());
  for (const char* type : {"off_cpu:off_cpu", "process_cpu:cpu", "contentions:contentions", "blocked:blocked",
                           "runnable:runnable", "recording:recording", "lost:lost"})
    EXPECT_THAT(store.Sums(type, ""), testing::SizeIs(1)) << type;
}

TEST(PyroscopeTest, AttributesOfTheHostAreTakenToo) {
  OtlpOptions options;
  options.resource = {{"deployment.environment.name", "prod"}, {"k8s.node.name", "n"}, {"host.name", "n"}};
  EXPECT_THAT(StoreOf(Host(), options).refused(), IsEmpty());
}

TEST(PyroscopeTest, LargeWindowsAreInProfilesThatAreNotTooLarge) {
  RecordedProfile one = OneReader();
  std::vector<NamedFrame> frames;
  for (uint64_t i = 0; i < 120; ++i) {
    const std::string name = "function_" + std::to_string(i);
    frames.push_back(RecordedProfile::Native({one.app, 16 * i, FrameSource::kEhFrame, true}, name, "app"));
  }
  for (uint32_t i = 0; i < 20'000; ++i) {
    frames[0].address = 0x100000 + i;
    NamedRow row = one.profile.rows[0];
    row.user_stack = one.AddUser(frames);
    one.profile.rows.push_back(row);
  }
  const PyroscopeStore store = StoreOf(one, {});
  EXPECT_THAT(store.refused(), IsEmpty());
  EXPECT_THAT(store.Sums("off_cpu:off_cpu", "service_name"), ElementsAre(Pair("server", 20'001 * 5001)));
}

// Tests the rules themselves: what was refused of windows before, and why.
TEST(PyroscopeTest, ATypeThatItDoesNotKnowNeedsAPeriod) {
  OtlpRequestMessage message;
  OtlpOptions options;
  options.types = *ParseOtlpTypes({"contentions"});
  ASSERT_TRUE(message.ParseFromString(RequestsOf(OneReader(), options).at(0)));
  otlp::ScopeProfiles& scope = *message.mutable_resource_profiles(0)->mutable_scope_profiles(0);
  scope.mutable_profiles(0)->clear_period();
  PyroscopeStore store;
  store.Take(message.SerializeAsString());
  EXPECT_THAT(store.refused(), ElementsAre("contentions/count: invalid metric name"));
  EXPECT_THAT(store.series(), IsEmpty());
}

TEST(PyroscopeTest, SomeNamesAreNone) {
  OtlpOptions options;
  options.resource = {{"my-team", "a"}};
  EXPECT_THAT(StoreOf(OneReader(), options).refused(), ElementsAre(HasSubstr("label name my-team")));
  options.resource = {{"host_name", "another"}};
  EXPECT_THAT(StoreOf(OneReader(), options).refused(), ElementsAre(HasSubstr("duplicate label host_name")));
}

}  // namespace
}  // namespace offcpu
