// `offcpu sframe`: which objects are described by SFrame, and how much of them.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "offcpu/outputs.h"
#include "offcpu/sframe_report.h"
#include "offcpu/verb.h"
#include "os/regular_file.h"
#include "process/address_space.h"
#include "process/elf/file_image.h"
#include "process/module_cache.h"
#include "recorder/operands.h"

namespace offcpu {
namespace {

struct SFrameFlags {
  std::vector<std::string> objects;
  bool dump = false;
  bool as_json = false;
};

using Modules = std::vector<std::shared_ptr<const Module>>;

// The status, with which object it is about.
absl::Status About(const std::string& object, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(object, ": ", std::string(status.message())));
}

absl::Status AddFile(const std::string& path, Modules* modules) {
  const OwnedFd name(open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!name) return absl::ErrnoToStatus(errno, path);
  struct stat st;
  if (fstat(name.get(), &st) != 0 || !S_ISREG(st.st_mode)) return About(path, absl::InvalidArgumentError("not a file"));
  const OwnedFd file = OpenRegularFile(name);
  if (!file) return absl::ErrnoToStatus(errno, path);
  absl::StatusOr<Module> module = ReadFileImage(FileMemory(file.get()));
  if (!module.ok()) return About(path, module.status());
  module->path = path;
  modules->push_back(std::make_shared<Module>(*std::move(module)));
  return absl::OkStatus();
}

// Every object that the process has mapped, once.
absl::Status AddProcess(pid_t pid, Modules* modules) {
  if (absl::Status status = CheckUserProcess(pid); !status.ok()) return status;
  ModuleCache cache;
  absl::StatusOr<std::shared_ptr<const AddressSpace>> space = LoadAddressSpace(pid, nullptr, cache);
  if (!space.ok()) return About(absl::StrCat("process ", pid), space.status());
  for (const MappedCode& code : (*space)->code()) {
    const bool is_new =
        code.module != nullptr && std::find(modules->begin(), modules->end(), code.module) == modules->end();
    if (is_new) modules->push_back(code.module);
  }
  return absl::OkStatus();
}

// What can be read is shown, whatever the others are: `*.so*` names linker scripts, too.
ExitCode RunSFrame(const SFrameFlags& flags) {
  Modules modules;
  ExitCode failure = kExitOk;  // the first one
  for (const std::string& object : flags.objects) {
    int pid = 0;
    const bool is_pid = object.find_first_not_of("0123456789") == std::string::npos && absl::SimpleAtoi(object, &pid);
    const absl::Status status = is_pid ? AddProcess(pid, &modules) : AddFile(object, &modules);
    const ExitCode code = status.ok() ? kExitOk : Fail(status);
    if (failure == kExitOk) failure = code;
  }
  if (failure != kExitOk && modules.empty()) return failure;
  std::vector<SFrameReport> reports;
  for (const std::shared_ptr<const Module>& module : modules) reports.push_back(ReportSFrame(*module));
  flags.as_json ? WriteSFrameReportsJson(reports, ToStdout) : WriteSFrameReports(reports, flags.dump, ToStdout);
  if (const absl::Status written = FlushStdout(); !written.ok()) return Fail(written);
  return failure == kExitOk ? kExitOk : kExitFailed;
}

}  // namespace

Verb SFrameVerb() {
  auto flags = std::make_shared<SFrameFlags>();
  Verb verb = {.name = "sframe", .help = "Show which SFrame tables programs and libraries have"};
  verb.flags = {
      {"OBJECT",
       &flags->objects,
       "A program, a library, or a pid, for everything that the process has mapped",
       "FILE|PID",
       {.is_required = true}},
      {"--dump", &flags->dump, "Also print every function and every unwind row"},
      {"--json", &flags->as_json, "Print one JSON array, for scripts", "", {.excludes = "--dump"}},
  };
  verb.footer =
      "For a table of Version 3, it shows the number of functions and unwind rows, and the share of the executable "
      "bytes that the table describes. Older versions are recognized, but not read. Code without SFrame is walked by "
      ".eh_frame.\n"
      "\n"
      "Examples:\n"
      "  offcpu sframe 1234                                what a process has mapped\n"
      "  offcpu sframe --dump /usr/bin/true                every row; a file called 12 is ./12\n"
      "  offcpu sframe --json 1234 | jq '.[] | select(.sframe == \"none\") | .path'\n"
      "\n"
      "Exit status: 0 shown, 1 failed, or some of the objects could not be read, 2 wrong usage or no such object, 3 "
      "missing capability.";
  verb.run = [flags] { return RunSFrame(*flags); };
  return verb;
}

}  // namespace offcpu
