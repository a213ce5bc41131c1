#include "export/export_config.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace offcpu {
namespace {

constexpr char kPath[] = "v1development/profiles";
constexpr uint64_t kDefaultTimeoutMs = 10'000;

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::optional<std::string> DecodePercent(const std::string& text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    int byte = 0;
    const std::string digits = text.substr(i + 1, 2);
    const bool is_hex = digits.size() == 2 && absl::ascii_isxdigit(static_cast<unsigned char>(digits[0])) &&
                        absl::ascii_isxdigit(static_cast<unsigned char>(digits[1]));
    if (!is_hex || !absl::SimpleHexAtoi(digits, &byte)) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

absl::StatusOr<std::pair<std::string, std::string>> ParsePair(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return absl::InvalidArgumentError("write an entry as KEY=VALUE");  // it may be secret: not shown
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// As the W3C's baggage has it: k1=v1,k2=v2, where values have bytes as %20.
absl::StatusOr<Pairs> ParseList(const std::string& text) {
  Pairs pairs;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipWhitespace())) {
    absl::StatusOr<std::pair<std::string, std::string>> pair = ParsePair(std::string(absl::StripAsciiWhitespace(part)));
    if (!pair.ok()) return pair.status();
    const std::optional<std::string> value = DecodePercent(std::string(absl::StripAsciiWhitespace(pair->second)));
    if (!value.has_value())
      return absl::InvalidArgumentError(absl::StrCat("the value of ", pair->first, " has a % without two digits"));
    pairs.emplace_back(std::string(absl::StripAsciiWhitespace(pair->first)), *value);
  }
  return pairs;
}

absl::Status CheckHeader(const std::string& header) {
  const size_t colon = header.find(':');
  bool is_right = colon != std::string::npos && colon != 0;
  for (const char c : header) is_right = is_right && !absl::ascii_iscntrl(static_cast<unsigned char>(c));
  for (const char c : header.substr(0, colon))
    is_right = is_right && absl::ascii_isgraph(static_cast<unsigned char>(c));
  return is_right ? absl::OkStatus() : absl::InvalidArgumentError("write a header as \"Name: value\"");
}

// The URL as it may be shown: without name, password and query, in any of which there may be a key.
absl::StatusOr<std::string> ShownUrl(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  const bool is_http = absl::StartsWithIgnoreCase(url, "http://") || absl::StartsWithIgnoreCase(url, "https://");
  if (!is_http || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK)
    return absl::InvalidArgumentError("this is not a URL: write http://HOST:4318 or https://HOST:4318");
  curl_url_set(parsed.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_PASSWORD, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_QUERY, nullptr, 0);
  curl_url_set(parsed.get(), CURLUPART_FRAGMENT, nullptr, 0);
  char* shown = nullptr;
  curl_url_get(parsed.get(), CURLUPART_URL, &shown, 0);
  const std::string text = shown != nullptr ? shown : "";
  curl_free(shown);
  return text;
}

// The port that collectors have for gRPC, which many write out of habit.
absl::Status CheckPort(const std::string& url) {
  constexpr std::string_view kGrpc = ":4317/";
  const size_t at = url.find(kGrpc.data(), 0, kGrpc.size());
  if (at == std::string::npos) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("port 4317 is for gRPC, but offcpud sends HTTP: write ", url.substr(0, at), ":4318"));
}

// One reading of settings and variables; the first mistake counts.
class Maker {
 public:
  Maker(const ExportSettings& settings, const std::string& version, ReadVariable variable)
      : settings_(settings), version_(version), variable_(variable) {}

  absl::StatusOr<ExportConfig> Make() {
    ExportConfig config;
    Choose(config);  // what the file says is looked at in any case
    config.target.url = Url(config.shown_url);
    if (!status_.ok()) return status_;
    if (config.target.url.empty()) return config;  // whatever the environment says
    SetTarget(config.target);
    config.gzip = IsGzip();
    config.names = settings_.names;
    config.service_name = First(settings_.service_name, "OTEL_SERVICE_NAME");
    config.resource = Resource();
    config.spool = settings_.spool;
    config.spool_bytes = settings_.spool_bytes;
    config.spool_age_ns = settings_.spool_age_ns;
    TakeServiceName(config);
    AddNode(config);
    CheckProtocol();
    if (!status_.ok()) return status_;
    return config;
  }

 private:
  static bool IsSet(const char* value) { return value != nullptr && *value != '\0'; }

  void Check(const std::string& name, const absl::Status& status) {
    if (status_.ok() && !status.ok())
      status_ = absl::InvalidArgumentError(absl::StrCat(name, ": ", std::string(status.message())));
  }

  std::string First(const std::string& setting, const char* name) const {
    const char* value = variable_(name);
    return setting.empty() && IsSet(value) ? value : setting;
  }

  // The name of the variable that is set, that for profiles first.
  std::string NameOf(const char* last) const {
    const std::string of_profiles = absl::StrCat("OTEL_EXPORTER_OTLP_PROFILES_", last);
    return IsSet(variable_(of_profiles.c_str())) ? of_profiles : absl::StrCat("OTEL_EXPORTER_OTLP_", last);
  }

  std::string Or(const std::string& setting, const char* last) const { return First(setting, NameOf(last).c_str()); }

