#include "export/pprof_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "export/spool_files.h"
#include "pprof/pprof.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr mode_t kDirectoryMode = 0750;
constexpr mode_t kPprofFileMode = 0640;
constexpr uint32_t kMaxNth = 999;
constexpr std::string_view kSuffix = ".pb.gz";
// '0' stands for any digit.
constexpr std::string_view kFirstForm = "offcpu-00000000T000000Z.pb.gz";
constexpr std::string_view kOtherForm = "offcpu-00000000T000000Z_000.pb.gz";

bool HasForm(std::string_view name, std::string_view form) {
  return std::equal(name.begin(), name.end(), form.begin(), form.end(), [](char c, char like) {
    return like == '0' ? absl::ascii_isdigit(static_cast<unsigned char>(c)) : c == like;
  });
}

bool IsPprofLeftover(std::string_view name) {
  const std::string_view suffix = kTemporarySuffix;
  return name.ends_with(suffix) && NthOfPprofFileName(name.substr(0, name.size() - suffix.size())) != 0;
}

absl::Status AboutFiles(const std::string& directory, const absl::Status& status) {
  if (status.ok()) return status;
  return {status.code(), absl::StrCat("cannot keep profiles in ", directory, ": ", status.message())};
}

}  // namespace

std::string PprofFileName(uint64_t start_unix_ns, uint32_t nth) {
  const auto second = static_cast<time_t>(start_unix_ns / kSecondNs);
  struct tm utc = {};
  gmtime_r(&second, &utc);
  std::string name = absl::StrFormat("offcpu-%04d%02d%02dT%02d%02d%02dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
  // '_' sorts behind the dot of the first one.
  if (nth > 1) absl::StrAppendFormat(&name, "_%03u", nth);
  return name.append(kSuffix);
}

uint32_t NthOfPprofFileName(std::string_view name) {
  if (HasForm(name, kFirstForm)) return 1;
  if (!HasForm(name, kOtherForm)) return 0;
  uint32_t nth = 0;
  const std::string digits(name.substr(name.size() - kSuffix.size() - 3, 3));
  return absl::SimpleAtoi(digits, &nth) && nth > 1 ? nth : 0;
}

absl::StatusOr<std::unique_ptr<PprofFiles>> PprofFiles::Open(const std::string& directory,
                                                             const PprofFilesLimits& limits) {
  absl::StatusOr<LockedDirectory> locked = OpenDirectoryAlone(directory, kDirectoryMode);
  if (!locked.ok()) return locked.status();
  // Else it would be found out when the first window ends.
  if (faccessat(locked->fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write in the directory ", directory));
  }
  std::unique_ptr<PprofFiles> files(new PprofFiles(directory, *std::move(locked), limits));
  if (absl::Status found = AboutFiles(directory, files->Find()); !found.ok()) return found;
  files->MakeRoom(0, 0);
  files->Publish();
  return files;
}

absl::Status PprofFiles::Find() {
  std::vector<std::string> leftovers;
  absl::Status listed = ListDirectory(directory_, [&](const char* name) {
    struct stat st = {};
    if (IsPprofLeftover(name)) leftovers.emplace_back(name);
    if (NthOfPprofFileName(name) == 0 || fstatat(directory_.get(), name, &st, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(st.st_mode)) files_.push_back({.name = name, .bytes = static_cast<uint64_t>(st.st_size)});
  });
  if (!listed.ok()) return listed;
  for (const std::string& name : leftovers) unlinkat(directory_.get(), name.c_str(), 0);
  std::sort(files_.begin(), files_.end(), [](const File& a, const File& b) { return a.name < b.name; });
  for (const File& file : files_) counted_.bytes += file.bytes;
  return absl::OkStatus();
}

absl::Status PprofFiles::Write(const NamedProfile& profile) {
  std::string bytes;
  WritePprof(profile, [&bytes](std::string_view piece) { bytes.append(piece); });
  const std::lock_guard lock(mutex_);
  absl::Status status = WriteLocked(profile.start_unix_ns, bytes);
  ++(status.ok() ? counted_.written : counted_.failed);
  Publish();
  return AboutFiles(path_, status);
}

absl::Status PprofFiles::WriteLocked(uint64_t start_unix_ns, std::string_view bytes) {
  if (bytes.size() > limits_.bytes || limits_.files == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a window of ", bytes.size(), " bytes is larger than all files may be"));
  }
  MakeRoom(bytes.size(), 1);
  for (uint32_t nth = NextNth(start_unix_ns); nth <= kMaxNth; ++nth) {
    std::string name = PprofFileName(start_unix_ns, nth);
    absl::Status status = WriteNewFile(directory_, name, {bytes}, kPprofFileMode);
    if (absl::IsAlreadyExists(status)) continue;  // somebody's, or no file
    if (!status.ok()) return status;
    files_.push_back({.name = std::move(name), .bytes = bytes.size()});
    counted_.bytes += bytes.size();
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(absl::StrCat("no file name is free beside ", PprofFileName(start_unix_ns, kMaxNth)));
}

// Behind those of the same second that are there, so that names go on sorting when the first of them is gone.
uint32_t PprofFiles::NextNth(uint64_t start_unix_ns) const {
  const std::string first = PprofFileName(start_unix_ns, 1);
  const std::string_view second = std::string_view(first).substr(0, first.size() - kSuffix.size());
  uint32_t last = 0;
  for (const File& file : files_) {
    if (file.name.starts_with(second)) last = std::max(last, NthOfPprofFileName(file.name));
  }
  return last + 1;
}

PprofFilesStats PprofFiles::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

void PprofFiles::MakeRoom(uint64_t bytes, size_t files) {
  while (!files_.empty() && (counted_.bytes + bytes > limits_.bytes || files_.size() + files > limits_.files)) {
    const File& oldest = files_.front();
    // Who has removed it before has made the room.
    if (unlinkat(directory_.get(), oldest.name.c_str(), 0) == 0) ++counted_.removed;
    counted_.bytes -= oldest.bytes;
    files_.pop_front();
  }
}

void PprofFiles::Publish() {
  const std::lock_guard lock(stats_mutex_);
  counted_.files = files_.size();
  stats_ = counted_;
}

}  // namespace offcpu
