// The service: its flags, and what it is made of.
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "bytes/read_file.h"
#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/service.h"
#include "daemon/window_export.h"
#include "offcpud/record_from_config.h"
#include "os/reader_pool.h"
#include "recorder/recorder.h"

namespace {

constexpr char kConfigPath[] = "/etc/offcpud/offcpud.toml";

struct Flags {
  std::string config;
  bool check_config = false;
  bool print_config = false;
};

// The file that is named must be there. The usual one need not, but if it was there once, it must be there for a
// reload: else what it excludes would be recorded from then on.
class ConfigFile {
 public:
  explicit ConfigFile(const std::string& path) : must_exist_(!path.empty()), path_(must_exist_ ? path : kConfigPath) {}

  absl::StatusOr<offcpu::DaemonConfig> Read() {
    struct stat st;
    std::vector<std::string> paths;
    if (must_exist_ || lstat(path_.c_str(), &st) == 0 || errno != ENOENT) paths.push_back(path_);
    must_exist_ = !paths.empty();
    if (absl::Status status = AddDropIns(&paths); !status.ok()) return status;
    std::vector<offcpu::ConfigText> files;
    for (const std::string& path : paths) {
      absl::StatusOr<std::string> text = offcpu::ReadRegularFile(path);
      if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
      files.push_back({.name = path, .text = *std::move(text)});
    }
    return offcpu::ParseConfig(files);
  }

 private:
  // Files in the directory that is called as the file with .d behind it, by their names: what a package or an
  // administrator adds without changing the file.
  absl::Status AddDropIns(std::vector<std::string>* paths) const {
    const std::string directory = path_ + ".d";
    std::vector<std::string> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".toml") found.push_back(entry->path().string());
    }
    if (error && error != std::errc::no_such_file_or_directory)
      return absl::InvalidArgumentError(absl::StrCat(directory, ": ", error.message()));
    std::sort(found.begin(), found.end());
    paths->insert(paths->end(), found.begin(), found.end());
    return absl::OkStatus();
  }

  bool must_exist_;
  const std::string path_;
};

// Known by name to systemd: "systemd-analyze exit-status".
int ExitStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return EX_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return EX_CONFIG;
    case absl::StatusCode::kPermissionDenied:
      return EX_NOPERM;
    case absl::StatusCode::kFailedPrecondition:
      return EX_UNAVAILABLE;
    default:
      return EX_OSERR;
  }
}

int Fail(const absl::Status& status) {
  offcpu::Log(offcpu::LogLevel::kError, std::string(status.message()));
  return ExitStatusOf(status);
}

int Run(const Flags& flags) {
  ConfigFile file(flags.config);
  const auto read_config = [&file] { return file.Read(); };
  if (flags.check_config || flags.print_config) {
    const absl::StatusOr<offcpu::DaemonConfig> config = read_config();
    if (!config.ok()) return Fail(config.status());
    if (absl::Status status = offcpu::CheckNamed(*config, OFFCPU_VERSION); !status.ok()) return Fail(status);
    // Without users and control groups that it names, the service would not start either.
    const absl::Status found = offcpu::RecordConfigOf(*config).status();
    if (flags.check_config && !found.ok()) return Fail(found);
    if (flags.print_config) std::fputs(offcpu::FormatConfig(*config).c_str(), stdout);
    return std::fflush(stdout) == 0 ? EX_OK : EX_IOERR;
  }
  // Windows of one recorder outlive it, and name modules that the next one meets again.
  std::shared_ptr<offcpu::ModuleCache> modules;
  const auto readers = std::make_shared<offcpu::ReaderPool>();
  const auto start_recorder =
      [&modules, &readers](const offcpu::DaemonConfig& config) -> absl::StatusOr<std::unique_ptr<offcpu::Recorder>> {
    if (modules == nullptr) modules = std::make_shared<offcpu::ModuleCache>(offcpu::ModuleLimitsOf(config));
    absl::StatusOr<offcpu::RecordConfig> record = offcpu::RecordConfigOf(config);
    if (!record.ok()) return record.status();
    const absl::StatusOr<offcpu::ExportConfig> exporting = offcpu::ExportConfigOf(config, OFFCPU_VERSION);
    record->service_names = exporting.ok() && !exporting->target.url.empty() && exporting->service_name.empty();
    absl::StatusOr<std::unique_ptr<offcpu::Recorder>> recorder = offcpu::Recorder::Start(*record, modules, readers);
    if (recorder.ok()) modules->SetMemoryLimit(offcpu::ModuleLimitsOf(config).memory_bytes);
    return recorder;
  };
  const absl::Status status =
      offcpu::RunService({read_config, start_recorder, [&modules] { return modules; }, readers}, OFFCPU_VERSION);
  const int code = status.ok() ? EX_OK : Fail(status);
  // A read that hangs may come back while what it uses is being destroyed.
  if (readers->stats().running != 0) _exit(code);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  // Captured stacks hold other programs' secrets: no core dump, no ptrace by the same user.
  prctl(PR_SET_DUMPABLE, 0);
  signal(SIGPIPE, SIG_IGN);
  mallopt(M_ARENA_MAX, 2);  // each keeps what it has had at its worst moment

  Flags flags;
  CLI::App app("Records around the clock where threads wait off the CPU.", "offcpud");
  app.set_version_flag("--version", "offcpud " OFFCPU_VERSION);
  app.add_option("--config", flags.config, absl::StrCat("Default: ", kConfigPath, ", if it exists"))->type_name("FILE");
  app.add_flag("--check-config", flags.check_config, "Check the configuration, print its errors and exit");
  app.add_flag("--print-config", flags.print_config, "Print the configuration with all defaults and exit");
  app.footer(
      "SIGHUP reloads the configuration; if it has errors, the old one stays in effect.\n"
      "SIGTERM ends the service.\n"
      "\n"
      "Example:\n"
      "  offcpud --config ./offcpud.toml --check-config\n"
      "\n"
      "Exit status: 0 ended, 64 wrong usage, 69 missing kernel support, 71 failed,\n"
      "77 missing capability, 78 wrong configuration.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "offcpud: %s; see offcpud --help\n", error.what());
    return EX_USAGE;
  }
  return Run(flags);
}
