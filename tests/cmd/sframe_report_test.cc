#include "offcpu/sframe_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unwind/sframe_builder.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SFrameReportTest : public ::testing::Test {
 protected:
  SFrameReportTest() {
    module.path = "/lib/a\nb.so";
    module.build_id = "c0ffee";
    module.code = {{0x1000, 0x1100}, {0x3000, 0x3100}};
  }
  std::string Text(bool dump = false) {
    std::vector<SFrameReport> reports;
    reports.push_back(ReportSFrame(module));
    std::string text;
    WriteSFrameReports(reports, dump, [&](std::string_view piece) { text += piece; });
    return text.substr(text.find('\n') + 1);  // behind the heading
  }
  std::string Json() {
    std::vector<SFrameReport> reports;
    reports.push_back(ReportSFrame(module));
    std::string text;
    WriteSFrameReportsJson(reports, [&](std::string_view piece) { text += piece; });
    return text;
  }

  Module module;
  SFrameBuilder sframe;
};

TEST_F(SFrameReportTest, None) {
  EXPECT_EQ(Text(), "none             -         -        -  no        /lib/a?b.so\n");
  module.eh_frame.bytes.resize(4);
  EXPECT_EQ(Json(),
            R"([{"path":"/lib/a\u000ab.so","build_id":"c0ffee","sframe":"none","code_bytes":512,"eh_frame":true}])"
            "\n");
}

// 64 and 64 bytes of 512; the third function lies nowhere, and is damaged.
TEST_F(SFrameReportTest, ShareOfTheCode) {
  sframe.OnStack(0x1000, 64, 8);
  sframe.Function(0x30c0, 64, SFrameBuilder::kStart1,
                  {{0, 0x03, 8},     // at 0: CFA = rsp + 8
                   {1, 0x03, 16}});  // at 1: CFA = rsp + 16
  sframe.OnStack(0x30ff, 2, 8);      // beyond the end of the segment
  module.sframe = sframe.Table();
  EXPECT_EQ(Text(), "V3               3         3    25.0%  no        /lib/a?b.so (1 functions damaged)\n");
  EXPECT_EQ(
      Json(),
      R"([{"path":"/lib/a\u000ab.so","build_id":"c0ffee","sframe":"V3","functions":3,"damaged_functions":1,"rows":3,)"
      R"("covered_bytes":128,"code_bytes":512,"eh_frame":false}])"
      "\n");
  EXPECT_THAT(Text(/*dump=*/true), HasSubstr("\n  0x30c1 "));
}

// However often a function is described, it covers its bytes once.
TEST_F(SFrameReportTest, FunctionsThatOverlap) {
  for (uint64_t begin : {0x1000, 0x1000, 0x1010}) sframe.OnStack(begin, 64, 8);
  module.sframe = sframe.Table();
  EXPECT_EQ(ReportSFrame(module).covered_bytes, 80u);
}

TEST_F(SFrameReportTest, OlderVersions) {
  for (uint8_t version : {uint8_t{1}, uint8_t{2}}) {
    sframe.version = version;
    module.sframe = sframe.Table();
    EXPECT_EQ(ReportSFrame(module).sframe, version == 1 ? "V1" : "V2");
    EXPECT_THAT(Json(), Not(HasSubstr("rows")));
  }
}

TEST_F(SFrameReportTest, TablesThatAreNotRead) {
  sframe.version = 9;
  module.sframe = sframe.Table();
  EXPECT_THAT(Json(), HasSubstr(R"("sframe":"other","why":"SFrame: version 9",)"));
  std::swap(module.sframe.bytes[0], module.sframe.bytes[1]);
  EXPECT_THAT(Json(), HasSubstr(R"("sframe":"other","why":"SFrame: big-endian",)"));
}

TEST_F(SFrameReportTest, Damaged) {
  module.sframe.bytes = {std::byte{1}};
  EXPECT_EQ(ReportSFrame(module).sframe, "damaged");
  EXPECT_THAT(Json(), HasSubstr(R"("sframe":"damaged","why":")"));
  module.sframe = ModuleTable();
  module.damaged_sframe = true;
  EXPECT_THAT(Text(), HasSubstr("damaged"));
  EXPECT_THAT(Text(), HasSubstr("the segment cannot be read"));
  module = Module();
  EXPECT_THAT(Text(), HasSubstr("the object cannot be read"));
}

}  // namespace
}  // namespace offcpu
