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

// Containers without an id have a name. In each of them, as on the host, there may be an nginx.service.
TEST(ContainerIdTest, NamesOfContainersWithoutIds) {
  EXPECT_EQ(ContainerId("0::/lxc.payload.web/system.slice/nginx.service\n"), "web");
  EXPECT_EQ(ContainerId("0::/lxc.payload.web-1/init.scope\n"), "web-1");
  EXPECT_EQ(ContainerId("12:pids:/lxc/web/user.slice\n"), "web");
  EXPECT_EQ(ContainerId("0::/lxc.payload/web/init.scope\n"), "web");
  EXPECT_EQ(ContainerId("0::/machine.slice/machine-web.scope/payload/system.slice/nginx.service\n"), "web");
  EXPECT_EQ(ContainerId("0::/machine.slice/machine-my\\x2dweb.scope\n"), "my-web");
  EXPECT_EQ(ContainerId("0::/machine.slice/systemd-nspawn@web.service/payload/init.scope\n"), "web");
  EXPECT_EQ(ContainerId("0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator\n"), "qemu-1-vm");
}

TEST(ContainerIdTest, WhatRunsContainersIsInNone) {
  EXPECT_EQ(ContainerId("0::/lxc.monitor.web\n"), "");
  EXPECT_EQ(ContainerId("0::/lxc\n"), "");
  EXPECT_EQ(ContainerId("0::/system.slice/systemd-nspawn@web.service\n"), "") << "not of machine.slice";
  EXPECT_EQ(ContainerId("0::/machine.slice/machine-.scope\n"), "");
  EXPECT_EQ(ContainerId("0::/system.slice/nginx.service\n"), "");
}

// A name is one among those of the container that it is in.
TEST(ContainerIdTest, NestedNamesAreAPath) {
  EXPECT_EQ(ContainerId("0::/lxc.payload.a/lxc.payload.web/system.slice/nginx.service\n"), "a/web");
  EXPECT_EQ(ContainerId("0::/lxc.payload.b/machine.slice/machine-web.scope\n"), "b/web");
  EXPECT_EQ(ContainerId("0::/lxc.payload.b/system.slice/docker-" + kA + ".scope\n"), kA);
  EXPECT_EQ(ContainerId("0::/docker/" + kA + "/lxc.payload.web\n"), kA + "/web");
}

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

TEST_F(FindContainerCgroupTest, ByName) {
  const std::string web = Make("/lxc.payload.web");
  Make("/lxc.payload.web/system.slice/nginx.service");
  Make("/lxc.monitor.web");
  const std::string machine = Make("/machine.slice/systemd-nspawn@my\\x2dbase.service");
  EXPECT_EQ(FindContainerCgroup(root_, "web").value_or(""), web);
  EXPECT_EQ(FindContainerCgroup(root_, "my-base").value_or(""), machine);
  EXPECT_EQ(FindContainerCgroup(root_, "we").status().code(), absl::StatusCode::kNotFound) << "names are whole";
}

TEST_F(FindContainerCgroupTest, NotAContainer) {
  Make("/docker-" + kA + ".scope");
  for (const std::string& id : {std::string(), std::string("../../../")}) {
    EXPECT_EQ(FindContainerCgroup(root_, id).status().code(), absl::StatusCode::kInvalidArgument) << id;
  }
  for (const std::string& id : {kA.substr(0, 7), kA + "0", std::string("0123456x"), std::string("0123456A")}) {
    EXPECT_EQ(FindContainerCgroup(root_, id).status().code(), absl::StatusCode::kNotFound) << id;
  }
}

TEST_F(FindContainerCgroupTest, SymbolicLinksAreNotFollowed) {
  Make("/a/docker-" + kA + ".scope");
  std::filesystem::create_directory_symlink(root_, root_ + "/a/loop");
  EXPECT_TRUE(FindContainerCgroup(root_, kA).ok());
}

}  // namespace
}  // namespace offcpu
