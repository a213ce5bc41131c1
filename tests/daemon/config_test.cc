#include "daemon/config.h"

#include <cctype>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

absl::StatusOr<DaemonConfig> ParseOne(const std::string& text) {
  const ConfigText file = {.name = "f", .text = text};
  return ParseConfig({&file, 1});
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<DaemonConfig> config = ParseOne(text);
  return config.ok() ? "no error" : std::string(config.status().message());
}

// Sections, and keys with their values. In the shipped file "#key = value" is a key, "# text" is not.
std::vector<std::string> SettingsOf(std::istream& file, bool commented) {
  std::vector<std::string> settings;
  for (std::string line; std::getline(file, line);) {
    const bool is_key =
        commented ? line.size() > 1 && line[0] == '#' && std::islower(line[1]) != 0 : !line.empty() && line[0] != '[';
    if (is_key) settings.push_back(commented ? line.substr(1) : line);
    if (!line.empty() && line[0] == '[') settings.push_back(line);
  }
  return settings;
}

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(ConfigTest, AnEmptyFileIsAllDefaults) {
  const absl::StatusOr<DaemonConfig> config = ParseOne("");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, DaemonConfig());
}

TEST(ConfigTest, TheShippedFileHasEveryKeyAtItsDefault) {
  std::ifstream file(OFFCPU_SOURCE_DIR "/packaging/offcpud.toml");
  const std::vector<std::string> shipped = SettingsOf(file, true);
  std::istringstream printed(FormatConfig({}));
  EXPECT_THAT(shipped, UnorderedElementsAreArray(SettingsOf(printed, false)));
  const absl::StatusOr<DaemonConfig> config = ParseOne(Join(shipped));
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, DaemonConfig());
}

