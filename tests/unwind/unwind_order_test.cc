#include "unwind/unwind_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace offcpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(UnwindOrderTest, TheDefaultIsAllOfThem) { EXPECT_EQ(*ParseUnwindOrder("sframe,eh_frame,fp"), UnwindOrder()); }

TEST(UnwindOrderTest, KeepsTheOrderAndTheChoice) {
  EXPECT_THAT(ParseUnwindOrder("fp,sframe")->sources, ElementsAre(FrameSource::kFramePointer, FrameSource::kSFrame));
  EXPECT_THAT(ParseUnwindOrder("eh_frame")->sources, ElementsAre(FrameSource::kEhFrame));
  EXPECT_FALSE(ParseUnwindOrder("eh_frame")->Has(FrameSource::kSFrame));
}

TEST(UnwindOrderTest, RefusesWhatIsNoSource) {
  for (const char* text : {"", "dwarf", "sframe,", ",fp", "sframe,,fp", "SFrame", "registers", "sframe fp"}) {
    EXPECT_THAT(std::string(ParseUnwindOrder(text).status().message()), HasSubstr("no source")) << text;
  }
  EXPECT_THAT(std::string(ParseUnwindOrder("fp,fp").status().message()), HasSubstr("twice"));
}

}  // namespace
}  // namespace offcpu
