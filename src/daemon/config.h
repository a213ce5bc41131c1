// What the service does, as its configuration file says: TOML, every key optional. The file is taken whole or not at
// all: an unknown key, a wrong type, unit or value is an error with line and column. Plain data and pure functions;
// whether a cgroup or a user exists is not looked at.
#ifndef OFFCPU_DAEMON_CONFIG_H_
#define OFFCPU_DAEMON_CONFIG_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/control_client.h"
#include "export/export_config.h"

namespace offcpu {

// The defaults are those of the host as a whole. packaging/offcpud.toml tells of each key.
struct DaemonConfig {
  struct Record {
    std::optional<uint64_t> sample_ns;  // none: it adapts
    uint64_t cpu_budget_ppm = 10'000;
    uint64_t max_frames = 512;
    uint64_t min_wait_ns = 0;
    uint64_t max_wait_ns = 0;
    bool kernel_threads = false;
    bool idle = false;
    uint64_t oncpu_hz = 0;  // 0: no samples
    bool wakers = false;
    std::vector<std::string> comms;
    std::vector<int64_t> pids;
    std::vector<std::string> cgroups;
    std::vector<std::string> containers;
    std::vector<std::string> users;
    std::vector<std::string> exclude_comms;
    std::vector<int64_t> exclude_pids;
    std::vector<std::string> exclude_cgroups;
    std::vector<std::string> exclude_containers;

    bool operator==(const Record&) const = default;
  };
  struct Windows {
    uint64_t length_ns = 60'000'000'000;
    uint64_t keep = 60;

    bool operator==(const Windows&) const = default;
  };
  struct Control {
    std::string socket = kControlSocketPath;
    std::string group = "offcpu";
    uint64_t max_clients = 32;
    uint64_t timeout_ns = 10'000'000'000;

    bool operator==(const Control&) const = default;
  };

  // Empty: none. A client on another host has to show a token or a certificate over TLS: ParseConfig sees to it.
  struct Http {
    std::string listen;            // "ADDRESS:PORT"
    std::string certificate_file;  // with it TLS is all that is spoken
    std::string key_file;
    std::string client_ca_file;
    std::string bearer_token_file;

    bool operator==(const Http&) const = default;
  };

  Record record;
  Windows windows;
  Control control;
  Http http;
  ExportSettings exporting;
  FileSettings files;
  std::vector<std::string> idle_patterns;  // files
  uint64_t memory_bytes = 256u << 20;
  std::string log_level = "info";

  bool operator==(const DaemonConfig&) const = default;
};

// A file, or one that adds to it: keys of a later one replace those of the ones before, lists as a whole.
struct ConfigText {
  std::string name;
  std::string text;
};

// InvalidArgument with "NAME:LINE:COLUMN: what is wrong", one line.
absl::StatusOr<DaemonConfig> ParseConfig(std::span<const ConfigText> files);

// A file that says the same, every key in it.
std::string FormatConfig(const DaemonConfig& config);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONFIG_H_
