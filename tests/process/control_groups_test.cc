#include "process/control_groups.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

namespace offcpu {
namespace {

const std::string kContainer = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kPod = "1b2c3d4e-0000-4111-8222-333344445555";

TEST(ControlGroupNamesTest, Systemd) {
  EXPECT_EQ(NamesInControlGroup("/system.slice/nginx.service").unit, "nginx.service");
  EXPECT_EQ(NamesInControlGroup("/system.slice/nginx.service/workers").unit, "nginx.service");
  EXPECT_EQ(NamesInControlGroup("/user.slice/user-1000.slice/session-2.scope").unit, "session-2.scope");
  EXPECT_EQ(NamesInControlGroup("/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service").unit,
            "editor.service");
  EXPECT_EQ(NamesInControlGroup("/system.slice").unit, "");
  EXPECT_EQ(NamesInControlGroup("/").unit, "");
  EXPECT_EQ(NamesInControlGroup("").unit, "");
}

TEST(ControlGroupNamesTest, KubernetesByEitherDriver) {
  const ControlGroupNames plain = NamesInControlGroup("/kubepods/burstable/pod" + kPod + "/" + kContainer);
  EXPECT_EQ(plain.pod, kPod);
  EXPECT_EQ(plain.unit, "");
  const std::string path =
      "/kubepods.slice/kubepods-burstable.slice/"
      "kubepods-burstable-pod1b2c3d4e_0000_4111_8222_333344445555.slice/cri-containerd-" +
      kContainer + ".scope";
  const ControlGroupNames systemd = NamesInControlGroup(path);
  EXPECT_EQ(systemd.pod, kPod);
  EXPECT_EQ(systemd.unit, "cri-containerd-" + kContainer + ".scope");
}

// As containerd writes it where systemd does not make the groups.
TEST(ControlGroupNamesTest, PodInFrontOfItsContainer) {
  EXPECT_EQ(NamesInControlGroup("/system.slice/containerd.service/"
                                "kubepods-burstable-pod1b2c3d4e_0000_4111_8222_333344445555.slice:cri-containerd:" +
                                kContainer)
                .pod,
            kPod);
  EXPECT_EQ(NamesInControlGroup("/a:pod" + kPod).pod, "");
}

// The kubelet itself makes those of the control plane, and names them by a hash.
TEST(ControlGroupNamesTest, StaticPods) {
  const std::string hash = "0123456789abcdef0123456789abcdef";
  EXPECT_EQ(NamesInControlGroup("/kubepods/burstable/pod" + hash + "/" + kContainer).pod, hash);
  EXPECT_EQ(NamesInControlGroup("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + hash +
                                ".slice/cri-containerd-" + kContainer + ".scope")
                .pod,
            hash);
  EXPECT_EQ(NamesInControlGroup("/pod" + hash + "0").pod, "");
  EXPECT_EQ(NamesInControlGroup("/machine.slice/machine-libpod_pod_" + kContainer + ".slice").pod, "");
}

TEST(ControlGroupNamesTest, WhatOnlyLooksLikeAPodIsNone) {
  EXPECT_EQ(NamesInControlGroup("/tripod" + kPod).pod, "");
  EXPECT_EQ(NamesInControlGroup("/pod" + kPod + "0").pod, "");
  EXPECT_EQ(NamesInControlGroup("/pod1b2c3d4e-0000-4111-8222-33334444555g").pod, "");
  EXPECT_EQ(NamesInControlGroup("/pod").pod, "");
}

TEST(ControlGroupsTest, EachIsLookedUpOnceAndKept) {
  std::vector<uint64_t> asked;
  ControlGroups groups([&asked](uint64_t id) {
    asked.push_back(id);
    if (id == 8) return std::optional<std::string>();
    return std::optional<std::string>(id == 7 ? "" : "/group" + std::to_string(id));
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(groups.Path(5), "/group5");
    EXPECT_EQ(groups.Path(7), "") << "gone: ids are never used again";
    EXPECT_EQ(groups.Path(0), "");
    EXPECT_EQ(groups.Path(8), "") << "that time";
  }
  EXPECT_EQ(asked, (std::vector<uint64_t>{5, 7, 8, 8}));
  EXPECT_EQ(groups.not_told(), 2u);
}

TEST(ControlGroupsTest, ALongPathIsNoLabel) {
  ControlGroups groups([](uint64_t id) { return std::string(ControlGroups::kMostPathBytes + (id == 1 ? 0 : 1), 'x'); });
  EXPECT_EQ(groups.Path(1).size(), ControlGroups::kMostPathBytes);
  EXPECT_EQ(groups.Path(2), "");
}

TEST(ControlGroupsTest, LongNamesOfManyAreForgotten) {
  size_t asked = 0;
  ControlGroups groups([&asked](uint64_t) {
    ++asked;
    return std::string(ControlGroups::kMostPathBytes, 'x');
  });
  for (uint64_t id = 1; id <= 1100; ++id) groups.Path(id);  // more than 1 MiB
  EXPECT_EQ(groups.Path(1).size(), ControlGroups::kMostPathBytes);
  EXPECT_EQ(asked, 1101u);
}

// The kernel's own answer: a directory of the hierarchy has the id of its group for its inode.
TEST(ControlGroupsTest, FindsPathsBelowTheRoot) {
  const absl::StatusOr<std::string> root = ControlGroupRoot();
  if (!root.ok() || geteuid() != 0) GTEST_SKIP() << "root and a hierarchy of version 2 are needed";
  const ControlGroups::Find find = FindControlGroupsBelow(*root);
  struct stat st;
  ASSERT_EQ(stat(root->c_str(), &st), 0);
  EXPECT_EQ(find(st.st_ino), "/");
  const std::string name = "/offcpu_test_" + std::to_string(getpid());
  ASSERT_EQ(mkdir((*root + name).c_str(), 0755), 0);
  ASSERT_EQ(mkdir((*root + name + "/inner").c_str(), 0755), 0);
  ASSERT_EQ(stat((*root + name + "/inner").c_str(), &st), 0);
  EXPECT_EQ(find(st.st_ino), name + "/inner");
  ASSERT_EQ(rmdir((*root + name + "/inner").c_str()), 0);
  EXPECT_EQ(find(st.st_ino), "");
  ASSERT_EQ(rmdir((*root + name).c_str()), 0);
  EXPECT_EQ(FindControlGroupsBelow("/nowhere")(1), "");
}

}  // namespace
}  // namespace offcpu
