// Names for the addresses of code objects, with what was inlined and places in the source if these are wanted. Tables
// are read only for what is not cached, on other threads if there are some to spare; each user's files have a share of
// the room for names. Kernel code and that of runtimes have their names elsewhere. One thread.
#ifndef OFFCPU_SYMBOLIZE_FRAME_NAMER_H_
#define OFFCPU_SYMBOLIZE_FRAME_NAMER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "os/owned_fd.h"
#include "process/code_object.h"
#include "process/memory_budget.h"
#include "process/module.h"
#include "profile/named_profile.h"
#include "symbolize/kernel_lines.h"
#include "symbolize/module_lines.h"
#include "symbolize/module_names.h"
#include "symbolize/name_pool.h"
#include "symbolize/symbolizer.h"

namespace offcpu {

inline constexpr size_t kMaxNameBytes = 32u << 20;                 // of one profile
inline constexpr std::string_view kLeftOut = "[frames left out]";  // where there is no room for the name

struct FrameName {
  std::span<const FrameLine> lines;
  std::string_view module;  // file name
  bool named = false;
};

using FrameNames = absl::flat_hash_map<uint64_t, FrameName>;  // by lookup address

class FrameNamer {
 public:
  // All must outlive this; the cache may be null.
  FrameNamer(const std::vector<std::shared_ptr<const CodeObject>>& objects, const SymbolizerOptions& options,
             NameCache* cache, NamePool& pool)
      : options_(options), cache_(cache), pool_(pool) {
    for (const std::shared_ptr<const CodeObject>& code : objects) owners_.try_emplace(code.get(), &code);
  }

  // All addresses of one code object together, so that its tables are read once.
  void Name(const CodeObject& code, FrameNames& frames);
  // Adds inlined functions and places to frames in the kernel's own code, which have their names.
  void AddKernelLines(const KernelCode& kernel, FrameNames& frames);
  // The lines with their texts in the pool, or one that says that there is no room: a frame may have many, and their
  // texts may all be the same.
  std::span<const FrameLine> KeepLines(uid_t owner, std::vector<FrameLine> lines);
  void CountNotRead() { ++not_read_; }
  std::vector<Loss> Losses() const;

 private:
  // What was found for one code object, by lookup address.
  struct Found {
    absl::flat_hash_map<uint64_t, std::string> names;
    absl::flat_hash_map<uint64_t, LineChain> lines;
    SourceLines source;  // that `lines` points into
  };

  struct Reading;

  // Reads the names of those addresses that are not cached. False: they could not be read in time.
  bool Read(const CodeObject& code, const FrameNames& frames, Found* found);
  void Take(std::span<const uint64_t> addresses, ModuleNames names, SourceLines lines, Found* found);
  bool IsRead(const CodeObject& code, const std::function<void()>& read);
  // Completes what was read by a file from elsewhere, if something lacks and there is such a file.
  void Fetch(Reading& reading);
  std::optional<OwnedFd> Fetched(const std::string& build_id, std::string_view name);
  void CountLost(const SourceLines& lines);
  // How long reading debug information may take now; 0: not at all.
  std::chrono::milliseconds TimeForLines() const;
  std::span<const FrameLine> Keep(uid_t owner, std::string_view name, std::string_view coarse);
  std::span<const FrameLine> KeepChain(uid_t owner, const LineChain& chain, std::string_view name);

  const SymbolizerOptions& options_;
  NameCache* const cache_;
  NamePool& pool_;
  absl::flat_hash_map<const CodeObject*, const std::shared_ptr<const CodeObject>*> owners_;
  const std::shared_ptr<MemoryBudget> room_ = std::make_shared<MemoryBudget>(kMaxNameBytes);
  absl::flat_hash_map<uid_t, MemoryLease> held_;
  absl::flat_hash_map<uid_t, int> late_;
  uint64_t not_read_ = 0;       // modules
  uint64_t unreadable_ = 0;     // likewise
  uint64_t lines_cut_ = 0;      // likewise
  uint64_t without_split_ = 0;  // likewise
  uint64_t not_fetched_ = 0;    // likewise
  uint64_t left_out_ = 0;       // names
  std::chrono::nanoseconds lines_time_{0};
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_FRAME_NAMER_H_