  std::string Url(std::string& shown_url) {
    const bool is_set = !settings_.profiles_endpoint.empty() || !settings_.endpoint.empty();
    std::string name = settings_.profiles_endpoint.empty() ? "export.endpoint" : "export.profiles_endpoint";
    std::string url = settings_.profiles_endpoint;
    std::string base = settings_.endpoint;
    if (!is_set) {
      name = NameOf("ENDPOINT");
      const char* value = variable_(name.c_str());
      if (!IsSet(value)) return "";
      (absl::StrContains(name, "PROFILES") ? url : base) = value;
    }
    if (url.empty()) url = absl::StrCat(base, base.ends_with('/') ? "" : "/", kPath);
    const absl::StatusOr<std::string> shown = ShownUrl(url);
    Check(name, shown.status());
    if (shown.ok()) Check(name, CheckPort(*shown));
    if (shown.ok()) shown_url = *shown;
    return url;
  }

  void SetTarget(HttpTarget& target) {
    target.headers = Headers();
    target.user_agent = absl::StrCat("offcpud/", version_, " OTel-OTLP-Exporter-cpp/", version_);
    target.bearer_token_file = settings_.bearer_token_file;
    target.ca_file = Or(settings_.ca_file, "CERTIFICATE");
    target.certificate_file = Or(settings_.certificate_file, "CLIENT_CERTIFICATE");
    target.key_file = Or(settings_.key_file, "CLIENT_KEY");
    target.proxy = settings_.proxy;
    target.timeout = std::chrono::milliseconds(TimeoutMs());
    if (target.certificate_file.empty() != target.key_file.empty())
      Check("export", absl::InvalidArgumentError("client_certificate and client_key must be set together"));
  }

  std::vector<std::string> Headers() {
    for (const std::string& header : settings_.headers) Check("export.headers", CheckHeader(header));
    if (!settings_.headers.empty()) return settings_.headers;
    const std::string name = NameOf("HEADERS");
    const absl::StatusOr<Pairs> pairs = ParseList(First("", name.c_str()));
    Check(name, pairs.status());
    std::vector<std::string> headers;
    if (!pairs.ok()) return headers;
    for (const auto& [key, value] : *pairs) {
      headers.push_back(absl::StrCat(key, ": ", value));
      Check(name, CheckHeader(headers.back()));
    }
    return headers;
  }

  uint64_t TimeoutMs() {
    // Rounded up: 0 would be for ever.
    if (settings_.timeout_ns != 0) return (settings_.timeout_ns + 999'999) / 1'000'000;
    const std::string name = NameOf("TIMEOUT");
    const std::string text = First("", name.c_str());
    uint64_t ms = kDefaultTimeoutMs;
    if (!text.empty() && (!absl::SimpleAtoi(text, &ms) || ms == 0 || ms > 600'000))
      Check(name, absl::InvalidArgumentError("must be a number of milliseconds from 1 to 600000"));
    return ms;
  }

  bool IsGzip() {
    const std::string compression = Or(settings_.compression, "COMPRESSION");
    if (!compression.empty() && compression != "gzip" && compression != "none")
      Check(settings_.compression.empty() ? NameOf("COMPRESSION") : "export.compression",
            absl::InvalidArgumentError(absl::StrCat("must be gzip or none, not '", compression, "'")));
    return compression != "none";
  }

  Pairs Resource() {
    Pairs pairs;
    for (const std::string& text : settings_.resource) {
      const absl::StatusOr<std::pair<std::string, std::string>> pair = ParsePair(text);
      Check("export.resource", pair.status());
      if (pair.ok()) pairs.push_back(*pair);
    }
    if (!pairs.empty()) return pairs;
    const absl::StatusOr<Pairs> of_environment = ParseList(First("", "OTEL_RESOURCE_ATTRIBUTES"));
    Check("OTEL_RESOURCE_ATTRIBUTES", of_environment.status());
    return of_environment.ok() ? *of_environment : pairs;
  }

  // A name of its own comes before an attribute.
  static void TakeServiceName(ExportConfig& config) {
    std::erase_if(config.resource, [&config](const auto& attribute) {
      if (attribute.first != "service.name") return false;
      if (config.service_name.empty()) config.service_name = attribute.second;
      return true;
    });
  }

  void Choose(ExportConfig& config) {
    const absl::StatusOr<OtlpTypes> types = ParseOtlpTypes(settings_.types);
    Check("export.types", types.status());
    if (types.ok()) config.types = *types;
    const absl::StatusOr<OtlpLabels> labels = ParseOtlpLabels(settings_.labels);
    Check("export.labels", labels.status());
    if (labels.ok()) config.labels = *labels;
  }

  // The name of the host is there the pod's, of which nobody asks.
  void AddNode(ExportConfig& config) const {
    const std::string node = First(First("", "K8S_NODE_NAME"), "NODE_NAME");
    if (node.empty()) return;
    for (const char* key : {"host.name", "k8s.node.name"}) {
      const auto is_it = [key](const auto& attribute) { return attribute.first == key; };
      if (std::none_of(config.resource.begin(), config.resource.end(), is_it)) config.resource.emplace_back(key, node);
    }
  }

  void CheckProtocol() {
    const std::string name = NameOf("PROTOCOL");
    const std::string protocol = First("", name.c_str());
    if (!protocol.empty() && protocol != "http/protobuf")
      Check(name, absl::InvalidArgumentError(absl::StrCat("must be http/protobuf, not ", protocol)));
  }

  const ExportSettings& settings_;
  const std::string& version_;
  const ReadVariable variable_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<ExportConfig> MakeExportConfig(const ExportSettings& settings, const FileSettings& files,
                                              const std::string& version, ReadVariable variable) {
  absl::StatusOr<ExportConfig> config = Maker(settings, version, variable).Make();
  if (config.ok()) config->files = files;
  return config;
}

}  // namespace offcpu