TEST(ConfigTest, EveryKeyIsRead) {
  const absl::StatusOr<DaemonConfig> config = ParseOne(R"(
[record]
sample = "0"
cpu_budget = "0.5%"
max_frames = 100
min_wait = "1.5ms"
max_wait = "1h"
kernel_threads = true
idle = true
wakers = true
comms = ["nginx*", "db?"]
pids = [1, 22]
cgroups = ["system.slice"]
containers = ["3f5c"]
users = ["www-data", "0"]
exclude_comms = ["cron"]
exclude_pids = [4]
exclude_cgroups = ["user.slice"]
exclude_containers = ["77aa"]
[idle]
patterns = ["/a.conf", "/b.conf"]
[windows]
length = "10s"
keep = 7
[limits]
memory = "1GiB"
[control]
socket = "/tmp/s"
group = ""
max_clients = 3
timeout = "500ms"
[http]
listen = "0.0.0.0:7071"
certificate = "/http.pem"
key = "/http.key"
client_ca = "/clients.pem"
bearer_token_file = "/http-token"
[export]
endpoint = "http://c:4318"
profiles_endpoint = "http://c/p"
headers = ["X: 1"]
bearer_token_file = "/token"
ca_file = "/ca"
client_certificate = "/cert"
client_key = "/key"
proxy = "http://p:3128"
compression = "none"
timeout = "3s"
names = false
service_name = "fleet"
resource = ["a=b=c"]
types = ["off_cpu", "contentions"]
labels = ["pid"]
spool = ""
spool_size = "1GiB"
spool_age = "48h"
[files]
directory = "/files"
keep = 5
size = "1MiB"
[log]
level = "debug"
)");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->record.sample_ns, 0u);
  EXPECT_EQ(config->record.cpu_budget_ppm, 5'000u);
  EXPECT_EQ(config->record.max_frames, 100u);
  EXPECT_EQ(config->record.min_wait_ns, 1'500'000u);
  EXPECT_EQ(config->record.max_wait_ns, 3'600'000'000'000u);
  EXPECT_TRUE(config->record.kernel_threads);
  EXPECT_TRUE(config->record.idle);
  EXPECT_TRUE(config->record.wakers);
  EXPECT_THAT(config->record.comms, ElementsAre("nginx*", "db?"));
  EXPECT_THAT(config->record.exclude_comms, ElementsAre("cron"));
  EXPECT_THAT(config->record.exclude_pids, ElementsAre(4));
  EXPECT_THAT(config->record.exclude_cgroups, ElementsAre("user.slice"));
  EXPECT_THAT(config->record.exclude_containers, ElementsAre("77aa"));
  EXPECT_THAT(config->record.pids, ElementsAre(1, 22));
  EXPECT_THAT(config->record.cgroups, ElementsAre("system.slice"));
  EXPECT_THAT(config->record.containers, ElementsAre("3f5c"));
  EXPECT_THAT(config->record.users, ElementsAre("www-data", "0"));
  EXPECT_THAT(config->idle_patterns, ElementsAre("/a.conf", "/b.conf"));
  EXPECT_EQ(config->windows.length_ns, 10'000'000'000u);
  EXPECT_EQ(config->windows.keep, 7u);
  EXPECT_EQ(config->memory_bytes, 1u << 30);
  EXPECT_EQ(config->control.socket, "/tmp/s");
  EXPECT_EQ(config->control.group, "");
  EXPECT_EQ(config->control.max_clients, 3u);
  EXPECT_EQ(config->control.timeout_ns, 500'000'000u);
  EXPECT_EQ(config->http, (DaemonConfig::Http{.listen = "0.0.0.0:7071",
                                              .certificate_file = "/http.pem",
                                              .key_file = "/http.key",
                                              .client_ca_file = "/clients.pem",
                                              .bearer_token_file = "/http-token"}));
  EXPECT_EQ(config->exporting, (ExportSettings{.endpoint = "http://c:4318",
                                               .profiles_endpoint = "http://c/p",
                                               .headers = {"X: 1"},
                                               .bearer_token_file = "/token",
                                               .ca_file = "/ca",
                                               .certificate_file = "/cert",
                                               .key_file = "/key",
                                               .proxy = "http://p:3128",
                                               .compression = "none",
                                               .timeout_ns = 3'000'000'000,
                                               .names = false,
                                               .service_name = "fleet",
                                               .resource = {"a=b=c"},
                                               .types = {"off_cpu", "contentions"},
                                               .labels = {"pid"},
                                               .spool = "",
                                               .spool_bytes = 1u << 30,
                                               .spool_age_ns = 48 * 3600 * uint64_t{1'000'000'000}}));
  EXPECT_EQ(config->files, (FileSettings{.directory = "/files", .keep = 5, .bytes = 1u << 20}));
  EXPECT_EQ(config->log_level, "debug");
  // What is printed says the same.
  const absl::StatusOr<DaemonConfig> again = ParseOne(FormatConfig(*config));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *config);
}

TEST(ConfigTest, TextsSurviveBeingPrinted) {
  DaemonConfig config;
  config.record.cgroups = {"a\"b\\c\n\x7f", "\xc3\xa9"};
  const absl::StatusOr<DaemonConfig> again = ParseOne(FormatConfig(config));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, config);
}

TEST(ConfigTest, UnknownNamesAreErrors) {
  EXPECT_EQ(ErrorOf("[record]\nsampel = \"1us\"\n"),
            "f:2:1: unknown key 'record.sampel' (did you mean record.sample?)");
  EXPECT_EQ(ErrorOf("\n  [recrod]\n"), "f:2:4: unknown key 'recrod' (did you mean record?)");
  EXPECT_EQ(ErrorOf("sample = \"1us\"\n"), "f:1:1: unknown key 'sample'");
  EXPECT_EQ(ErrorOf("[record.sample]\nx = 1\n"),
            "f:1:1: sample must be a length of time, such as \"60s\", or \"auto\"");
}

TEST(ConfigTest, WrongTypesAreErrors) {
  EXPECT_EQ(ErrorOf("record = 1\n"), "f:1:10: 'record' must be a table: write [record]");
  EXPECT_EQ(ErrorOf("[windows]\nlength = 60\n"), "f:2:10: length must be a length of time, such as \"60s\"");
  EXPECT_EQ(ErrorOf("[windows]\nkeep = \"7\"\n"), "f:2:8: keep must be a whole number");
  EXPECT_EQ(ErrorOf("[windows]\nkeep = 7.0\n"), "f:2:8: keep must be a whole number");
  EXPECT_EQ(ErrorOf("[limits]\nmemory = 1\n"), "f:2:10: memory must be a size, such as \"256MiB\"");
  EXPECT_EQ(ErrorOf("[idle]\npatterns = [\"/a\", \"b\"]\n"), "f:2:19: patterns: the path of a file must begin with /");
  EXPECT_EQ(ErrorOf("[record]\nidle = 1\n"), "f:2:8: idle must be true or false");
  EXPECT_EQ(ErrorOf("[record]\ncpu_budget = 1\n"), "f:2:14: cpu_budget must be a string, such as \"a\"");
  EXPECT_EQ(ErrorOf("[control]\nsocket = true\n"), "f:2:10: socket must be a string, such as \"a\"");
  EXPECT_EQ(ErrorOf("[record]\ncomms = \"a\"\n"), "f:2:9: comms must be a list of strings, such as [\"a\", \"b\"]");
  EXPECT_EQ(ErrorOf("[record]\ncomms = [\"a\", 1]\n"), "f:2:15: comms must be a string, such as \"a\"");
  EXPECT_EQ(ErrorOf("[record]\npids = [\"1\"]\n"), "f:2:9: pids must be process ids");
}

TEST(ConfigTest, WrongUnitsAndValuesAreErrors) {
  EXPECT_THAT(ErrorOf("[windows]\nlength = \"60\"\n"), HasSubstr("f:2:10: length: '60' is not a length of time"));
  EXPECT_THAT(ErrorOf("[windows]\nlength = \"1d\"\n"), HasSubstr("'1d' is not a length of time"));
  EXPECT_EQ(ErrorOf("[windows]\nlength = \"999ms\"\n"), "f:2:10: length must be from 1s to 1h");
  EXPECT_EQ(ErrorOf("[windows]\nlength = \"1h\"\n"), "no error");
  EXPECT_EQ(ErrorOf("[windows]\nkeep = 0\n"), "f:2:8: keep must be from 1 to 10000");
  EXPECT_EQ(ErrorOf("[windows]\nkeep = -1\n"), "f:2:8: keep must be from 1 to 10000");
  EXPECT_THAT(ErrorOf("[limits]\nmemory = \"256MB\"\n"), HasSubstr("f:2:10: memory: '256MB' is not a size"));
  EXPECT_THAT(ErrorOf("[limits]\nmemory = \"256\"\n"), HasSubstr("is not a size"));
  EXPECT_THAT(ErrorOf("[limits]\nmemory = \"99999999999999999GiB\"\n"), HasSubstr("is not a size"));
  EXPECT_EQ(ErrorOf("[limits]\nmemory = \"1B\"\n"), "f:2:10: memory must be from 128MiB to 64GiB");
  EXPECT_EQ(ErrorOf("[record]\nsample = \"2s\"\n"), "f:2:10: sample must be from 0 to 1s");
  EXPECT_THAT(ErrorOf("[record]\ncpu_budget = \"0%\"\n"), HasSubstr("f:2:14: cpu_budget: '0%' is not a percentage"));
  EXPECT_THAT(ErrorOf("[record]\ncpu_budget = \"\"\n"), HasSubstr("f:2:14: cpu_budget: '' is not a percentage"));
  EXPECT_EQ(ErrorOf("[record]\ncpu_budget = \"100%\"\n"), "no error");
  EXPECT_EQ(ErrorOf("[record]\nmin_wait = \"2s\"\nmax_wait = \"1s\"\n"), "f:3:12: max_wait is shorter than min_wait");
  EXPECT_THAT(ErrorOf("[record]\ncomms = [\"\"]\n"), HasSubstr("f:2:10: comms: "));
  EXPECT_THAT(ErrorOf("[record]\ncomms = [\"a-name-of-sixteen\"]\n"), HasSubstr("f:2:10: comms: "));
  EXPECT_EQ(ErrorOf("[record]\npids = [0]\n"), "f:2:9: pids must be process ids");
  EXPECT_EQ(ErrorOf("[record]\nusers = [\"\"]\n"), "f:2:10: users: an empty string names nothing");
  EXPECT_EQ(ErrorOf("[control]\nsocket = \"s\"\n"), "f:2:10: socket: the path of a socket must begin with /");
  EXPECT_EQ(ErrorOf("[control]\nsocket = \"/" + std::string(107, 'a') + "\"\n"),
            "f:2:10: socket: the path of a socket can have at most 107 bytes");
  EXPECT_EQ(ErrorOf("[log]\nlevel = \"loud\"\n"),
            "f:2:9: level: 'loud' is not a level; the levels are error, warning, info and debug");
}

TEST(ConfigTest, OnlyTheHostItselfMayBeServedOverHttp) {
  for (const char* address : {"127.0.0.1:80", "127.1.2.3:1", "localhost:65535", "[::1]:8080"}) {
    EXPECT_EQ(ErrorOf("[http]\nlisten = \"" + std::string(address) + "\"\n"), "no error") << address;
  }
  for (const char* address : {"7071", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x"}) {
    EXPECT_EQ(ErrorOf("[http]\nlisten = \"" + std::string(address) + "\"\n"),
              "f:2:10: listen: '" + std::string(address) + "' is not ADDRESS:PORT");
  }
  EXPECT_THAT(ErrorOf("[http]\nlisten = \"0.0.0.0:80\"\n"), HasSubstr("instead of 0.0.0.0"));
  EXPECT_THAT(ErrorOf("[http]\nlisten = \"127.a.example:80\"\n"),
              HasSubstr("'127.a.example' is not an address such as 127.0.0.1"));
  EXPECT_THAT(ErrorOf("[http]\nlisten = \":80\"\n"),
              HasSubstr("':80' has no address: write \"127.0.0.1:80\" for this host only"));
}

TEST(ConfigTest, OthersAreServedIfTheyShowWhoTheyAre) {
  const std::string tls = "certificate = \"/c\"\nkey = \"/k\"\n";
  const std::string token = "bearer_token_file = \"/t\"\n";
  const std::string clients = "client_ca = \"/a\"\n";
  for (const char* address : {"0.0.0.0:80", "10.1.2.3:7071", "[::]:80", "[fd00::7]:1"}) {
    const std::string listen = "[http]\nlisten = \"" + std::string(address) + "\"\n";
    EXPECT_EQ(ErrorOf(listen + tls + token), "no error");
    EXPECT_EQ(ErrorOf(listen + tls + clients), "no error");
    EXPECT_EQ(ErrorOf(listen + tls + clients + token), "no error");
    for (const std::string& less : {std::string(), tls, token}) {
      EXPECT_THAT(ErrorOf(listen + less),
                  HasSubstr("f:1:1: anyone who can connect sees every process: listen on 127.0.0.1"))
          << less;
    }
  }
  for (const std::string name : {"node7.example", "[::1", "::1", "[node]"})
    EXPECT_EQ(ErrorOf("[http]\nlisten = \"" + name + ":80\"\n" + tls + token),
              "f:2:10: listen: '" + name +
                  "' is not an address such as 127.0.0.1 or [::1]; names are not accepted, because what they mean can "
                  "change");
  EXPECT_EQ(ErrorOf("[http]\nlisten = \"127.0.0.1:80\"\n" + token), "no error");
  EXPECT_EQ(ErrorOf("[http]\nkey = \"/k\"\n"), "f:1:1: certificate and key must be set together");
  EXPECT_EQ(ErrorOf("[http]\ncertificate = \"/c\"\n"), "f:1:1: certificate and key must be set together");
  EXPECT_EQ(ErrorOf("[http]\n" + clients), "f:1:1: client_ca needs certificate and key");
  EXPECT_EQ(ErrorOf("[http]\nkey = \"k\"\n"), "f:2:7: key: the path of a file must begin with /");
}

TEST(ConfigTest, WhatIsNoTomlIsAnErrorWithItsPlace) {
  EXPECT_THAT(ErrorOf("[record\n"), HasSubstr("f:1:8: "));
  EXPECT_THAT(ErrorOf("[log]\nlevel = \"info\"\nlevel = \"info\"\n"), HasSubstr("f:3:"));
  EXPECT_THAT(ErrorOf("\xff\n"), HasSubstr("f:1:1: "));
}

TEST(ConfigTest, EveryBeginningOfAFileIsAConfigOrAnError) {
  DaemonConfig config;
  config.record.comms = {"a", "b"};
  const std::string text = FormatConfig(config);
  for (size_t size = 0; size <= text.size(); ++size) {
    const absl::StatusOr<DaemonConfig> parsed = ParseOne(text.substr(0, size));
    if (!parsed.ok()) {
      EXPECT_THAT(std::string(parsed.status().message()), HasSubstr("f:"));
    }
  }
}

// As /etc/offcpud/offcpud.toml.d/ has them.
TEST(ConfigTest, ALaterFileReplacesKeysAndListsOfTheOnesBefore) {
  const std::vector<ConfigText> files = {
      {.name = "a", .text = "[record]\ncomms = [\"x\", \"y\"]\nmax_wait = \"1s\"\n[http]\nlisten = \"0.0.0.0:80\"\n"},
      {.name = "b", .text = "[record]\ncomms = [\"z\"]\n"},
      {.name = "c", .text = "[http]\ncertificate = \"/c\"\nkey = \"/k\"\nbearer_token_file = \"/t\"\n"}};
  const absl::StatusOr<DaemonConfig> config = ParseConfig(files);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_THAT(config->record.comms, testing::ElementsAre("z"));
  EXPECT_EQ(config->record.max_wait_ns, 1'000'000'000u);
  EXPECT_EQ(config->http.listen, "0.0.0.0:80") << "what it needs may come from another file";
  EXPECT_EQ(ParseConfig({}).value(), DaemonConfig());
}

TEST(ConfigTest, AnErrorSaysInWhichFileItIs) {
  std::vector<ConfigText> files = {{.name = "a", .text = "[record]\nmax_wait = \"1ms\"\n"},
                                   {.name = "b", .text = "[record]\n\nmin_wait = \"2ms\"\n"}};
  EXPECT_EQ(ParseConfig(files).status().message(), "a:2:12: max_wait is shorter than min_wait");
  files[1].text = "[http]\n[http]\n";
  EXPECT_THAT(std::string(ParseConfig(files).status().message()), testing::StartsWith("b:2:1: "));
  files[1].text = "[record]\nmin_weight = 1\n";
  EXPECT_THAT(std::string(ParseConfig(files).status().message()), testing::StartsWith("b:2:1: "));
}

}  // namespace
}  // namespace offcpu
