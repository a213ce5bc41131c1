#include "export/export_config.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Environment = std::map<std::string, std::string>;

absl::StatusOr<ExportConfig> Make(const ExportSettings& settings, const Environment& environment = {}) {
  return MakeExportConfig(settings, {}, "1.2", [&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found != environment.end() ? found->second.c_str() : nullptr;
  });
}

ExportConfig Made(const ExportSettings& settings, const Environment& environment = {}) {
  const absl::StatusOr<ExportConfig> config = Make(settings, environment);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *config : ExportConfig();
}

std::string ErrorOf(const ExportSettings& settings, const Environment& environment = {}) {
  return std::string(Make(settings, environment).status().message());
}

TEST(ExportConfigTest, NothingIsSentUnlessItIsSaidWhereTo) {
  const ExportConfig config = Made({});
  EXPECT_EQ(config.target.url, "");
  EXPECT_FALSE(config.is_on());
  EXPECT_TRUE(Made({.endpoint = "http://c:4318"}).is_on());
  const absl::StatusOr<ExportConfig> files =
      MakeExportConfig({}, {.directory = "/d"}, "1", [](const char*) -> const char* { return nullptr; });
  EXPECT_TRUE(files->is_on());
  EXPECT_EQ(files->target.url, "");
}

TEST(ExportConfigTest, ThePathIsAddedToABaseOnly) {
  EXPECT_EQ(Made({.endpoint = "http://c:4318"}).target.url, "http://c:4318/v1development/profiles");
  EXPECT_EQ(Made({.endpoint = "https://c/otlp/"}).target.url, "https://c/otlp/v1development/profiles");
  EXPECT_EQ(Made({.profiles_endpoint = "http://c/api/org/v1/profiles"}).target.url, "http://c/api/org/v1/profiles");
  EXPECT_EQ(Made({.endpoint = "http://a", .profiles_endpoint = "http://b/x"}).target.url, "http://b/x");
}

