// What frames are in: an ELF object, or code that is none. A plain value that never changes once it is shared; safe to
// read from any thread. Profiles keep those alive that their frames name.
//
// Names come from `file`, which is held open and is read later, after the target may be gone.
#ifndef OFFCPU_PROCESS_CODE_OBJECT_H_
#define OFFCPU_PROCESS_CODE_OBJECT_H_

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "os/file_identity.h"
#include "os/owned_fd.h"
#include "process/memory_budget.h"

namespace offcpu {

enum class CodeKind : uint8_t {
  kElf,        // an ELF object, which is a Module (module.h)
  kOtherFile,  // a file of another form, which says nothing of its frames: only the path is known
  kPerfMap,    // what a process has made itself; `file` is the perf map that names it
  kRuntime,    // functions of a language runtime, which is a RuntimeCode (runtimes/runtime.h)
};

// Is that the name of a perf map: "perf-1234.map", in any directory?
inline bool IsPerfMapPath(std::string_view path) {
  constexpr std::string_view kBegin = "perf-";
  constexpr std::string_view kEnd = ".map";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) return false;
  const std::string_view pid = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return pid.find_first_not_of("0123456789") == std::string_view::npos;
}

// Is that what stands for a path where functions are in no file, but known to a runtime: "[jvm]"?
inline bool IsRuntimePath(std::string_view path) { return path == "[jvm]"; }

class CodeObject : public std::enable_shared_from_this<CodeObject> {
 public:
  // kElf is that of a Module only, which AsModule relies on.
  explicit CodeObject(CodeKind kind, std::string code_path = {}) : path(std::move(code_path)), kind_(kind) {
    assert(kind != CodeKind::kElf);
  }

  CodeKind kind() const { return kind_; }

  std::string path;           // as the first target's maps named it, without " (deleted)"; "[vdso]" for the vDSO
  std::string build_id;       // lower-case hex, empty if none. A label: not proof of the content
  std::string file_hash;      // see file_hash.h; empty if there is no file
  uint64_t content_hash = 0;  // of every byte that was read of it
  FileIdentity identity;      // of `file`
  OwnedFd file;               // the regular file behind it, if it could be opened; read-only, not blocking
  // The perf map of the process that this one was forked from, for code that its own perf map does not name; null:
  // none.
  std::shared_ptr<const CodeObject> before_fork;
  MemoryLease memory;  // for what is held of it, in the name of the user who pays: the owner of the file

 protected:
  CodeObject() = default;  // of an ELF object

 private:
  CodeKind kind_ = CodeKind::kElf;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CODE_OBJECT_H_
