// The dashboard and the alerts of packaging/ against a service that runs: what they name is served, and the alerts on
// the run queue fire for too few CPUs, and not for threads that sleep. What the alerts do with made-up series is in
// offcpud.rules.test.yml.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/harness/load.h"
#include "tests/harness/service_test.h"

namespace offcpu::integration {
namespace {

using ::testing::HasSubstr;

constexpr char kRules[] = OFFCPU_SOURCE_DIR "/packaging/prometheus/offcpud.rules.yml";
constexpr char kRulesTest[] = OFFCPU_SOURCE_DIR "/tests/deep/offcpud.rules.test.yml";
constexpr char kDashboard[] = OFFCPU_SOURCE_DIR "/packaging/grafana/offcpud.json";

class Monitoring : public ServiceTest {
 protected:
  void SetUp() override {
    if (!IsInstalled("promtool") || !IsInstalled("prometheus")) GTEST_SKIP() << "needs the package prometheus";
  }

  // A service that serves HTTP, with windows of a second.
  void StartService(const std::string& more) {
    port_ = FreePort();
    StartDaemon("[windows]\nlength = \"1s\"\n[http]\nlisten = \"127.0.0.1:" + std::to_string(port_) + "\"\n" + more);
    ASSERT_TRUE(Await([this] { return !Metrics().empty(); })) << ReadFile(Path("log"));
  }

  std::string Metrics() const {
    const httplib::Result metrics = httplib::Client("127.0.0.1", port_).Get("/metrics");
    return metrics && metrics->status == 200 ? metrics->body : "";
  }

  // A Prometheus that asks the service twice a second.
  void StartPrometheus() {
    prometheus_port_ = FreePort();
    std::ofstream(Path("prometheus.yml")) << "global:\n  scrape_interval: 500ms\nscrape_configs:\n"
                                          << "  - job_name: offcpud\n    static_configs:\n      - targets: "
                                          << "['127.0.0.1:" << port_ << "']\n";
    prometheus_ =
        Program::Start({"prometheus", "--config.file=" + Path("prometheus.yml"), "--storage.tsdb.path=" + Path("data"),
                        "--web.listen-address=127.0.0.1:" + std::to_string(prometheus_port_)},
                       Path("prometheus.log"));
  }

  // What the expression gives now; empty: nothing.
  std::string Query(const std::string& expression) {
    const std::string url = "http://127.0.0.1:" + std::to_string(prometheus_port_);
    return RunWords({"promtool", "query", "instant", url, expression}) == 0 ? output_ : "";
  }

