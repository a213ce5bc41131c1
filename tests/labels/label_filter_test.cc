#include "labels/label_filter.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/labels/labelled_profile.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class LabelFilterTest : public LabelledProfile {
 protected:
  std::vector<uint64_t> Kept(const std::vector<std::string>& filters) {
    NamedProfile profile = fake_.profile;
    std::vector<LabelFilter> parsed;
    for (const std::string& filter : filters) parsed.push_back(*ParseLabelFilter(filter));
    KeepRows(parsed, &profile);
    std::vector<uint64_t> times;
    for (const ProfileRow& row : profile.rows) times.push_back(row.total_ns());
    return times;
  }
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

TEST_F(LabelFilterTest, ACauseIsAFamilyOrOneOfIt) {
  const uint32_t futex = fake_.Kernel({"schedule", "futex_wait", "do_futex"});
  fake_.Row(0, 0, fake_.User({"lock"}), futex, 1);
  fake_.Row(0, 0, fake_.User({"join"}), futex, 2);
  fake_.Row(0, 0, fake_.User({"wait"}), futex, 3);
  std::vector<NamedRow>& rows = fake_.profile.rows;
  rows[rows.size() - 3].wait = "mutex";
  rows[rows.size() - 2].wait = "join";
  EXPECT_EQ(Kept({"cause=lock"}), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(Kept({"cause=mutex"}), (std::vector<uint64_t>{1}));
  EXPECT_EQ(Kept({"cause=mutex", "cause=futex"}), (std::vector<uint64_t>{1, 3})) << "that nothing has judged";
  EXPECT_EQ(Kept({"wait=join"}), (std::vector<uint64_t>{2}));
  EXPECT_EQ(Kept({"wait=lock"}), (std::vector<uint64_t>{})) << "that is no cause, only a family";
}

TEST_F(LabelFilterTest, MarksOfWaitsForWorkStayWithTheirRows) {
  fake_.Idle({"", "a pool", ""});
  KeepRows({*ParseLabelFilter("pid=11")}, &fake_.profile);
  ASSERT_THAT(fake_.profile.rows, SizeIs(2));
  EXPECT_THAT(IdleOf(fake_.profile), ElementsAre("a pool", ""));
}

// What the ledger does not say of a thread, as what it waited for, does not choose among them.
TEST_F(LabelFilterTest, TheLedgerHasTheSameProcessesAndThreads) {
  fake_.profile.ledger = {{.process = 0, .tid = 12, .comm = "worker"},
                          {.process = 1, .tid = 13, .comm = "worker"},
                          {.process = 1, .tid = 14, .comm = "hog"}};  // never waited
  const auto kept = [this](const std::vector<std::string>& texts) {
    NamedProfile profile = fake_.profile;
    std::vector<LabelFilter> filters;
    for (const std::string& text : texts) filters.push_back(*ParseLabelFilter(text));
    KeepRows(filters, &profile);
    std::vector<int32_t> tids;
    for (const LedgerEntry& entry : profile.ledger) tids.push_back(entry.tid);
    return tids;
  };
  EXPECT_THAT(kept({}), ElementsAre(12, 13, 14));
  EXPECT_THAT(kept({"pid=11"}), ElementsAre(13, 14));
  EXPECT_THAT(kept({"process=client", "comm=worker"}), ElementsAre(13));
  EXPECT_THAT(kept({"tid=14"}), ElementsAre(14));
  EXPECT_THAT(kept({"cgroup=/user*", "pid=11"}), ElementsAre(13, 14));
}

TEST_F(LabelFilterTest, AnErrorSaysWhatOneLooksLike) {
  EXPECT_THAT(std::string(ParseLabelFilter("lock").status().message()), HasSubstr("LABEL=PATTERN"));
}

}  // namespace
}  // namespace offcpu
