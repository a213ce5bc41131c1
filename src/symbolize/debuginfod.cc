#include "symbolize/debuginfod.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "symbolize/debug_files.h"

namespace offcpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kLibrary[] = "libdebuginfod.so.1";
constexpr int kMaxSilent = 2;  // files

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool HasServers() { return Variable("DEBUGINFOD_URLS").find_first_not_of(' ') != std::string_view::npos; }

bool IsBuildId(const std::string& text) {
  return text.size() >= 4 && text.size() <= 128 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Where the library keeps files, by its documentation.
std::filesystem::path CacheDirectory() {
  if (const auto given = Variable("DEBUGINFOD_CACHE_PATH"); !given.empty()) return given;
  const std::filesystem::path home = Variable("HOME").empty() ? "/" : Variable("HOME");
  std::error_code error;
  if (const auto old = home / ".debuginfod_client_cache"; std::filesystem::exists(old, error)) return old;
  const auto given = Variable("XDG_CACHE_HOME");
  return (given.empty() ? home / ".cache" : std::filesystem::path(given)) / "debuginfod_client";
}

// The library takes a file that it was stopped to fetch for one that no server has, and remembers that for ten minutes
// as an empty file.
void ForgetNotFound(const std::string& build_id) {
  std::error_code error;
  const auto file = CacheDirectory() / build_id / "debuginfo";
  if (std::filesystem::file_size(file, error) == 0 && !error) std::filesystem::remove(file, error);
}

thread_local Debuginfod* fetching = nullptr;  // whose progress the library reports: it calls in the thread that asks

}  // namespace

// The functions that are used, as elfutils/debuginfod.h declares them.
struct Debuginfod::Library {
  Client* (*begin)() = nullptr;
  void (*end)(Client* client) = nullptr;
  int (*find)(Client* client, const unsigned char* build_id, int length, char** path) = nullptr;
  void (*set_progress)(Client* client, int (*progress)(Client* client, long a, long b)) = nullptr;
};

// The library keeps what it has loaded until the program ends: curl does not like to be unloaded.
absl::StatusOr<std::unique_ptr<Debuginfod>> Debuginfod::Open(FetchWatch watch, const DebuginfodLimits& limits) {
  if (!HasServers()) {
    return absl::InvalidArgumentError(
        "--debuginfod: DEBUGINFOD_URLS names no server: set it, as in DEBUGINFOD_URLS=https://debuginfod.debian.net "
        "(sudo takes it as an argument: sudo DEBUGINFOD_URLS=...)");
  }
  void* handle = dlopen(kLibrary, RTLD_NOW | RTLD_NODELETE);
  if (handle == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--debuginfod needs ", kLibrary, ": install the package libdebuginfod1 (elfutils-debuginfod-client)"));
  }
  auto library = std::make_unique<Library>();
  bool has_all = true;
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    has_all &= function != nullptr;
  };
  load(library->begin, "debuginfod_begin");
  load(library->end, "debuginfod_end");
  load(library->find, "debuginfod_find_debuginfo");
  load(library->set_progress, "debuginfod_set_progressfn");
  if (!has_all) return absl::InvalidArgumentError(absl::StrCat("--debuginfod: ", kLibrary, " is too old"));
  std::unique_ptr<Debuginfod> made(new Debuginfod(std::move(library), std::move(watch), limits));
  if (made->client_ == nullptr) return absl::InvalidArgumentError(absl::StrCat("--debuginfod: ", kLibrary, " fails"));
  return made;
}

Debuginfod::Debuginfod(std::unique_ptr<Library> library, FetchWatch watch, const DebuginfodLimits& limits)
    : library_(std::move(library)), watch_(std::move(watch)), limits_(limits), client_(library_->begin()) {
  if (client_ == nullptr) return;
  library_->set_progress(client_, [](Client* /*client*/, long bytes, long all_bytes) {
    const auto natural = [](long number) { return number < 0 ? uint64_t{0} : static_cast<uint64_t>(number); };
    return fetching->MayGoOn(natural(bytes), natural(all_bytes)) ? 0 : 1;
  });
}

Debuginfod::~Debuginfod() {
  if (client_ != nullptr) library_->end(client_);
}

absl::Status Debuginfod::Failed(std::string why) {
  absl::Status status = absl::UnavailableError(why);
  if (problem_.empty()) problem_ = std::move(why);
  return status;
}

absl::StatusOr<OwnedFd> Debuginfod::Fetch(const std::string& build_id, std::string_view name) {
  if (!IsBuildId(build_id)) return absl::NotFoundError("no build id");
  if (is_over_) return Failed(given_up_);
  given_up_.clear();
  progress_ = {.name = name};
  start_ = heard_ = Clock::now();
  char* path = nullptr;
  fetching = this;
  const int found = library_->find(client_, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, &path);
  fetching = nullptr;
  std::free(path);
  spent_ += Clock::now() - start_;
  if (found >= 0) {
    OwnedFd fd(found);
    if (!HasBuildId(fd, build_id)) return Failed("a server sent a different file from the one it was asked for");
    return fd;
  }
  if (!given_up_.empty()) {  // the library does not say that it was stopped
    ForgetNotFound(build_id);
    return Failed(given_up_);
  }
  return found == -ENOENT ? absl::NotFoundError("no server has it") : Failed(strerror(-found));
}

bool Debuginfod::MayGoOn(uint64_t bytes, uint64_t all_bytes) {
  const Clock::time_point now = Clock::now();
  // Where it does not know how long the file is, `bytes` may be how often it has called.
  if (all_bytes != 0 && bytes > progress_.bytes) heard_ = now;
  progress_.bytes = all_bytes == 0 ? 0 : bytes;
  progress_.all_bytes = all_bytes;
  if (spent_ + (now - start_) > limits_.all) {
    given_up_ = absl::StrCat("debug files take longer than ", absl::FormatDuration(absl::FromChrono(limits_.all)));
    is_over_ = true;
  } else if (now - heard_ > limits_.silence) {
    given_up_ = absl::StrCat("no answer in ", absl::FormatDuration(absl::FromChrono(limits_.silence)));
    is_over_ = ++silent_ == kMaxSilent;
  } else if (all_bytes > limits_.max_file_bytes) {
    given_up_ = "a debug file is too large";
  } else if (!watch_(progress_)) {
    given_up_ = "stopped";
    is_over_ = true;
  }
  return given_up_.empty();
}

}  // namespace offcpu
