#include "labels/row_labels.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

TEST(ParseRowLabelTest, AnErrorNamesThoseThereAre) {
  EXPECT_EQ(*ParseRowLabel("cgroup"), RowLabel::kControlGroup);
  EXPECT_THAT(std::string(ParseRowLabel("group").status().message()),
              HasSubstr("no label is called 'group' (did you mean cgroup?); the labels are pid, process, exe, "
                        "container, image, tid, comm, cgroup, pod,"));
}

}  // namespace
}  // namespace offcpu
