#include "html/source_link.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(SourceLinkTest, ReadsTheAddressAndItsPrefix) {
  EXPECT_EQ(ParseSourceLink("https://example.org/a=b/%f#L%l").value(),
            (SourceLink{.prefix = "", .url = "https://example.org/a=b/%f#L%l"}));
  EXPECT_EQ(ParseSourceLink("/src/app=https://example.org/?p=%f&n=%l").value(),
            (SourceLink{.prefix = "/src/app", .url = "https://example.org/?p=%f&n=%l"}));
  EXPECT_EQ(ParseSourceLink("./=vscode://file/home/me/%f:%l").value(),
            (SourceLink{.prefix = "./", .url = "vscode://file/home/me/%f:%l"}));
}

TEST(SourceLinkTest, RefusesWhatANameOfAFileCouldMakeSomethingElseOf) {
  for (const std::string text : {"",
                                 "%f",
                                 "/src",
                                 "/src=",
                                 "example.org/%f",
                                 "https:%f",
                                 "https://%f",
                                 "https://%f/x",
                                 "https://a%f/",
                                 "https://a\\%f",
                                 "https:///%f",
                                 "//example.org/%f",
                                 "javascript://x/%0a%f",
                                 "JavaScript://x/%f",
                                 "java\tscript://x/%f",
                                 " https://x/%f",
                                 "data://x/%f",
                                 "vbscript://x/%f",
                                 "blob://x/%f",
                                 "filesystem://x/%f",
                                 "https://example.org/",
                                 "https://x/ %f",
                                 "https://x/\xc3\xa4%f",
                                 "1a://x/%f",
                                 "/src=javascript://x/%0a%f"})
    EXPECT_FALSE(ParseSourceLink(text).ok()) << text;
}

TEST(SourceLinkTest, SaysWhatALinkIs) {
  EXPECT_EQ(
      ParseSourceLink("example.org/\033%f").status().message(),
      "--source-link example.org/?%f: write [PREFIX=]URL, such as https://example.org/%f#L%l, with the host before "
      "%f (the file)");
}

TEST(SourceLinkTest, HasALimit) {
  const std::string most = "https://x/%f" + std::string(4096 - 12, 'a');
  EXPECT_TRUE(ParseSourceLink(most).ok());
  EXPECT_FALSE(ParseSourceLink(most + "a").ok());
}

}  // namespace
}  // namespace offcpu
