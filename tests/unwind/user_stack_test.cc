#include "unwind/user_stack.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace offcpu {
namespace {

TEST(UserStackTest, NamesDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < kFrameSourceCount; ++i) names.insert(Name(static_cast<FrameSource>(i)));
  EXPECT_EQ(names.size(), size_t{kFrameSourceCount});
  EXPECT_FALSE(names.contains("?"));
  EXPECT_EQ(Name(static_cast<FrameSource>(kFrameSourceCount)), "?") << "or there are more";
  names.clear();
  for (int i = 0; i < kEndReasonCount; ++i) names.insert(Name(static_cast<EndReason>(i)));
  EXPECT_EQ(names.size(), size_t{kEndReasonCount});
  EXPECT_FALSE(names.contains("?"));
  EXPECT_EQ(Name(static_cast<EndReason>(kEndReasonCount)), "?") << "or there are more";
  EXPECT_EQ(Name(FrameSource::kFramePointer), "fp");
  EXPECT_EQ(Name(EndReason::kNoRow), "no row");
}

TEST(UserStackTest, ReturnAddressesAreLookedUpOneByteBefore) {
  Frame frame;
  frame.address = 0x1000;
  EXPECT_EQ(frame.lookup_address(), 0x1000u);
  frame.exact = false;
  EXPECT_EQ(frame.lookup_address(), 0xfffu);
}

}  // namespace
}  // namespace offcpu
