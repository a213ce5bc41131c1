// Recordings of a program as OTLP, as a back end takes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "process/control_groups.h"
#include "tests/harness/cli.h"
#include "tests/harness/harness.h"
#include "tests/harness/pod_of_kubernetes.h"
#include "tests/otlp/pyroscope_rules.h"

namespace offcpu::integration {
namespace {

class Otlp : public CliTest {
 protected:
  void Record(std::vector<std::string> words) {
    words.insert(words.begin(), {"record", "-o", Path("out.pb.gz"), "-o", Path("out.otlp")});
    words.emplace_back("2");
    ASSERT_EQ(Run(words), 0) << errors_;
  }
};

// The kernel keeps 15 bytes of a thread's name.
TEST_F(Otlp, AProgramHasAllOfItsNameAndItsPod) {
  const absl::StatusOr<std::string> root = ControlGroupRoot();
  if (!root.ok()) GTEST_SKIP() << root.status();
  const std::string name = "twenty-four-letters-long";
  ASSERT_EQ(name.size(), 24u);
  const PodOfKubernetes pod(*root);
  std::filesystem::copy_file(BinDirectory() + "/targets/waits", Path(name));
  const std::unique_ptr<Target> waits = Target::Start({Path(name), "--seconds", "20"});
  ASSERT_NE(waits, nullptr);
  pod.Add(waits->pid());
  waits->Go();
  Record({"-p", std::to_string(waits->pid())});
  PyroscopeStore store;
  store.Take(ReadFile(Path("out.otlp")));
  EXPECT_THAT(store.refused(), testing::IsEmpty());
  for (const auto& [label, value] :
       std::map<std::string, std::string>{{"service_name", name},
                                          {"process_executable_name", name},
                                          {"process_executable_path", std::filesystem::canonical(Path(name)).string()},
                                          {"k8s_pod_uid", PodOfKubernetes::uid()},
                                          {"container_id", PodOfKubernetes::id()}})
    EXPECT_THAT(store.Sums("off_cpu:off_cpu", label), testing::ElementsAre(testing::Key(value))) << label;
  ASSERT_EQ(Run({"report", Path("out.pb.gz"), "--by", "pod"}), 0) << errors_;
  EXPECT_THAT(output_, testing::HasSubstr("100.0 %"));
  EXPECT_THAT(output_, testing::HasSubstr(PodOfKubernetes::uid()));
}

TEST_F(Otlp, ReportWritesIt) {
  const std::unique_ptr<Target> waits = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(waits, nullptr);
  Record({"-p", std::to_string(waits->pid())});
  ASSERT_EQ(Run({"report", Path("out.pb.gz"), "-o", Path("again.otlp")}), 0) << errors_;
  EXPECT_EQ(ReadFile(Path("again.otlp")), ReadFile(Path("out.otlp")));
}

}  // namespace
}  // namespace offcpu::integration
