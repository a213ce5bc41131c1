// What offcpu keeps of one ELF object that a target has mapped. Read once from the target's own memory, checked, never
// changed, and shared by every process that maps the same file under the same path; safe to read from any thread.
//
// Names come from that very file, which is held open: symbols are not mapped and are read later, after the target may
// be gone. Tables say the same in whatever file they are, so modules of equal content share them.
#ifndef OFFCPU_PROCESS_MODULE_H_
#define OFFCPU_PROCESS_MODULE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "process/machine.h"
#include "process/memory_budget.h"
#include "process/owned_fd.h"

namespace offcpu {

// A table of the object, with the link-time address of its first byte. Empty if the object has none.
struct ModuleTable {
  uint64_t address = 0;
  std::vector<std::byte> bytes;

  bool operator==(const ModuleTable&) const = default;
};

// Link-time addresses [begin, end) of a PT_LOAD that may be executed.
struct CodeRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  bool operator==(const CodeRange&) const = default;
};

// A function of Go's runtime at which stacks begin or change.
struct GoLandmark {
  enum class Kind : uint8_t {
    kBase,          // nobody calls it
    kBaseOfCallee,  // what it has called is the only thing on the stack: a thread begins there, or has left its
                    // caller's stack for good
    kWithoutFrame,  // its return address is at the stack pointer, whatever it has called
    kSwitch,        // what it has called runs on another stack than its caller
  };
  CodeRange code;
  Kind kind = Kind::kBase;

  bool operator==(const GoLandmark&) const = default;
};

// Which file it is, as fstat tells of an open one. As long as it is held open no other file can have that device and
// inode, whatever is unmounted meanwhile; the time tells that it was written to.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  uint64_t changed_ns = 0;
  // On overlay file systems and btrfs the kernel itself knows the file by another device, and on the former perhaps by
  // an inode number without the upper bits.
  bool is_layered = false;

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity IdentityOf(const OwnedFd& file);  // of none: all zero
// Has the file of that identity not been written to since, as far as this host knows? Asks no server.
bool IsUnchanged(const OwnedFd& file, const FileIdentity& identity);

class Module : public std::enable_shared_from_this<Module> {
 public:
  std::string path;           // as the first target's maps named it, without " (deleted)"; "[vdso]" for the vDSO
  std::string build_id;       // lower-case hex, empty if none. A label: not proof of the content
  uint64_t content_hash = 0;  // of every byte that was read from the target
  const Machine* machine = &kX86_64;  // whose code it is
  std::vector<CodeRange> code;
  // Where a program or a dynamic linker begins, a link-time address; 0 in other libraries, where it has no meaning.
  uint64_t entry = 0;
  ModuleTable eh_frame_hdr;  // PT_GNU_EH_FRAME
  ModuleTable eh_frame;      // through its zero terminator or the end of its segment
  ModuleTable sframe;        // PT_GNU_SFRAME, else the section of that name; as found, not parsed here
  ModuleTable debug_frame;   // the section of that name of the file, which is not mapped; uncompressed
  ModuleTable text;          // .text, if hardly any table describes it: see return_path.h
  // By Go's linker. Go's code always keeps a frame pointer, and what its .debug_frame says of callers leaves out that
  // functions of the runtime change to another stack: the words there are no return addresses.
  bool is_go = false;
  // Where the return address is at the stack pointer, though no table says so: see go_frames.h, system_call_returns.h.
  std::vector<CodeRange> without_frames;
  std::vector<GoLandmark> go_landmarks;  // see go_frames.h
  // The program headers name a table that could not be read. One says nothing about the other.
  bool damaged_eh_frame = false;
  bool damaged_sframe = false;
  // There was no room for a table, which is then named as damaged: another reading may bring it.
  bool over_budget = false;
  bool is_other_format = false;  // no ELF object: code that says nothing of its frames; only the path is known
  bool is_perf_map = false;      // stands for code that the process has made; `file` names it, see perf_map.h
  bool matches_file = false;     // the process has not changed its copies of the tables: they are the file's
  FileIdentity identity;         // of `file`
  OwnedFd file;                  // the regular file behind the mapping, if it could be opened; read-only, not blocking
  MemoryLease memory;            // for the tables, in the name of the user who pays for them: the owner of the file
  // Has the tables of this one, which are empty here: it was read first, from another file with the same content.
  std::shared_ptr<const Module> same_tables;

  const Module& tables() const { return same_tables != nullptr ? *same_tables : *this; }
};

inline constexpr ModuleTable Module::*kAllModuleTables[] = {&Module::eh_frame_hdr, &Module::eh_frame, &Module::sframe,
                                                            &Module::debug_frame, &Module::text};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_H_
