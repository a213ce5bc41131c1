#include "tables/profilers.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

class ProfilersTest : public ::testing::Test {
 protected:
  void Row(const std::string& name, const std::string& executable, uint64_t blocked_ns) {
    const uint32_t process = fake_.Process(10, name);
    fake_.profile.processes[process].executable = executable;
    fake_.Row(process, fake_.Comm("reader"), fake_.User({"wait"}), fake_.Kernel({"schedule"}), blocked_ns);
  }

  FakeProfile fake_;
};

TEST_F(ProfilersTest, AreLeftOutByTheirProgramFiles) {
  Row("offcpud", "/usr/bin/offcpud", 1'000);
  Row("offcpu", "/usr/bin/offcpu", 200);
  Row("offcpud", "/tmp/a.out", 30);  // calls itself so
  Row("offcpud", "", 4);             // gone before it was looked at
  Row("server", "/opt/offcpud/bin/server", 5);
  EXPECT_EQ(LeaveOutProfilers(&fake_.profile).blocked_ns, 1'200u);
  ASSERT_EQ(fake_.profile.rows.size(), 3u);
  EXPECT_EQ(fake_.profile.rows[0].blocked_ns, 30u);
}

TEST_F(ProfilersTest, StayWhereThereIsNothingElse) {
  Row("offcpud", "/usr/bin/offcpud", 1'000);
  EXPECT_EQ(LeaveOutProfilers(&fake_.profile).events(), 0u);
  EXPECT_EQ(fake_.profile.rows.size(), 1u);
}

}  // namespace
}  // namespace offcpu
