// A file that a process should have written itself, below its own root, under a name that anybody can guess. Opening it
// touches the target's file system, which may block: it belongs on a reader thread. Does not read it.
//
// Anybody can write to /tmp, so that a file counts only if the process could have read it, and nobody else put it
// there: it is a regular file with this one name, of the process's own user or of root's, readable by the process and
// not writable by everybody, and neither it nor its directory is a symbolic link or, for the file, a mount. What it
// says is the process's word all the same.
#ifndef OFFCPU_PROCESS_TRUSTED_FILE_H_
#define OFFCPU_PROCESS_TRUSTED_FILE_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/credentials.h"
#include "os/owned_fd.h"

namespace offcpu {

// Why a file of that name is not taken.
enum class FileRefusal : uint8_t {
  kNone,
  kSymbolicLink,
  kNotRegular,    // a device, a fifo, a directory
  kMounted,       // over the name
  kSeveralNames,  // it may be anybody's: to make a hard link takes no right to read
  kOtherOwner,
  kNotReadable,  // by the process
  kWritable,     // by everybody
};
inline constexpr size_t kFileRefusals = 8;
using FileRefusals = std::array<uint64_t, kFileRefusals>;

std::string_view Name(FileRefusal refusal);  // "symbolic link", "several names", ...

struct TrustedFile {
  OwnedFd file;
  FileRefusal refusal = FileRefusal::kNone;  // kNone: there is no such file, or it is taken
};

// The file `name` in `directory`, which is in the root of the process that `pid` is a thread of; `who` is the process.
TrustedFile OpenTrustedFile(pid_t pid, const Credentials& who, const std::string& directory, const std::string& name);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_TRUSTED_FILE_H_
