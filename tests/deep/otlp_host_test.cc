// Recordings of a whole host as OTLP: made into pprof again they say what the pprof file of the same recording says;
// and as a back end takes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classify/idle_match.h"
#include "pprof/pprof_reader.h"
#include "tests/harness/cli.h"
#include "tests/harness/harness.h"
#include "tests/otlp/otlp_checker.h"
#include "tests/otlp/otlp_requests.h"
#include "tests/otlp/otlp_to_pprof.h"
#include "tests/otlp/pyroscope_rules.h"

namespace offcpu::integration {
namespace {

class OtlpOfHost : public CliTest {
 protected:
  void Record(std::vector<std::string> words) {
    words.insert(words.begin(), {"record", "-o", Path("out.pb.gz"), "-o", Path("out.otlp")});
    words.emplace_back("2");
    ASSERT_EQ(Run(words), 0) << errors_;
  }
  // What the pprof file says.
  NamedProfile Stored() const {
    absl::StatusOr<NamedProfile> stored = ParsePprof(ReadFile(Path("out.pb.gz")));
    EXPECT_TRUE(stored.ok()) << stored.status();
    if (!stored.ok()) return {};
    MarkIdle(DefaultIdlePatterns(), &*stored);
    return *std::move(stored);
  }
  std::set<std::string> LabelsOf(const std::vector<std::string>& texts, const std::string& key) const {
    std::set<std::string> labels;
    for (const std::string& text : texts) {
      const size_t begin = text.find("\n  " + key + "=");
      if (begin != std::string::npos) labels.insert(text.substr(begin + 3, text.find(' ', begin + 3) - begin - 3));
    }
    return labels;
  }
};

TEST_F(OtlpOfHost, RequestsOfEverythingSayWhatThePprofFileSays) {
  const std::unique_ptr<Target> waits = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(waits, nullptr);
  // Programs one after the other under one pid, longer than it lasts.
  const std::unique_ptr<Program> images =
      Start({"sh", "-c", R"(export again='sleep 0.2; exec sh -c "$again"'; exec sh -c "$again")"});
  ASSERT_NE(images, nullptr);
  Record({"--kernel-threads", "--per-thread", "--ledger", "--idle=show"});
  const NamedProfile stored = Stored();
  const std::vector<std::string> requests = OtlpRequests(stored, Everything());
  CheckOtlp(requests);
  const std::vector<std::string> wanted = PprofTexts(PprofOf(OfSums(stored)));
  EXPECT_EQ(PprofTextsOf(requests), wanted);
  // It is a recording of all sorts.
  EXPECT_GT(wanted.size(), 100u);
  EXPECT_THAT(LabelsOf(wanted, "no_user_stack"), testing::Contains("no_user_stack=kernel"));
  EXPECT_THAT(LabelsOf(wanted, "image"), testing::Not(testing::IsEmpty()));
  EXPECT_THAT(LabelsOf(wanted, "exe"), testing::Contains(testing::EndsWith("/waits")));
}

// The whole host, whatever runs on it.
TEST_F(OtlpOfHost, AFileIsTakenWholeAsFewSeries) {
  const std::unique_ptr<Target> waits = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(waits, nullptr);
  Record({"--idle=show"});
  const std::string request = ReadFile(Path("out.otlp"));
  CheckOtlp({request});
  PyroscopeStore store;
  store.Take(request);
  EXPECT_THAT(store.refused(), testing::IsEmpty());
  // A program is blocked, perhaps for work at one place or two, and runnable.
  EXPECT_LE(store.series().size(), 4u * static_cast<size_t>(OtlpReader(request).message().resource_profiles_size()));
  // As the report of the same recording adds up programs whose path it knows.
  const NamedProfile stored = Stored();
  std::map<std::string, int64_t> reported;
  for (const NamedRow& row : stored.rows) {
    const std::string& path = stored.processes[row.process].executable;
    if (!path.empty() && row.total_ns() != 0) reported[path] += static_cast<int64_t>(row.total_ns());
  }
  std::map<std::string, int64_t> sums = store.Sums("off_cpu:off_cpu", "process_executable_path");
  sums.erase("");
  EXPECT_EQ(sums, reported);
  EXPECT_THAT(store.Sums("off_cpu:off_cpu", "service_name"), testing::Contains(testing::Key("waits")));
}

TEST_F(OtlpOfHost, RequestsOfALimitedSizeSayItToo) {
  const std::unique_ptr<Target> waits = StartedTarget({"waits", "--seconds", "20"});
  ASSERT_NE(waits, nullptr);
  Record({"--kernel-threads", "--idle=show"});
  const NamedProfile stored = Stored();
  OtlpOptions options = Everything();
  options.max_bytes = kMinOtlpBytes;
  const std::vector<std::string> requests = OtlpRequests(stored, options);
  EXPECT_GT(requests.size(), 1u);
  CheckOtlp(requests);
  EXPECT_EQ(PprofTextsOf(requests), PprofTexts(PprofOf(OfSums(stored))));
}

}  // namespace
}  // namespace offcpu::integration
