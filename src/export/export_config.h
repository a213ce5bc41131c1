// How windows leave the host. Plain data: from the configuration file, and where that says nothing from the
// environment. The protocol is OTLP over HTTP; others are refused here.
#ifndef OFFCPU_EXPORT_EXPORT_CONFIG_H_
#define OFFCPU_EXPORT_EXPORT_CONFIG_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "export/http_poster.h"
#include "otlp/otlp_choice.h"

namespace offcpu {

// The [export] section. Empty texts: as the environment says, or the default.
struct ExportSettings {
  std::string endpoint;           // of the collector; the path for profiles is added
  std::string profiles_endpoint;  // a whole URL instead, used as it is
  std::vector<std::string> headers;
  std::string bearer_token_file;
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  std::string proxy;
  std::string compression;  // "gzip" or "none"
  uint64_t timeout_ns = 0;  // 0: default
  bool names = true;        // of functions with the frames; without, those that the collector's side can find itself
  std::string service_name;
  std::vector<std::string> resource;                                                      // "key=value"
  std::vector<std::string> types = {kDefaultOtlpTypes.begin(), kDefaultOtlpTypes.end()};  // otlp/otlp_choice.h
  std::vector<std::string> labels = {kDefaultOtlpLabels.begin(), kDefaultOtlpLabels.end()};
  std::string spool = "/var/lib/offcpud/spool";  // a directory; empty: what waits is in memory
  uint64_t spool_bytes = 256u << 20;
  uint64_t spool_age_ns = uint64_t{24} * 3600 * 1'000'000'000;

  bool operator==(const ExportSettings&) const = default;
};

// The [files] section: pprof files beside, or instead.
struct FileSettings {
  std::string directory;  // empty: none
  uint64_t keep = 100;
  uint64_t bytes = 1u << 30;

  bool operator==(const FileSettings&) const = default;
};

// What the exporter works with.
struct ExportConfig {
  HttpTarget target;      // no URL: nothing is sent
  std::string shown_url;  // it, without name and password
  bool gzip = true;
  bool names = true;
  OtlpTypes types = DefaultOtlpTypes();
  OtlpLabels labels = DefaultOtlpLabels();
  std::string service_name;  // empty: each program by its own name
  std::vector<std::pair<std::string, std::string>> resource;
  std::string spool;
  uint64_t spool_bytes = 0;
  uint64_t spool_age_ns = 0;
  FileSettings files;

  bool is_on() const { return !target.url.empty() || !files.directory.empty(); }
  bool operator==(const ExportConfig&) const = default;
};

// A variable of the environment, or null.
using ReadVariable = absl::FunctionRef<const char*(const char* name)>;

// Takes what `settings` leave out from the variables of OpenTelemetry's exporters: OTEL_EXPORTER_OTLP_ENDPOINT,
// _HEADERS, _COMPRESSION, _TIMEOUT, _CERTIFICATE, _CLIENT_CERTIFICATE, _CLIENT_KEY and _PROTOCOL, each also with
// PROFILES_ in front of its last part, which comes first; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES. In a pod the
// host is the node that K8S_NODE_NAME or NODE_NAME names, unless an attribute says otherwise.
// InvalidArgument, with the name of the key or variable, where one is wrong.
absl::StatusOr<ExportConfig> MakeExportConfig(const ExportSettings& settings, const FileSettings& files,
                                              const std::string& version, ReadVariable variable);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_EXPORT_CONFIG_H_
