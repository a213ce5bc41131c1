// The functions that frames of one Java virtual machine are in, each under a number that stays: what walks have met,
// and the names that were read for it since. A walk only notes where the function's name can be read; a reader thread
// reads it, mostly within milliseconds; the profile's frames refer to it by its number for as long as they like.
//
// A name counts only if what it was read from has not changed since the stack was captured. An interpreted function is
// known by its method's place, which may have another class's method once classes have changed (class_changes.h). So
// that version is a part of what tells one from another, and if it is another one before the name could be read, there
// is no name.
// A compiled one is known by its blob, which must be the same before and after the reading.
//
// Thread-safe.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_JAVA_FUNCTIONS_H_
#define OFFCPU_RUNTIMES_HOTSPOT_JAVA_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "process/memory_budget.h"
#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/methods.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kMaxJavaFunctions = 1 << 17;        // of one virtual machine
inline constexpr size_t kMaxJavaFunctionsAtOnce = 1 << 12;  // whose names one call of Read reads
inline constexpr std::string_view kJavaUnloaded = "[java: unloaded]";
inline constexpr std::string_view kJavaNoRoom = "[java: no room for the name]";

class JavaFunctions final : public RuntimeCode {
 public:
  // `room`: for all that it keeps.
  explicit JavaFunctions(MemoryLease room = {}) : RuntimeCode(CodeKind::kRuntime, "[jvm]") { memory = std::move(room); }

  // The numbers of functions: kNoRoom stands for all those beyond the limit. `version`: that of the
  // classes when the stack was captured; nothing: it is not known.
  static constexpr uint64_t kNoRoom = 0;
  static constexpr uint64_t kUnloaded = 1;  // those that may be others by the time their names could be read
  uint64_t Interpreted(uint64_t method, uint64_t bcp, std::optional<uint64_t> version);
  uint64_t Compiled(const Blob& blob, uint64_t returns_to, std::optional<uint64_t> version);  // see Methods
  uint64_t Stub(const Blob& blob, bool is_call_stub);

  // Reads the names of what walks have met since the last call: so many, and as many as there are reads for
  // (paged_memory.h). The next call goes on from there. `version`: that of the classes now.
  void Read(const HotSpotLayout& layout, const Memory& target, absl::FunctionRef<std::optional<uint64_t>()> version);
  bool HasUnread() const;
  // All that walks meet from now on is kNoRoom.
  bool is_full() const;

  std::string_view language() const override { return "jvm"; }
  std::vector<CodeLine> LinesAt(uint64_t number) const override;

 private:
  enum class Kind : uint8_t { kInterpreted, kCompiled, kStub };
  struct Key {
    Kind kind = Kind::kStub;
    uint64_t code = 0;     // Method*, or the blob
    uint64_t place = 0;    // bcp, or what a call returns to
    uint64_t version = 0;  // of the classes, or the blob's compile_id

    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.kind, key.code, key.place, key.version);
    }
  };
  struct Function {
    Key key;
    Blob blob;             // of compiled ones
    uint64_t version = 0;  // when it was met, as long as it is not read
    std::vector<CodeLine> lines;
    bool is_read = false;
    bool is_wanted = false;  // in `wanted_`
  };
  // What a reading needs to know of one.
  struct Wanted {
    uint64_t number = 0;
    Key key;
    Blob blob;
  };
  // A table of hashes has room for up to twice what is in it.
  static constexpr size_t kBytesEach = sizeof(Function) + 2 * sizeof(std::pair<Key, uint64_t>) + sizeof(uint64_t);

  // Nothing: it is not known yet, or another function has its key now.
  std::optional<uint64_t> FindNumber(const Key& key, std::optional<uint64_t> version, std::string_view name);
  // `name`: of what is known already.
  uint64_t Intern(const Key& key, const Blob* blob, std::optional<uint64_t> version, std::string_view name);
  void Want(uint64_t number);
  std::vector<Wanted> TakeWanted();
  // Reads the front of `wanted`, as far as one call reads. What is not there any more has no lines.
  static std::vector<std::vector<CodeLine>> LinesOf(std::span<const Wanted> wanted, const HotSpotLayout& layout,
                                                    const Memory& target);
  static std::vector<CodeLine> LinesOf(const Wanted& wanted, const Methods& methods, const CodeCache& cache);
  // `version`: nothing if classes have changed while it was read.
  void Keep(uint64_t number, std::vector<CodeLine>&& lines, std::optional<uint64_t> version);
  void Name(Function& function, std::vector<CodeLine>&& lines);

  mutable std::mutex mutex_;  // guards what follows, and `memory`
  absl::flat_hash_map<Key, uint64_t> numbers_;
  std::deque<Function> functions_ = std::deque<Function>(2);  // by number, from kUnloaded on
  std::vector<uint64_t> wanted_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_JAVA_FUNCTIONS_H_