  static bool Await(const std::function<bool()>& is_there) {
    for (int i = 0; i < 300; ++i) {
      if (is_there()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
  }

  int port_ = 0;
  int prometheus_port_ = 0;
  std::unique_ptr<Program> prometheus_;
};

// The expression of a rule of the file, as Prometheus gets it: folded into a line.
std::string ExpressionOf(const std::string& alert) {
  const std::string rules = ReadFile(kRules);
  std::smatch match;
  const std::regex form("- alert: " + alert + "\n        expr: >\n((?:          [^\n]*\n)+)");
  if (!std::regex_search(rules, match, form)) return "";
  return std::regex_replace(match[1].str(), std::regex("\\s+"), " ");
}

std::set<std::string> Matches(const std::string& text, const std::string& form) {
  const std::regex regex(form);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1].str());
  return found;
}

TEST_F(Monitoring, PromtoolFindsNothingWrongWithTheAlerts) {
  EXPECT_EQ(RunWords({"promtool", "check", "rules", kRules}), 0) << output_ << errors_;
  EXPECT_EQ(RunWords({"promtool", "test", "rules", kRulesTest}), 0) << output_ << errors_;
}

TEST_F(Monitoring, WhatDashboardAndAlertsNameIsServedOrIsALoss) {
  const std::unique_ptr<Target> target = StartedTarget({"nappers", "--threads", "1", "--nap-ms", "20"});
  ASSERT_NE(target, nullptr);
  StartService("[export]\nendpoint = \"http://127.0.0.1:1\"\n");  // where nobody listens
  // A service or container has a series once a window has ended in which it waited.
  ASSERT_TRUE(Await([this] { return Metrics().find("\noffcpud_group_blocked_seconds_total{") != std::string::npos; }));
  const std::string served = Metrics();
  ASSERT_EQ(RunWords({"python3", "-m", "json.tool", kDashboard, "/dev/null"}), 0) << errors_;
  const std::string asked = ReadFile(kDashboard) + std::regex_replace(ReadFile(kRules), std::regex("#[^\n]*"), "");
  const std::set<std::string> names = Matches(asked, "\\b((?:offcpud|process)_[a-z_]+)\\b");
  EXPECT_GT(names.size(), 15u);
  const std::regex only_with_losses("offcpud_dropped(_seconds)?_total");
  for (const std::string& name : names) {
    if (!std::regex_match(name, only_with_losses)) {
      EXPECT_THAT(served, HasSubstr("\n" + name)) << name << " is not served";
    }
  }
  const std::string losses = ReadFile(OFFCPU_SOURCE_DIR "/docs/offcpu-losses.7");  // served once they happen
  size_t reasons = 0;
  for (const std::string& list : Matches(asked, "reason=~\"([^\"]+)\"")) {
    for (const std::string& reason : Matches(list, "([^|]+)")) {
      ++reasons;
      EXPECT_THAT(losses, HasSubstr("\n.B " + reason + "\n"));
    }
  }
  EXPECT_GT(reasons, 3u);
  for (const std::string& cause : Matches(asked, "cause=\\\\?\"([^\"\\\\]+)\\\\?\""))
    EXPECT_THAT(served, HasSubstr("offcpud_blocked_seconds_total{cause=\"" + cause + "\",wait=\""));
}

// The counters move once in a window. Grafana's $__rate_interval is a minute where nobody says more, in which they move
// or not as it happens: a panel says two minutes.
TEST_F(Monitoring, PanelsWithRatesLookAtMoreThanAWindow) {
  const char check[] =
      "import json, sys\n"
      "panels = json.load(open(sys.argv[1]))['panels']\n"
      "rates = [p for p in panels if any('$__rate_interval' in t['expr'] for t in p.get('targets', []))]\n"
      "assert len(rates) > 5\n"
      "for panel in rates: assert panel['interval'] == '2m', panel['title']\n";
  EXPECT_EQ(RunWords({"python3", "-c", check, kDashboard}), 0) << errors_;
}

// promtool reads expressions only in rules, so each of the dashboard's is the rule of a file.
TEST_F(Monitoring, PromtoolFindsNothingWrongWithTheDashboard) {
  const char write[] =
      "import json, sys\n"
      "targets = [t for p in json.load(open(sys.argv[1]))['panels'] for t in p.get('targets', [])]\n"
      "texts = [t['expr'].replace('$__rate_interval', '2m').replace('$instance', '.*') for t in targets]\n"
      "rules = [{'record': 'panel:%d' % i, 'expr': text} for i, text in enumerate(texts)]\n"
      "json.dump({'groups': [{'name': 'dashboard', 'rules': rules}]}, open(sys.argv[2], 'w'))\n";
  ASSERT_EQ(RunWords({"python3", "-c", write, kDashboard, Path("panels.yml")}), 0) << errors_;
  EXPECT_EQ(RunWords({"promtool", "check", "rules", Path("panels.yml")}), 0) << output_ << errors_;
}

TEST_F(Monitoring, PanelsAreApart) {
  const char check[] =
      "import json, sys\n"
      "panels = json.load(open(sys.argv[1]))['panels']\n"
      "assert len({p['id'] for p in panels}) == len(panels)\n"
      "taken = {}\n"
      "for panel in panels:\n"
      "    at = panel['gridPos']\n"
      "    for x in range(at['x'], at['x'] + at['w']):\n"
      "        for y in range(at['y'], at['y'] + at['h']):\n"
      "            assert x < 24 and taken.setdefault((x, y), panel['id']) == panel['id'], panel['title']\n";
  EXPECT_EQ(RunWords({"python3", "-c", check, kDashboard}), 0) << errors_;
}

// The time is that of services and containers with the most of it, and of all others together.
TEST_F(Monitoring, PanelsShowWhichServiceWaitsForWhat) {
  const std::unique_ptr<Target> target = StartedTarget({"nappers", "--threads", "2", "--nap-ms", "20"});
  ASSERT_NE(target, nullptr);
  StartService("[record]\nsample = \"0\"\npids = [" + std::to_string(target->pid()) + "]\n");
  StartPrometheus();
  const std::string dashboard = ReadFile(kDashboard);
  std::smatch match;
  ASSERT_TRUE(std::regex_search(dashboard, match, std::regex("\"expr\": \"([^\n]*offcpud_group_blocked_[^\n]*)\",\n")));
  std::string expression = std::regex_replace(match[1].str(), std::regex("\\\\\""), "\"");
  expression = std::regex_replace(expression, std::regex("\\$__rate_interval"), "1m");
  expression = std::regex_replace(expression, std::regex("\\$instance"), ".*");
  EXPECT_TRUE(Await([&] { return Query(expression).find("{cause=\"sleep\"} => ") != std::string::npos; }))
      << Query(expression);
}

// By the patterns of the service's configuration.
TEST_F(Monitoring, WaitsForWorkAreApart) {
  std::ofstream(Path("mine.conf")) << "[mine: nanosleep]\nsyscall = nanosleep | clock_nanosleep\n"
                                   << "stack = wait_in_nanosleep; nanosleep; ...\n";
  const std::unique_ptr<Target> target = StartedTarget({"waits", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  StartService("[record]\nsample = \"0\"\npids = [" + std::to_string(target->pid()) + "]\n[idle]\npatterns = [\"" +
               Path("mine.conf") + "\"]\n");
  const auto seconds = [this](const std::string& labels) {
    const std::string metrics = Metrics();
    const std::string name = "\noffcpud_blocked_seconds_total{" + labels + "} ";
    const size_t at = metrics.find(name);
    return at == std::string::npos ? 0 : std::stod(metrics.substr(at + name.size()));
  };
  EXPECT_TRUE(Await([&] {
    return seconds("cause=\"sleep\",wait=\"sleep\",idle=\"true\"") > 0.1 &&
           seconds("cause=\"poll\",wait=\"poll\",idle=\"false\"") > 0.1;
  })) << Metrics();
}

// The expressions are ratios of rates, so that what they say of a few seconds is what they would say of minutes.
TEST_F(Monitoring, TheAlertsOnTheRunQueueFireWhenCpusAreShort) {
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  StartService("[record]\ncomms = [\"stress-ng*\"]\n");
  StartPrometheus();
  Load load;  // that leaves the service, Prometheus and this their time
  load.Add({"nice", "-n", "19", "stress-ng", "--temp-path", directory_.path(), "--cpu",
            std::to_string(16 * std::thread::hardware_concurrency()), "--cpu-method", "int64", "-q"});
  for (const char* alert : {"OffcpudCpusShort", "OffcpudRunQueueSlow"}) {
    const std::string expression = ExpressionOf(alert);
    ASSERT_NE(expression, "") << alert;
    EXPECT_TRUE(Await([&] { return Query(expression).find("=> ") != std::string::npos; }))
        << alert << " does not fire:\n"
        << Metrics();
  }
}

// The slowest hundredth is of whatever else the machine does, so that OffcpudRunQueueSlow may be right to fire.
TEST_F(Monitoring, TheAlertOnTooFewCpusDoesNotFireForSleepers) {
  const std::unique_ptr<Target> target = StartedTarget({"nappers", "--threads", "8", "--nap-ms", "20"});
  ASSERT_NE(target, nullptr);
  StartService("[record]\npids = [" + std::to_string(target->pid()) + "]\n");
  StartPrometheus();
  // They have been recorded for some seconds, and it is known.
  ASSERT_TRUE(Await([this] {
    return Query("rate(offcpud_run_queue_latency_seconds_count[5m]) > 0").find("=> ") != std::string::npos &&
           Query("rate(offcpud_blocked_seconds_total{cause=\"sleep\"}[5m]) > 0").find("=> ") != std::string::npos;
  })) << Metrics();
  for (int i = 0; i < 10; ++i) {
    const std::string answer = Query(ExpressionOf("OffcpudCpusShort"));
    EXPECT_EQ(answer.find("=> "), std::string::npos) << answer;
  }
}

}  // namespace
}  // namespace offcpu::integration
