#include "os/credentials.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr std::string_view kStatus =
    "Name:\tserver\n"
    "Uid:\t1000\t1001\t1002\t1003\n"
    "Gid:\t100\t101\t102\t103\n"
    "FDSize:\t64\n"
    "Groups:\t4 27 100 \n"
    "NStgid:\t4711\t1\n";

TEST(CredentialsTest, AreThoseForFiles) {
  EXPECT_EQ(ParseCredentials(kStatus), (Credentials{.uid = 1003, .gid = 103, .groups = {4, 27, 100}}));
  EXPECT_EQ(ParseCredentials("Name:\tx\nUid:\t1\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t \n"),
            (Credentials{.uid = 1, .gid = 1}));
}

TEST(CredentialsTest, WhatIsMissingIsNotGuessed) {
  EXPECT_EQ(ParseCredentials(""), std::nullopt);
  EXPECT_EQ(ParseCredentials("Name:\tx\nUid:\t1\t1\t1\t1\n"), std::nullopt);
  EXPECT_EQ(ParseCredentials("Name:\tx\nUid:\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t \n"), std::nullopt);
  EXPECT_EQ(ParseCredentials("Name:\tx\nUid:\ta\t1\t1\t1\nGid:\t1\t1\t1\t1\nGroups:\t \n"), std::nullopt);
}

struct stat File(uid_t uid, gid_t gid, mode_t mode) {
  struct stat file = {};
  file.st_uid = uid;
  file.st_gid = gid;
  file.st_mode = S_IFREG | mode;
  return file;
}

// The first class that a process belongs to decides, even if a later one would grant more.
TEST(CredentialsTest, OwnerGroupAndOthersAreToldApart) {
  const Credentials who = {.uid = 1000, .gid = 100, .groups = {27}};
  EXPECT_TRUE(MayRead(who, File(1000, 1, 0400)));
  EXPECT_FALSE(MayRead(who, File(1000, 100, 0044)));
  EXPECT_TRUE(MayRead(who, File(0, 100, 0040)));
  EXPECT_TRUE(MayRead(who, File(0, 27, 0040)));
  EXPECT_FALSE(MayRead(who, File(0, 27, 0604)));
  EXPECT_TRUE(MayRead(who, File(0, 0, 0004)));
  EXPECT_FALSE(MayRead(who, File(0, 0, 0660)));
  EXPECT_TRUE(MayRead({.uid = 0}, File(1000, 1, 0)));
  EXPECT_TRUE(MaySearch(who, File(0, 0, 0701)));
  EXPECT_FALSE(MaySearch(who, File(0, 0, 0706)));
}

}  // namespace
}  // namespace offcpu
