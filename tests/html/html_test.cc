#include "html/html.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/base/config.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "bytes/gzip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/html/many_stacks.h"
#include "tests/html/page_reader.h"
#include "tests/profile/fake_profile.h"
#include "tests/profile/recorded_profile.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr char kData[] = "<script type=\"application/octet-stream\" id=\"profile\">";
constexpr char kScript[] = "<script type=\"module\">";

// As the policy names a text, by coreutils.
std::string HashOf(const std::string& text) {
  const std::string path = testing::TempDir() + "/hashed-" + std::to_string(getpid());
  std::ofstream(path) << text;
  FILE* pipe = popen(("sha256sum " + path + " | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64").c_str(), "r");
  std::array<char, 45> hash = {};
  EXPECT_EQ(fread(hash.data(), 1, 44, pipe), 44u);
  EXPECT_EQ(pclose(pipe), 0);
  unlink(path.c_str());
  return "'sha256-" + std::string(hash.data()) + "'";
}

TEST(HtmlTest, ThePolicyAllowsWhatIsInThePageAndNothingElse) {
  const std::string page = HtmlOf(RecordedProfile::All().profile);
  EXPECT_EQ(Between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\""),
            "default-src 'none'; script-src " + HashOf(Between(page, kScript, "</script>")) + "; style-src " +
                HashOf(Between(page, "<style>", "</style>")) +
                "; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'");
}

TEST(HtmlTest, TheProfileIsBase64) {
  const RecordedProfile all = RecordedProfile::All();
  std::string packed;
  ASSERT_TRUE(absl::Base64Unescape(Between(HtmlOf(all.profile), kData, "</script>"), &packed));
  EXPECT_EQ(Gunzip(packed, 1 << 20).value(), PageData(all.profile, {}));
}

// All that differs between the pages of two profiles is the text of that element.
TEST(HtmlTest, NoByteOfAProfileIsMarkup) {
  FakeProfile fake;
  fake.Row(fake.Process(10, "<img src=x>"), fake.Comm("</script>"), fake.User({"<script>"}), fake.Kernel({"-->"}), 1);
  fake.profile.host = "</title><script>alert(1)</script>";
  std::string hostile = HtmlOf(fake.profile);
  std::string both = HtmlOfBoth(fake.profile, fake.profile);
  std::string empty = HtmlOf({});
  for (std::string* page : {&hostile, &both, &empty}) {
    const std::string data = Between(*page, kData, "</script>");
    EXPECT_EQ(data.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
              std::string::npos);
    page->erase(page->find(data), data.size());
  }
  EXPECT_EQ(hostile, empty);
  EXPECT_EQ(both, empty);
}

// As many stacks as a page keeps are no burden for a browser or a mail. For two profiles it keeps no more.
TEST(HtmlTest, AHundredThousandStacksHaveLessThanTenMegabytes) {
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
  GTEST_SKIP() << "it takes minutes, and a page is as large without the sanitizer";
#endif
  const ManyStacks first(100'000, 1);
  EXPECT_LT(HtmlOf(first.profile()).size(), 10'000'000u);
  EXPECT_LT(HtmlOfBoth(ManyStacks(100'000, 2).profile(), first.profile()).size(), 10'000'000u);
}

// Threads of a pool have other numbers in each run.
TEST(HtmlTest, NamesWithoutNumbersAreCompared) {
  FakeProfile before;
  before.Row(before.Process(10, "job-7"), before.Comm("pool-1"), before.User({"f"}), before.Kernel({"k"}), 1);
  before.Row(before.Process(12, "cc1plus"), before.Comm("cc1plus"), before.User({"f"}), before.Kernel({"k"}), 3);
  FakeProfile after;
  after.Row(after.Process(11, "job-12"), after.Comm("pool-2"), after.User({"f"}), after.Kernel({"k"}), 2);
  after.Row(after.Process(13, "sh"), after.Comm("cc1plus"), after.User({"f"}), after.Kernel({"k"}), 4);
  std::string packed;
  ASSERT_TRUE(absl::Base64Unescape(Between(HtmlOfBoth(before.profile, after.profile), kData, "</script>"), &packed));
  const PageReader page(Gunzip(packed, 1 << 20).value());
  ASSERT_EQ(page.rows(), 3u);
  const std::vector<uint64_t> were = page.Column("before.blocked");
  const std::vector<uint64_t> are = page.Column("sum.blocked");
  std::vector<std::tuple<std::string, std::string, uint64_t, uint64_t>> rows;
  for (size_t i = 0; i < 3; ++i)
    rows.emplace_back(page.Label(i, "process"), page.Label(i, "comm"), were.at(i), are.at(i));
  // A thread that is called like a program of before keeps its digits.
  EXPECT_THAT(rows,
              UnorderedElementsAre(std::tuple("job-*", "pool-*", 1u, 2u), std::tuple("cc1plus", "cc1plus", 3u, 0u),
                                   std::tuple("sh", "cc1plus", 0u, 4u)));
}

TEST(HtmlTest, ThePageNamesNoOtherPlace) {
  // The name of a kind of picture, which nobody looks for anywhere.
  const std::string page = absl::StrReplaceAll(HtmlOf({}), {{"xmlns=\"http://www.w3.org/2000/svg\"", ""}});
  for (const char* what : {"http:", "https:", "src=", "href=", "url(", "@import", "innerHTML", "eval(", "fetch("}) {
    EXPECT_THAT(page, Not(HasSubstr(what)));
  }
}

}  // namespace
}  // namespace offcpu
