// The executable mappings of a process at one moment, each with its module. An AddressSpace never changes and may be
// read from any thread. Loading one reads the target's memory and files, which may block for ever: it belongs on a
// reader thread (reader_threads.h).
//
// Does not notice that the process changes its mappings afterwards; SameCode tells two snapshots apart.
#ifndef OFFCPU_PROCESS_ADDRESS_SPACE_H_
#define OFFCPU_PROCESS_ADDRESS_SPACE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "process/code_reader.h"
#include "process/maps.h"
#include "process/memory.h"
#include "process/module.h"
#include "process/module_cache.h"

namespace offcpu {

inline constexpr size_t kMaxMapsBytes = 64 << 20;
inline constexpr size_t kMaxMappedCode = 8192;  // executable mappings of one process; those behind are left out

// An executable mapping [begin, end). What is known of code beyond its mapping and its ELF object a CodeReader adds.
struct MappedCode {
  uint64_t begin = 0;
  uint64_t end = 0;
  // Null: no ELF object. A module without `code` could not be read: it has only its path.
  std::shared_ptr<const Module> module;
  // Without a module: what else names the code. Null: nothing, of executable memory without a file (JIT code).
  std::shared_ptr<const CodeObject> other;
  // Address in the process minus the address in the code object: a link-time address, or an offset in the file if it is
  // no ELF object that could be read. 0 of memory without a file.
  uint64_t bias = 0;
  uint32_t dev_major = 0;
  uint32_t dev_minor = 0;
  uint64_t inode = 0;
  uint64_t offset = 0;     // in the file, of `begin`
  uint64_t head_hash = 0;  // of the object's headers, see elf/image.h
  // The code is nothing but copies of this function, one behind the other, from each multiple of kArenaBytes on; empty:
  // anything else.
  std::vector<std::byte> copied;

  static constexpr uint64_t kArenaBytes = 64 << 10;
  // Where an address, which is here, lies in its copy.
  size_t OffsetInCopy(uint64_t pc) const { return (pc - begin) % kArenaBytes % copied.size(); }

  const CodeObject* object() const { return module != nullptr ? module.get() : other.get(); }
  bool operator==(const MappedCode&) const = default;
};

class AddressSpace {
 public:
  // `code`: sorted by address, not overlapping. `memory`: what is held for it, if anything.
  explicit AddressSpace(std::vector<MappedCode> code, MemoryLease memory = {}, bool is_whole = true)
      : code_(std::move(code)), memory_(std::move(memory)), is_whole_(is_whole) {}

  // The mapping that contains `pc`, else null. Lives as long as this.
  const MappedCode* Find(uint64_t pc) const;
  bool SameCode(const AddressSpace& other) const { return code_ == other.code_; }

  const std::vector<MappedCode>& code() const { return code_; }

  // False: the process has more that may be executed. So an address that is not found here may be one of code.
  bool is_whole() const { return is_whole_; }

 private:
  std::vector<MappedCode> code_;
  MemoryLease memory_;
  bool is_whole_ = true;
};

// Reads the process; what `previous` (may be null) already knows is taken from there. An object that cannot be read is
// not an error: see MappedCode::module. NotFound if the process has no memory map (any more), ResourceExhausted if its
// user holds too much memory of ours already, Aborted if another file was mapped meanwhile where one was read.
absl::StatusOr<std::shared_ptr<const AddressSpace>> LoadAddressSpace(pid_t pid, const AddressSpace* previous,
                                                                     ModuleCache& modules,
                                                                     const CodeReader& reader = {});

// The same from its parts: `pid` is only used to open files, 0 opens none. `owner`: whose memory it is. Null if there
// is no room.
std::shared_ptr<const AddressSpace> BuildAddressSpace(const std::vector<Mapping>& mappings, const Memory& memory,
                                                      pid_t pid, const AddressSpace* previous, ModuleCache& modules,
                                                      uid_t owner = 0, const CodeReader& reader = {});

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ADDRESS_SPACE_H_
