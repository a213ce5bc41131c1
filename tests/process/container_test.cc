#include "process/container.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace offcpu {
namespace {

const std::string kA = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kB = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";

TEST(ContainerIdTest, Runtimes) {
  EXPECT_EQ(ContainerId("0::/system.slice/docker-" + kA + ".scope\n"), kA);
  EXPECT_EQ(
      ContainerId("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_34.slice/cri-containerd-" + kA +
                  ".scope\n"),
      kA);
  EXPECT_EQ(ContainerId("0::/kubepods.slice/crio-" + kA + ".scope\n"), kA);
  EXPECT_EQ(
      ContainerId("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kA + ".scope/container\n"),
      kA);
  EXPECT_EQ(ContainerId("0::/system.slice/containerd.service/kubepods-pod12.slice:cri-containerd:" + kA + "\n"), kA);
  EXPECT_EQ(ContainerId("0::/kubepods/besteffort/pod12-34/" + kA + "\n"), kA);
}

TEST(ContainerIdTest, Version1) {
  EXPECT_EQ(ContainerId("12:pids:/docker/" + kA + "\n11:name=systemd:/docker/" + kA + "\n0::/\n"), kA);
  EXPECT_EQ(ContainerId("12:cpu,cpuacct:/\n11:memory:/docker/" + kA + "\n"), kA);
}

TEST(ContainerIdTest, InnermostOfNested) { EXPECT_EQ(ContainerId("0::/docker/" + kA + "/docker/" + kB + "/x\n"), kB); }

TEST(ContainerIdTest, None) {
  EXPECT_EQ(ContainerId(""), "");
  EXPECT_EQ(ContainerId("0::/\n"), "");
  EXPECT_EQ(ContainerId("0::/user.slice/session-1.scope\n"), "");
  EXPECT_EQ(ContainerId("garbage" + kA), "");
  EXPECT_EQ(ContainerId("0::/docker-" + kA.substr(1) + ".scope"), "") << "63 digits";
  EXPECT_EQ(ContainerId("0::/docker-x" + kA + ".scope"), "") << "65 characters";
  EXPECT_EQ(ContainerId("0::/x0" + kA), "") << "nothing separates it";
  EXPECT_EQ(ContainerId("0::/libpod-conmon-" + kA + ".scope"), "") << "the monitor";
}

class FindContainerCgroupTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string Make(const std::string& path) {
    std::filesystem::create_directories(root_ + path);
    return root_ + path;
  }
  const std::string root_ = ::testing::TempDir() + "find_container_cgroup_test-" + std::to_string(getpid());
};

TEST_F(FindContainerCgroupTest, ByIdAndByPrefix) {
  const std::string a = Make("/system.slice/docker-" + kA + ".scope");
  Make("/system.slice/docker-" + kA + ".scope/init.scope");
  Make("/user.slice/libpod-conmon-" + kB + ".scope");
  const std::string b = Make("/user.slice/libpod-" + kB + ".scope");
  EXPECT_EQ(FindContainerCgroup(root_, kA).value_or(""), a);
  EXPECT_EQ(FindContainerCgroup(root_, kA.substr(0, 8)).value_or(""), a);
  EXPECT_EQ(FindContainerCgroup(root_, kB.substr(0, 12)).value_or(""), b);
}

TEST_F(FindContainerCgroupTest, NoneOrMany) {
  Make("/docker-" + kA + ".scope");
  Make("/docker-" + kA.substr(0, 63) + "0.scope");
  EXPECT_EQ(FindContainerCgroup(root_, kB).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FindContainerCgroup(root_, kA.substr(0, 63)).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(FindContainerCgroup(root_, kA).ok());
  EXPECT_EQ(FindContainerCgroup(root_ + "/none", kA).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(FindContainerCgroupTest, NotAnId) {
  for (const std::string& id : {std::string(), kA.substr(0, 7), kA + "0", std::string("0123456x"),
                                std::string("0123456A"), std::string("../../../")}) {
    EXPECT_EQ(FindContainerCgroup("/", id).status().code(), absl::StatusCode::kInvalidArgument) << id;
  }
}

TEST_F(FindContainerCgroupTest, SymbolicLinksAreNotFollowed) {
  Make("/a/docker-" + kA + ".scope");
  std::filesystem::create_directory_symlink(root_, root_ + "/a/loop");
  EXPECT_TRUE(FindContainerCgroup(root_, kA).ok());
}

}  // namespace
}  // namespace offcpu
