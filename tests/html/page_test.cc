// What the page does, which programs of their own tell: node runs the modules, and drives a browser that has a page
// open.
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "output/diff.h"
#include "output/diff_files.h"
#include "profile/time_buckets.h"
#include "tests/html/many_stacks.h"
#include "tests/html/page_reader.h"
#include "tests/output/written.h"
#include "tests/profile/fake_profile.h"

namespace offcpu {
namespace {

const std::string kTests = OFFCPU_SOURCE_DIR "/tests/html";

bool HasProgram(const std::string& name) {
  return WEXITSTATUS(system(("command -v " + name + " >/dev/null").c_str())) == 0;
}

int ResultOf(const std::string& command) { return WEXITSTATUS(system(command.c_str())); }

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasProgram("node")) GTEST_SKIP() << "needs node";
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  void Write(const std::string& name, const std::string& bytes) const { std::ofstream(Path(name)) << bytes; }

  // Waits of which each has something that tells it from the others, and the same as folded stacks.
  void WritePage() {
    FakeProfile fake;
    const uint32_t server = fake.Process(10, "server");
    const uint32_t client = fake.Process(11, "</script><b>client");
    const uint32_t futex = fake.Kernel({"schedule", "futex_wait", "do_syscall_64", "entry_SYSCALL_64"});
    const uint32_t pipe = fake.Kernel({"schedule", "pipe_read", "do_syscall_64", "entry_SYSCALL_64"});
    fake.Row(server, fake.Comm("worker-1"), fake.User({"lock", "work", "main"}), futex, 5'000'000'000, 200'000'001);
    fake.Row(server, fake.Comm("worker-2"), fake.User({"read", "work", "main"}), pipe, 2'000'000'000, 3);
    fake.Row(server, fake.Comm("loop"), fake.User({"next", "main"}), pipe, 9'000'000'000, 70);
    fake.Row(client, fake.Comm("client"), fake.User({"lock", "main"}, EndReason::kNoRow), futex, 1'000'000'007);
    fake.Idle({"", "", "server: loop", ""});
    fake.profile.wakers = {ChainOf(fake, server, client)};
    fake.profile.rows[0].waker = 1;
    for (const size_t row : {0, 3}) fake.profile.rows[row].syscall = SYS_futex;
    for (const size_t row : {1, 2}) fake.profile.rows[row].syscall = SYS_read;
    fake.profile.processes[server].container = "0123456789abcdef";
    fake.profile.control_groups = {"/system.slice/server.service"};
    fake.profile.rows[0].control_group = 1;
    fake.profile.host = "<i>web1</i>";
    WriteBoth(fake.profile);
    Write("page.html", Written(OutputFormat::kHtml, fake.profile, {}));
    Write("page.folded", Written(OutputFormat::kFolded, fake.profile, {.folded = {.nanoseconds = true}}));
  }

  // As long as chains are.
  static WakerChain ChainOf(FakeProfile& fake, uint32_t server, uint32_t client) {
    const uint32_t wakes = fake.Kernel({"try_to_wake_up", "futex_wake"});
    const uint32_t writes = fake.Kernel({"try_to_wake_up", "pipe_write"});
    const uint32_t fires = fake.Kernel({"try_to_wake_up", "hrtimer_wakeup"});
    return {
        {.process = server,
         .comm = fake.Comm("giver"),
         .kernel_stack = wakes,
         .user_stack = fake.User({"unlock", "give"})},
        {.process = client,
         .comm = fake.Comm("taker"),
         .kernel_stack = writes,
         .user_stack = fake.User({"write", "take"})},
        {.process = server, .comm = fake.Comm("feeder-3"), .kernel_stack = wakes, .user_stack = fake.User({"feed"})},
        {.interrupt = true, .kernel_stack = fires, .user_stack = fake.Missing(NoUserStack::kKernelThread)}};
  }

  // A page that does not keep all stacks, of all rows but the longest.
  void WritePruned() {
    const ManyStacks many(50, 1);
    Write("pruned.html", HtmlOf(many.profile(), {.max_stacks = 10}));
    Write("pruned.folded", Written(OutputFormat::kFolded, many.profile(), {.folded = {.nanoseconds = true}}));
  }

  // Names that try to be something else: markup, controls, what turns text round, no UTF-8, what is long, and what
  // expressions that backtrack hang at.
  void WriteHostile() {
    FakeProfile fake;
    const uint32_t process = fake.Process(10, "<img src=x onerror=alert(1)>");
    const std::string templates = "std::map<" + std::string(4096, 'm') + ">::find";
    const std::string letters = std::string(49'000, 'a') + "!";
    const uint32_t kernel = fake.Kernel({"schedule", "futex_wait"});
    fake.Row(process, fake.Comm("letters"), fake.User({letters, "main"}), kernel, 1);
    fake.Row(process, fake.Comm("</script><script>alert(2)</script>"),
             fake.User({templates, "javascript:alert(3)", "main"}), kernel, 4'000'000'000);
    fake.Row(process, fake.Comm("a\033[31m\007\u202eb\u2066c"), fake.User({"bad\xff\xc0name", "&lt;b&gt;", "main"}),
             kernel, 2'000'000'000);
    fake.Row(process, fake.Comm("__proto__"), fake.User({"constructor", "toString", "main"}), kernel, 1'000'000'000);
    fake.profile.host = "</title><script>alert(4)</script>";
    Write("hostile.html", HtmlOf(fake.profile));
  }

  // Functions with places in the source, of which one was inlined, and files whose names try to be something else.
  void WriteLines() {
    FakeProfile fake;
    const uint32_t kernel = fake.Kernel({"schedule", "futex_wait"});
    const uint32_t process = fake.Process(10, "server");
    const auto row = [&](const std::string& comm, const std::vector<FrameLine>& lines, uint64_t ns) {
      const uint32_t user = fake.User({"lock", "main"});
      fake.profile.user_stacks[user].frames[1].lines = Lines(lines);
      fake.Row(process, fake.Comm(comm), user, kernel, ns);
    };
    const FrameLine loop = {.function = "loop", .file = "/src/loop.h", .line = 7, .start_line = 5};
    for (const uint32_t line : {30u, 40u})
      row("calls", {loop, {.function = "main", .file = "/src/main.cc", .line = line, .start_line = 20}},
          line * 1'000'000);
    for (const std::string file : {"javascript:alert(1)", "/src/\"><img src=x onerror=alert(2)>", "//evil.example/a",
                                   "/src/../..//evil.example/\u202e\n@x"})
      row("hostile", {{.function = "main", .file = file, .line = 1}}, 1'000);
    Write("lines.html", HtmlOf(fake.profile, {.source_links = {{.prefix = "", .url = "https://example.org/%f#L%l"}}}));
  }

  // Ten seconds; see browser/when.mjs.
  void WriteTimes() {
    FakeProfile fake;
    const uint32_t server = fake.Process(10, "server");
    const uint32_t futex = fake.Kernel({"schedule", "futex_wait", "do_syscall_64", "entry_SYSCALL_64"});
    const uint32_t pipe = fake.Kernel({"schedule", "pipe_read", "do_syscall_64", "entry_SYSCALL_64"});
    constexpr uint64_t kSecond = 1'000'000'000;
    fake.Row(server, fake.Comm("worker-1"), fake.User({"lock", "main"}), futex, 3 * kSecond, 200'000'001);
    fake.Row(server, fake.Comm("worker-2"), fake.User({"read", "main"}), pipe, 2 * kSecond);
    fake.Row(fake.Process(11, "client"), fake.Comm("client"), fake.User({"lock", "main"}), futex, 7);
    const auto set = [&fake](size_t row, std::initializer_list<TimeBucket> buckets) {
      TimeBuckets times;
      for (const TimeBucket& bucket : buckets) times.Add(bucket);
      fake.profile.rows[row].times = PackTimes(times, 0, 0);
    };
    set(0, {{.number = 2, .blocked_ns = kSecond},
            {.number = 3, .blocked_ns = kSecond},
            {.number = 4, .blocked_ns = kSecond, .runnable_ns = 200'000'001, .count = 1}});
    set(1, {{.number = 7, .blocked_ns = kSecond}, {.number = 8, .blocked_ns = kSecond, .count = 1}});
    set(2, {{.number = 9, .blocked_ns = 7, .count = 1}});
    fake.profile.times = {.bucket_ns = kSecond, .begin_ns = 0};
    fake.profile.start_unix_ns = 1'790'000'000 * kSecond;
    fake.profile.duration_ns = 10 * kSecond;
    Write("times.html", Written(OutputFormat::kHtml, fake.profile, {}));
    Write("live.html", HtmlOf(fake.profile, {.live = true}));
    Write("times.folded", Written(OutputFormat::kFolded, fake.profile, {.folded = {.nanoseconds = true}}));
  }

 private:
  // The same compared with a recording half as long, which has one stack that the other lacks.
  void WriteBoth(NamedProfile after) const {
    FakeProfile fake;
    const uint32_t server = fake.Process(5, "server");
    const uint32_t futex = fake.Kernel({"schedule", "futex_wait", "do_syscall_64", "entry_SYSCALL_64"});
    const uint32_t worker = fake.Comm("worker-8");
    fake.Row(server, worker, fake.User({"lock", "work", "main"}), futex, 1'000'000'000, 300'000'000);
    fake.Row(server, worker, fake.User({"gone", "main"}), futex, 500'000'000);
    fake.Row(server, fake.Comm("loop"), fake.User({"next", "main"}), futex, 4'000'000'000);
    fake.Idle({"", "", "server: loop"});
    fake.profile.duration_ns = 5'000'000'000;
    after.duration_ns = 10'000'000'000;
    std::string page;
    WriteHtmlOfBoth(fake.profile, after, {}, [&page](std::string_view piece) { page += piece; });
    Write("both.html", page);
    std::string json;
    WriteDiffJson(DiffOf(fake.profile, after, {}), [&json](std::string_view piece) { json += piece; });
    Write("both.json", json);
  }

  const std::string directory_ = testing::TempDir() + "/offcpu-page-" + std::to_string(getpid());
};

TEST_F(PageTest, TheModulesDoWhatTheyAreFor) {
  EXPECT_EQ(ResultOf("node --test " + kTests + "/page/*.test.mjs >&2"), 0);
}

TEST_F(PageTest, EslintFindsNothingInTheModules) {
  const std::string eslint = kTests + "/browser/node_modules/.bin/eslint";
  if (!std::filesystem::exists(eslint)) GTEST_SKIP() << "needs eslint: scripts/deps";
  EXPECT_EQ(ResultOf("cd " OFFCPU_SOURCE_DIR " && " + eslint +
                     " -c tests/html/browser/eslint.config.mjs src/html/page tests/html/page tests/html/browser >&2"),
            0);
}

TEST_F(PageTest, TheModulesReadWhatIsWritten) {
  WritePage();
  EXPECT_EQ(
      ResultOf("node " + kTests + "/page/read_page.mjs " + Path("page.html") + " " + Path("page.folded") + " >&2"), 0);
}

TEST_F(PageTest, TheModulesReadWhatIsWrittenOfBoth) {
  WritePage();
  EXPECT_EQ(ResultOf("node " + kTests + "/page/read_both.mjs " + Path("both.html") + " " + Path("both.json") + " >&2"),
            0);
}

TEST_F(PageTest, WhatIsPrunedIsInTheTotals) {
  WritePruned();
  EXPECT_EQ(
      ResultOf("node " + kTests + "/page/read_page.mjs " + Path("pruned.html") + " " + Path("pruned.folded") + " >&2"),
      0);
}

class BrowserTest : public PageTest {
 protected:
  void SetUp() override {
    PageTest::SetUp();
    if (!HasProgram("chromium")) GTEST_SKIP() << "needs chromium";
  }

  // A program that opens pages in a browser.
  static int Browse(const std::string& words) { return ResultOf("node " + kTests + "/browser/" + words + " >&2"); }
};

TEST_F(BrowserTest, ShowsIt) {
  WritePage();
  EXPECT_EQ(Browse("page_test.mjs " + Path("page.html")), 0);
}

TEST_F(BrowserTest, TheGraphIsInTheFirstScreen) {
  WritePage();
  WriteTimes();
  EXPECT_EQ(Browse("layout_test.mjs " + Path("page.html") + " " + Path("times.html")), 0);
}

TEST_F(BrowserTest, DoesWhatIsAskedOfOneFunction) {
  WritePage();
  EXPECT_EQ(Browse("frames_test.mjs " + Path("page.html")), 0);
}

TEST_F(BrowserTest, ShowsWhereItIsInTheSource) {
  WriteLines();
  EXPECT_EQ(Browse("places_test.mjs " + Path("lines.html")), 0);
}

TEST_F(BrowserTest, ShowsWhatChanged) {
  WritePage();
  EXPECT_EQ(Browse("both_test.mjs " + Path("both.html")), 0);
}

TEST_F(BrowserTest, ShowsWhatIsPruned) {
  WritePruned();
  EXPECT_EQ(Browse("pruned_test.mjs " + Path("pruned.html") + " " + Path("pruned.folded")), 0);
}

TEST_F(BrowserTest, NamesAreTextAndBreakNothing) {
  WriteHostile();
  EXPECT_EQ(Browse("hostile_test.mjs " + Path("hostile.html")), 0);
}

TEST_F(BrowserTest, OpensAHundredThousandStacks) {
  for (const bool has_places : {false, true}) {
    Write("many.html", HtmlOf(ManyStacks(100'000, 1, has_places).profile()));
    EXPECT_EQ(Browse("open_test.mjs " + Path("many.html")), 0);
  }
}

TEST_F(BrowserTest, AnybodyCanUseIt) {
  if (!std::filesystem::exists(kTests + "/browser/node_modules/axe-core"))
    GTEST_SKIP() << "needs axe-core: scripts/deps";
  WritePage();
  WriteHostile();
  WriteTimes();
  WriteLines();
  std::string views;
  for (const std::string page : {"page", "both", "hostile", "lines"})
    for (const std::string state : {"", "layout=flame&idle=1&colors=kind", "tab=tree&find=main&only=frame:main",
                                    "tab=functions&frame=1&only=cause:lock&hide=work"})
      views += " '" + Path(page + ".html#") + state + "'";
  for (const std::string page : {"times", "live"})
    for (const std::string state : {"", "span=2-5", "heat=0", "span=7-9&with=2-5&tab=functions"})
      views += " '" + Path(page + ".html#") + state + "'";
  EXPECT_EQ(Browse("axe_test.mjs" + views), 0);
}

TEST_F(PageTest, TimesAddUp) {
  WriteTimes();
  EXPECT_EQ(
      ResultOf("node " + kTests + "/page/read_times.mjs " + Path("times.html") + " " + Path("times.folded") + " >&2"),
      0);
}

TEST_F(BrowserTest, ComparesSpansOfTime) {
  WriteTimes();
  EXPECT_EQ(Browse("spans_test.mjs " + Path("times.html")), 0);
}

TEST_F(BrowserTest, ShowsWhenItWas) {
  WriteTimes();
  EXPECT_EQ(Browse("times_test.mjs " + Path("times.html")), 0);
}

}  // namespace
}  // namespace offcpu
