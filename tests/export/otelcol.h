// A real OpenTelemetry Collector, as scripts/otelcol makes it, on a port of loopback. It prints all that it takes
// before it answers.
#ifndef OFFCPU_TESTS_EXPORT_OTELCOL_H_
#define OFFCPU_TESTS_EXPORT_OTELCOL_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace offcpu {

struct OtelcolTls {
  std::string certificate_file;
  std::string key_file;
  std::string client_ca_file;  // who may send; empty: everyone
};

class Otelcol {
 public:
  static bool IsThere();

  // Its configuration and its output are in `directory`; `port` 0: any that is free. Takes requests when it returns.
  explicit Otelcol(std::string directory, int port = 0, const OtelcolTls& tls = {});
  ~Otelcol();  // with SIGTERM
  Otelcol(const Otelcol&) = delete;
  Otelcol& operator=(const Otelcol&) = delete;

  void Kill();  // with SIGKILL
  int port() const { return port_; }

 private:
  const std::string directory_;
  int port_ = 0;
  pid_t pid_ = -1;
};

// A Profile, as the debug exporter prints it.
struct PrintedProfile {
  std::string service;  // service.name of its resource
  size_t number = 0;    // in its scope
  std::string id;
  uint64_t sum = 0;  // of the values of its samples
};

// All that collectors in `directory` have printed.
std::vector<PrintedProfile> PrintedProfiles(const std::string& directory);

// Runs openssl: a certificate authority, and a certificate and key of it for "localhost" and for a client.
struct Certificates {
  explicit Certificates(const std::string& directory);

  std::string ca;
  std::string server, server_key;
  std::string client, client_key;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_EXPORT_OTELCOL_H_
