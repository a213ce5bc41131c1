// `offcpu doctor` on the kernel that is running, as processes that may do more and less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kCanRecord = 0;
constexpr int kCannotRecord = 1;

// Runs it after the words of `before`; returns its exit code.
int Doctor(const std::vector<std::string>& before, const std::vector<std::string>& options, std::string* output) {
  std::vector<std::string> words = before;
  words.push_back(BinDirectory() + "/offcpu");
  words.emplace_back("doctor");
  words.insert(words.end(), options.begin(), options.end());
  const std::unique_ptr<Program> program = Program::Start(words);
  return program == nullptr ? -1 : program->Wait(output);
}

// As nobody, with no more than these.
std::vector<std::string> WithCapabilities(const std::string& capabilities) {
  return {"setpriv",
          "--reuid=65534",
          "--regid=65534",
          "--clear-groups",
          "--inh-caps=-all" + capabilities,
          "--ambient-caps=-all" + capabilities};
}

TEST(Doctor, RootCanRecordHere) {
  std::string output;
  EXPECT_EQ(Doctor({}, {}, &output), kCanRecord) << output;
  utsname kernel;
  ASSERT_EQ(uname(&kernel), 0);
  EXPECT_THAT(output, HasSubstr(std::string("Linux ") + kernel.release + "\n"));
  EXPECT_THAT(output, HasSubstr("\nok       loading the programs "));
  EXPECT_THAT(output, HasSubstr("\nok       kernel symbols "));
  EXPECT_THAT(output, Not(HasSubstr("missing")));
  EXPECT_THAT(output, HasSubstr("\noffcpu can record here\n"));
}

TEST(Doctor, ForScripts) {
  std::string output;
  EXPECT_EQ(Doctor({}, {"--json"}, &output), kCanRecord);
  EXPECT_THAT(output, HasSubstr(R"({"can_record":true,"kernel":")"));
  EXPECT_THAT(output, HasSubstr(R"({"name":"loading the programs","verdict":"ok",)"));
}

TEST(Doctor, NobodyMayNotRecord) {
  std::string output;
  EXPECT_EQ(Doctor(WithCapabilities(""), {}, &output), kCannotRecord) << output;
  EXPECT_THAT(output, HasSubstr("\nmissing  CAP_BPF "));
  EXPECT_THAT(output, HasSubstr("\nmissing  CAP_PERFMON "));
  EXPECT_THAT(output, HasSubstr("\nmissing  CAP_SYS_PTRACE "));
  EXPECT_THAT(output, HasSubstr("\nmissing  loading the programs "));
  EXPECT_THAT(output, HasSubstr("the kernel refuses the BPF programs: Operation not permitted\n"));
  EXPECT_THAT(output, HasSubstr("\noffcpu cannot record here"));
}

TEST(Doctor, ThreeCapabilitiesAreEnough) {
  std::string output;
  EXPECT_EQ(Doctor(WithCapabilities(",+bpf,+perfmon,+sys_ptrace"), {}, &output), kCanRecord) << output;
  EXPECT_THAT(output, HasSubstr("\nok       loading the programs "));
  EXPECT_THAT(output, HasSubstr("\nlimited  mapped files "));
  EXPECT_THAT(output, HasSubstr("\nlimited  kernel symbols "));
}

TEST(Doctor, APidNamespaceOfItsOwn) {
  std::string output;
  EXPECT_EQ(Doctor({"unshare", "--pid", "--fork", "--mount-proc"}, {}, &output), kCanRecord) << output;
  EXPECT_THAT(output, HasSubstr("\nlimited  pid namespace "));
  EXPECT_THAT(output, HasSubstr("\nok       loading the programs "));
}

TEST(Doctor, KernelWithoutTypes) {
  std::string output;
  const std::vector<std::string> hidden = {"unshare", "-m", "sh", "-c",
                                           R"(mount --bind /dev/null /sys/kernel/btf/vmlinux && exec "$0" "$@")"};
  EXPECT_EQ(Doctor(hidden, {}, &output), kCannotRecord) << output;
  EXPECT_THAT(output, HasSubstr("\nmissing  type information "));
  EXPECT_THAT(output, Not(HasSubstr("loading the programs")));
}

}  // namespace
}  // namespace offcpu::integration
