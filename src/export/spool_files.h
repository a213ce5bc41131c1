// Whole files in a directory that is held open. Names are those of entries, never paths; symbolic links among them are
// not followed, and what is not a regular file is not opened. Needs a file system with flock. Any thread.
//
// Knows nothing of what the files hold.
#ifndef OFFCPU_EXPORT_SPOOL_FILES_H_
#define OFFCPU_EXPORT_SPOOL_FILES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "os/owned_fd.h"

namespace offcpu {

struct LockedDirectory {
  OwnedFd fd;
  OwnedFd lock;  // held as long as it lives
};

// Makes the directory if it is not there (not those above it), and opens it for this holder alone: FailedPrecondition
// while another one has it, in this process or another. The lock is on a file in it that no other user may open: anyone
// who can read a directory can lock the directory itself.
absl::StatusOr<LockedDirectory> OpenDirectoryAlone(const std::string& path, mode_t mode);
inline constexpr char kLockFile[] = ".offcpud.lock";

// What the name of a file that is not complete yet ends with.
inline constexpr char kTemporarySuffix[] = ".tmp";

// The file `name` is there with all of the pieces, on the disk and not only in memory, when this returns Ok; or as it
// was. A process that is killed on the way leaves at most NAME.tmp.
absl::Status WriteWholeFile(const OwnedFd& directory, const std::string& name,
                            std::initializer_list<std::string_view> pieces, mode_t mode);

// The same, but AlreadyExists if something has the name.
absl::Status WriteNewFile(const OwnedFd& directory, const std::string& name,
                          std::initializer_list<std::string_view> pieces, mode_t mode);

// For a disk that has no room for another file: other bytes of the same number for one that is there.
absl::Status OverwriteFile(const OwnedFd& directory, const std::string& name, std::string_view bytes);

enum class FileRead {
  kRead,
  kGone,
  kNotRegular,
  kTooLarge,
  kUnreadable,  // the disk failed
  kTryLater,    // no descriptors, no memory, no permission: says nothing about the file
};

struct FileStart {
  FileRead outcome = FileRead::kRead;
  std::string bytes;
  uint64_t file_bytes = 0;
};

// At most the first `bytes` of it.
FileStart ReadFileStart(const OwnedFd& directory, const std::string& name, size_t bytes);
// All of it, if that is not more than `max_bytes`.
FileStart ReadWholeFile(const OwnedFd& directory, const std::string& name, size_t max_bytes);

// `see` gets every name but "." and "..", in no order.
absl::Status ListDirectory(const OwnedFd& directory, absl::FunctionRef<void(const char*)> see);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_FILES_H_
