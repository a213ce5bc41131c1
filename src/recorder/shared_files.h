// Code of files that some process has been seen to map. So a process which ends before anybody can look at it may still
// have its stack walked, and one that lives need not have the same tables read again: most programs are made of files
// that are known already. Safe from any thread.
//
// Files are distinguished as the kernel does, by device, inode, generation and time of change. That can be trusted
// because the modules that are learned hold their files open: neither inode nor device is another one's as long as they
// do, even where there are no generations and all times are the same (images of squashfs, erofs). Only modules whose
// tables are the file's own are learned, and only from mappings of that file: a process can write to its copy, or
// exchange its mappings while it is looked at, and must not lead the walks of others astray. Where it has written to
// its copy, it is walked by the file's tables all the same. The vDSO is known as well: the kernel has it, not a file.
#ifndef OFFCPU_RECORDER_SHARED_FILES_H_
#define OFFCPU_RECORDER_SHARED_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "process/address_space.h"
#include "recorder/target.h"

namespace offcpu {

inline constexpr size_t kMaxSharedPieces = 1 << 14;

// The code at a list of mappings, put together of what was seen before.
struct ComposedCode {
  std::vector<MappedCode> code;
  bool whole = false;  // false: there is more, of which nothing is known, or a full list may go on
};

class SharedFiles {
 public:
  explicit SharedFiles(size_t max_pieces) : max_pieces_(max_pieces) {}

  // `piece` is what a snapshot found at `mapping`.
  void Learn(const CodeMapping& mapping, const MappedCode& piece);
  // Learns this process's own vDSO, about which no other process can lie.
  void LearnVdso(const CodeMapping& mapping, const MappedCode& piece);
  // The code at `mapping`, in whatever process and wherever it is mapped there.
  std::optional<MappedCode> Find(const CodeMapping& mapping) const;
  // Composes the code at `mappings`, all that the kernel lists of a process. What has been seen in the process itself
  // (which may be null) goes first.
  ComposedCode Compose(const std::vector<CodeMapping>& mappings, const Target* process) const;

  size_t pieces() const;

 private:
  using Key = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>;  // offset, inode, device, time of change
  struct Piece {
    MappedCode code;            // as it was mapped where it was learned
    uint64_t link_address = 0;  // of the mapping's first byte
  };
  static Key KeyOf(const CodeMapping& mapping);
  void Keep(const CodeMapping& mapping, const MappedCode& piece);

  const size_t max_pieces_;  // all are forgotten when there are more
  mutable std::mutex mutex_;
  absl::flat_hash_map<Key, Piece> pieces_;  // guarded by mutex_
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_SHARED_FILES_H_
