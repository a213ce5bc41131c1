#include "offcpu/fetched_files.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

std::string Megabytes(uint64_t bytes) { return absl::StrCat((bytes + 500'000) / 1'000'000); }

}  // namespace

Flag DebuginfodFlag(bool* value) {
  return {"--debuginfod", value,
          "Fetch missing debug files from the servers of DEBUGINFOD_URLS, for names, source lines and inlined\n"
          "functions; takes three minutes at most"};
}

absl::StatusOr<std::unique_ptr<FetchedFiles>> FetchedFiles::Open(bool wanted, std::function<bool()> is_stopped) {
  std::unique_ptr<FetchedFiles> files(new FetchedFiles(std::move(is_stopped)));
  if (!wanted) return files;
  auto servers = Debuginfod::Open([raw = files.get()](const FetchProgress& progress) { return raw->Show(progress); });
  if (!servers.ok()) return servers.status();
  files->servers_ = *std::move(servers);
  return files;
}

FetchDebugFile FetchedFiles::fetcher() {
  if (servers_ == nullptr) return {};
  return [this](const std::string& build_id, std::string_view name) { return servers_->Fetch(build_id, name); };
}

bool FetchedFiles::Show(const FetchProgress& progress) {
  if (is_stopped_ && is_stopped_()) return false;
  if (isatty(STDERR_FILENO) == 0) return true;
  is_shown_ = true;
  const std::string of = progress.all_bytes == 0 ? " ..."
                                                 : absl::StrCat(": ", Megabytes(progress.bytes), " of ",
                                                                Megabytes(progress.all_bytes), " MB");
  std::fprintf(stderr, "\rdebuginfod: %s%s\033[K", Printable(progress.name).c_str(), of.c_str());
  return true;
}

void FetchedFiles::Finish() {
  if (is_shown_) std::fputs("\r\033[K", stderr);
  is_shown_ = false;
  if (servers_ == nullptr || servers_->problem().empty()) return;
  std::fprintf(stderr, "offcpu: debuginfod: %s; some files were not fetched\n", Printable(servers_->problem()).c_str());
}

}  // namespace offcpu
