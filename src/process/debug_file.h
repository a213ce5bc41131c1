// The separate debug file of an ELF object where the process that maps it has it: below the process's own root, which
// in a container is not the host's, and beside the object. It is opened when the object is read, because the process
// may be gone when names are looked up. Opening touches the target's file system, which may block: it belongs on a
// reader thread. What the host has is looked for with the names (symbolize/debug_files.h).
#ifndef OFFCPU_PROCESS_DEBUG_FILE_H_
#define OFFCPU_PROCESS_DEBUG_FILE_H_

#include <sys/types.h>

#include "os/credentials.h"
#include "process/elf/file.h"
#include "process/module.h"
#include "process/trusted_file.h"

namespace offcpu {

// Looks in the root of the process that `pid` is a thread of, and that `who` is, for the first of
//   /usr/lib/debug/.build-id/xx/yyy.debug, DIRECTORY/LINK, DIRECTORY/.debug/LINK, /usr/lib/debug/DIRECTORY/LINK
// where DIRECTORY is that of `object`, and LINK the name in .gnu_debuglink of `elf`, its file. The debug file must have
// a symbol table, the build id unless there is none, and must be as trusted_file.h demands. Moreover it must belong to
// root or to the owner of the object: other processes that map the object get their names from it, too. Without a build
// id the CRC of the link has yet to be compared. No file, and no refusal, if `elf` has all symbols itself.
TrustedFile OpenDebugFileOfTarget(pid_t pid, const Credentials& who, const Module& object, const ElfFile& elf);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_DEBUG_FILE_H_
