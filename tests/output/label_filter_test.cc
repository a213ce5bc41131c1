#include "output/label_filter.h"

#include <string>
#include <vector>

#include "fake_profile.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LabelFilterTest : public ::testing::Test {
 protected:
  LabelFilterTest() {
    const uint32_t server = fake_.Process(10, "server");
    const uint32_t client = fake_.Process(11, "client");
    const uint32_t worker = fake_.Comm("worker");
    const uint32_t user = fake_.User({"read"});
    const uint32_t kernel = fake_.Kernel({"schedule"});
    fake_.Row(server, worker, user, kernel, 3'000'000, 1'000'000);
    fake_.Row(client, worker, user, kernel, 5'000'000);
    fake_.Row(client, worker, user, kernel, 1'000'000);
    fake_.profile.control_groups = {"/system.slice/web.service", "/user.slice/x\ny"};
    fake_.profile.rows[0].control_group = 1;
    fake_.profile.rows[1].control_group = 2;
  }

  std::vector<uint64_t> Kept(const std::vector<std::string>& filters) {
    NamedProfile profile = fake_.profile;
    std::vector<LabelFilter> parsed;
    for (const std::string& filter : filters) parsed.push_back(*ParseLabelFilter(filter));
    KeepRows(parsed, &profile);
    std::vector<uint64_t> times;
    for (const ProfileRow& row : profile.rows) times.push_back(row.total_ns());
    return times;
  }

  FakeProfile fake_;
};

TEST_F(LabelFilterTest, FiltersOfOneLabelAreOrAndOfSeveralAnd) {
  EXPECT_EQ(Kept({}), (std::vector<uint64_t>{4'000'000, 5'000'000, 1'000'000}));
  EXPECT_EQ(Kept({"process=serv*"}), (std::vector<uint64_t>{4'000'000}));
  EXPECT_EQ(Kept({"pid=10", "pid=11"}), (std::vector<uint64_t>{4'000'000, 5'000'000, 1'000'000}));
  EXPECT_EQ(Kept({"pid=11", "cgroup=/user*"}), (std::vector<uint64_t>{5'000'000}));
  EXPECT_EQ(Kept({"unit=web.service"}), (std::vector<uint64_t>{4'000'000}));
  EXPECT_EQ(Kept({"cgroup="}), (std::vector<uint64_t>{1'000'000})) << "that have none";
  EXPECT_EQ(Kept({"comm=nobody"}), (std::vector<uint64_t>{}));
}

TEST_F(LabelFilterTest, MarksOfWaitsForWorkStayWithTheirRows) {
  fake_.Idle({"", "a pool", ""});
  KeepRows({*ParseLabelFilter("pid=11")}, &fake_.profile);
  ASSERT_THAT(fake_.profile.rows, SizeIs(2));
  EXPECT_THAT(IdleOf(fake_.profile), ElementsAre("a pool", ""));
}

TEST_F(LabelFilterTest, AnErrorSaysWhatOneLooksLike) {
  EXPECT_THAT(std::string(ParseLabelFilter("lock").status().message()), HasSubstr("LABEL=PATTERN"));
}

}  // namespace
}  // namespace offcpu
