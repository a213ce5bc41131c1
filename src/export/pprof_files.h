// Windows as pprof files in a directory, for people and programs that collect files: offcpu-20261121T215500Z.pb.gz, by
// the UTC time at which the window began; a second one of that second is ...Z_002.pb.gz, so that names sort as windows
// came. The newest are kept, bounded in number and bytes.
//
// Only files with such names, and NAME.tmp that a kill left, are ever removed; none is replaced, and no symbolic link
// is followed. A file has its name when it is complete and on the disk. One process at a time. Any thread; one call at
// a time writes, stats() does not wait for it.
#ifndef OFFCPU_EXPORT_PPROF_FILES_H_
#define OFFCPU_EXPORT_PPROF_FILES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/spool_files.h"
#include "os/owned_fd.h"
#include "profile/named_profile.h"

namespace offcpu {

// "offcpu-20261121T215500Z.pb.gz" for the first window of a second, "..._002.pb.gz" for the second one.
std::string PprofFileName(uint64_t start_unix_ns, uint32_t nth);
// Which window of its second it is, from 1; 0: no such name.
uint32_t NthOfPprofFileName(std::string_view name);

struct PprofFilesLimits {
  size_t files = 1000;
  uint64_t bytes = 1ull << 30;
};

struct PprofFilesStats {
  size_t files = 0;  // that are there
  uint64_t bytes = 0;
  uint64_t written = 0;
  uint64_t removed = 0;  // to keep the limits
  uint64_t failed = 0;   // windows that could not be written
};

class PprofFiles {
 public:
  // Makes the directory, but not those above it. FailedPrecondition while it is another's.
  static absl::StatusOr<std::unique_ptr<PprofFiles>> Open(const std::string& directory, const PprofFilesLimits& limits);

  // The oldest go until it fits: those that were found by name, and then those that were written in the order of that,
  // whatever the clock has done meanwhile. ResourceExhausted, and nothing goes, where it is larger than all may be.
  absl::Status Write(const NamedProfile& profile);

  PprofFilesStats stats() const;

 private:
  struct File {
    std::string name;
    uint64_t bytes = 0;
  };

  PprofFiles(std::string path, LockedDirectory directory, const PprofFilesLimits& limits)
      : path_(std::move(path)),
        directory_(std::move(directory.fd)),
        lock_(std::move(directory.lock)),
        limits_(limits) {}

  absl::Status Find();
  absl::Status WriteLocked(uint64_t start_unix_ns, std::string_view bytes);
  uint32_t NextNth(uint64_t start_unix_ns) const;
  void MakeRoom(uint64_t bytes, size_t files);
  void Publish();

  const std::string path_;
  const OwnedFd directory_;
  const OwnedFd lock_;
  std::mutex mutex_;  // held while the disk is waited for
  const PprofFilesLimits limits_;
  std::deque<File> files_;  // oldest first
  PprofFilesStats counted_;

  mutable std::mutex stats_mutex_;
  PprofFilesStats stats_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_PPROF_FILES_H_
