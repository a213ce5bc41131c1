// Finds the separate debug file of an ELF file below a debug directory. What a name leads to is opened only if it is a
// regular file, without blocking, and counts only if it proves to belong to the module. The path is the target's word
// and a build id is no proof, so it must also be a file that anybody may read anyway, and that root or the service's
// own user has put there; the same goes for a symbolic link as its name. Safe from any thread.
#ifndef OFFCPU_SYMBOLIZE_DEBUG_FILES_H_
#define OFFCPU_SYMBOLIZE_DEBUG_FILES_H_

#include <string>

#include "os/owned_fd.h"
#include "process/elf/file.h"

namespace offcpu {

// The file of that name, which must carry that build id. Empty if there is none.
OwnedFd OpenDebugFileAt(const std::string& path, const std::string& build_id);

// By build id: DIRECTORY/.build-id/xx/yyy.debug, which must carry that build id. Empty if there is none.
OwnedFd OpenDebugFileByBuildId(const std::string& directory, const std::string& build_id);

// By the .gnu_debuglink of `elf`: DIRECTORY/<directory of `path`>/<name in the link>, whose CRC must be the link's, and
// whose build id must be `build_id` unless that is empty. Empty if there is none.
OwnedFd OpenDebugFileByLink(const std::string& directory, const std::string& path, const ElfFile& elf,
                            const std::string& build_id);

// Is it an ELF file with that build id?
bool HasBuildId(const OwnedFd& fd, const std::string& build_id);

// Has the file the CRC in the .gnu_debuglink of `elf`? Reads all of it.
bool HasCrcOfLink(const OwnedFd& fd, const ElfFile& elf);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_DEBUG_FILES_H_