TEST(ExportConfigTest, TheEnvironmentServesWhereTheFileSaysNothing) {
  const Environment environment = {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://e:1"},
                                   {"OTEL_EXPORTER_OTLP_HEADERS", "x-a=1%202, x-b = 3"},
                                   {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                                   {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                   {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca"},
                                   {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/cert"},
                                   {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key"},
                                   {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"},
                                   {"OTEL_SERVICE_NAME", "fleet"},
                                   {"OTEL_RESOURCE_ATTRIBUTES", "a=1,b=x%2Cy"}};
  const ExportConfig config = Made({}, environment);
  EXPECT_EQ(config.target.url, "http://e:1/v1development/profiles");
  EXPECT_THAT(config.target.headers, ElementsAre("x-a: 1 2", "x-b: 3"));
  EXPECT_FALSE(config.gzip);
  EXPECT_EQ(config.target.timeout, std::chrono::milliseconds(2500));
  EXPECT_EQ(config.target.ca_file, "/ca");
  EXPECT_EQ(config.target.certificate_file, "/cert");
  EXPECT_EQ(config.target.key_file, "/key");
  EXPECT_EQ(config.service_name, "fleet");
  EXPECT_THAT(config.resource, ElementsAre(Pair("a", "1"), Pair("b", "x,y")));
  EXPECT_EQ(config.target.user_agent, "offcpud/1.2 OTel-OTLP-Exporter-cpp/1.2");

  const ExportConfig of_file = Made({.endpoint = "http://f",
                                     .headers = {"X: 1"},
                                     .ca_file = "/fca",
                                     .certificate_file = "/fcert",
                                     .key_file = "/fkey",
                                     .compression = "gzip",
                                     .timeout_ns = 3'000'000'000,
                                     .service_name = "mine",
                                     .resource = {"c=d=e"}},
                                    environment);
  EXPECT_EQ(of_file.target.url, "http://f/v1development/profiles");
  EXPECT_THAT(of_file.target.headers, ElementsAre("X: 1"));
  EXPECT_TRUE(of_file.gzip);
  EXPECT_EQ(of_file.target.timeout, std::chrono::seconds(3));
  EXPECT_EQ(of_file.target.ca_file, "/fca");
  EXPECT_EQ(of_file.target.certificate_file, "/fcert");
  EXPECT_EQ(of_file.target.key_file, "/fkey");
  EXPECT_EQ(of_file.service_name, "mine");
  EXPECT_THAT(of_file.resource, ElementsAre(Pair("c", "d=e")));
}

TEST(ExportConfigTest, VariablesForProfilesComeFirstAndEmptyOnesAreNone) {
  const ExportConfig config = Made({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://e:1"},
                                        {"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://p:2/as/it/is"},
                                        {"OTEL_EXPORTER_OTLP_TIMEOUT", "1000"},
                                        {"OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT", "2000"},
                                        {"OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION", ""}});
  EXPECT_EQ(config.target.url, "http://p:2/as/it/is");
  EXPECT_EQ(config.target.timeout, std::chrono::seconds(2));
  EXPECT_TRUE(config.gzip);
  EXPECT_EQ(Made({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}}).target.url, "");
}

// One name for one thing, however it came.
TEST(ExportConfigTest, AServiceNameAmongTheAttributesIsTheServiceName) {
  const ExportConfig config = Made({.endpoint = "http://c", .resource = {"service.name=a", "x=y"}});
  EXPECT_EQ(config.service_name, "a");
  EXPECT_THAT(config.resource, ElementsAre(Pair("x", "y")));
  EXPECT_EQ(Made({.endpoint = "http://c", .service_name = "b", .resource = {"service.name=a"}}).service_name, "b");
}

TEST(ExportConfigTest, ValuesAndLabelsAreChosenByName) {
  const ExportConfig usual = Made({.endpoint = "http://c"});
  EXPECT_EQ(usual.types, DefaultOtlpTypes());
  EXPECT_EQ(usual.labels, DefaultOtlpLabels());
  const ExportConfig config = Made({.endpoint = "http://c", .types = {"off_cpu", "lost"}, .labels = {"pid"}});
  EXPECT_EQ(config.types, *ParseOtlpTypes({"off_cpu", "lost"}));
  EXPECT_EQ(config.labels, *ParseOtlpLabels({"pid"}));
  EXPECT_THAT(ErrorOf({.types = {"longest"}}),
              HasSubstr("export.types: unknown name 'longest'; the names are off_cpu"));
  EXPECT_THAT(ErrorOf({.labels = {"frame"}}), HasSubstr("export.labels: unknown name 'frame'; the names are pid"));
}

TEST(ExportConfigTest, InAPodTheHostIsTheNode) {
  const ExportSettings on = {.endpoint = "http://c"};
  EXPECT_THAT(Made(on, {{"NODE_NAME", "n1"}}).resource,
              ElementsAre(Pair("host.name", "n1"), Pair("k8s.node.name", "n1")));
  EXPECT_THAT(Made(on, {{"NODE_NAME", "n1"}, {"K8S_NODE_NAME", "n2"}}).resource,
              ElementsAre(Pair("host.name", "n2"), Pair("k8s.node.name", "n2")));
  EXPECT_THAT(Made({.endpoint = "http://c", .resource = {"host.name=mine"}}, {{"NODE_NAME", "n1"}}).resource,
              ElementsAre(Pair("host.name", "mine"), Pair("k8s.node.name", "n1")));
}

TEST(ExportConfigTest, MistakesAreNamed) {
  EXPECT_THAT(ErrorOf({.endpoint = "c:4318"}), HasSubstr("export.endpoint: this is not a URL"));
  EXPECT_THAT(ErrorOf({.profiles_endpoint = "ftp://c"}), HasSubstr("export.profiles_endpoint: this is not a URL"));
  EXPECT_THAT(ErrorOf({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:99999"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_ENDPOINT: this is not a URL"));
  EXPECT_EQ(ErrorOf({.endpoint = "http://c:4317"}),
            "export.endpoint: port 4317 is for gRPC, but offcpud sends HTTP: write http://c:4318");
  EXPECT_EQ(ErrorOf({}, {{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://me:secret@c:4317/x"}}),
            "OTEL_EXPORTER_OTLP_ENDPOINT: port 4317 is for gRPC, but offcpud sends HTTP: write https://c:4318");
  const ExportSettings on = {.endpoint = "http://c"};
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_PROFILES_PROTOCOL", "grpc"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_PROFILES_PROTOCOL: must be http/protobuf, not grpc"));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"}}), HasSubstr("OTEL_EXPORTER_OTLP_TIMEOUT: "));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_TIMEOUT", "0"}}), HasSubstr("OTEL_EXPORTER_OTLP_TIMEOUT: "));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_COMPRESSION: must be gzip or none, not 'zstd'"));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_HEADERS", "a"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: write an entry"));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0aX-B:1"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: "));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_HEADERS", "a=%"}}), HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: "));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret%-1"}}), Not(HasSubstr("secret")));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_EXPORTER_OTLP_HEADERS", "a=%-1"}}),
              HasSubstr("OTEL_EXPORTER_OTLP_HEADERS: the value of a has a % without two digits"));
  EXPECT_THAT(ErrorOf(on, {{"OTEL_RESOURCE_ATTRIBUTES", "=1"}}), HasSubstr("OTEL_RESOURCE_ATTRIBUTES: "));
  for (const char* bad : {"no colon", ": none", "a b: c", "a: b\r\nc: d"})
    EXPECT_THAT(ErrorOf({.endpoint = "http://c", .headers = {bad}}), HasSubstr("export.headers: ")) << bad;
  EXPECT_THAT(ErrorOf({.endpoint = "http://c", .certificate_file = "/c"}), HasSubstr("must be set together"));
}

TEST(ExportConfigTest, WithoutAUrlTheEnvironmentCannotBeWrong) {
  EXPECT_TRUE(Make({}, {{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"}, {"OTEL_RESOURCE_ATTRIBUTES", "="}}).ok());
}

TEST(ExportConfigTest, NameAndPasswordAreNotShown) {
  const ExportConfig config = Made({.endpoint = "https://me:secret@c:4318"});
  EXPECT_EQ(config.target.url, "https://me:secret@c:4318/v1development/profiles");
  EXPECT_EQ(config.shown_url, "https://c:4318/v1development/profiles");
}

TEST(ExportConfigTest, TheQueryIsNotShown) {
  const ExportConfig config = Made({.profiles_endpoint = "https://c/v1?api-key=secret#part"});
  EXPECT_EQ(config.target.url, "https://c/v1?api-key=secret#part");
  EXPECT_EQ(config.shown_url, "https://c/v1");
}

TEST(ExportConfigTest, ATimeoutIsNeverNone) {
  EXPECT_EQ(Made({.endpoint = "http://c", .timeout_ns = 1}).target.timeout, std::chrono::milliseconds(1));
  EXPECT_EQ(Made({.endpoint = "http://c", .timeout_ns = 1'000'001}).target.timeout, std::chrono::milliseconds(2));
}

}  // namespace
}  // namespace offcpu
