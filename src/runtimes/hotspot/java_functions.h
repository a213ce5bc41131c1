// The functions that frames of one Java virtual machine are in, each under a number that stays: what walks have met,
// and the names that were read for it since. A walk only notes where the function's name can be read; a reader thread
// reads it, mostly within milliseconds; the profile's frames refer to it by its number for as long as they like.
//
// A name counts only as long as what it was read from is the same: if another class has come to be where a method was,
// stacks that walks made in between would be named wrongly, so the function loses its name.
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

  // The numbers of functions: kNoRoom stands for all those beyond the limit.
  static constexpr uint64_t kNoRoom = 0;
  uint64_t Interpreted(uint64_t method, uint64_t bcp);
  uint64_t Compiled(const Blob& blob, uint64_t pc, bool exact);
  uint64_t Stub(const Blob& blob, bool is_call_stub);

  // Reads the names of what walks have met since the last call, and checks that known names still hold: so many, and
  // as many as there are reads for (paged_memory.h). The next call goes on from there.
  void Read(const HotSpotLayout& layout, const Memory& target);
  bool HasUnread() const;

  std::string_view language() const override { return "jvm"; }
  std::vector<CodeLine> LinesAt(uint64_t number) const override;

 private:
  enum class Kind : uint8_t { kInterpreted, kCompiled, kStub };
  struct Key {
    Kind kind = Kind::kStub;
    bool exact = false;
    uint64_t code = 0;   // Method*, or the blob
    uint64_t place = 0;  // bcp, or pc
    int32_t compile_id = 0;

    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.kind, key.exact, key.code, key.place, key.compile_id);
    }
  };
  struct Function {
    Key key;
    Blob blob;              // of compiled ones
    MethodIdentity method;  // of interpreted ones, as the name was read
    std::vector<CodeLine> lines;
    bool is_read = false;
    bool is_wanted = false;  // in `wanted_`
  };
  // What a reading needs to know of one.
  struct Wanted {
    uint64_t number = 0;
    Key key;
    Blob blob;
    bool is_read = false;
  };
  struct Reading {
    std::vector<CodeLine> lines;  // none if the function was read before
    MethodIdentity method;
  };
  // A table of hashes has room for up to twice what is in it.
  static constexpr size_t kBytesEach = sizeof(Function) + 2 * sizeof(std::pair<Key, uint64_t>) + sizeof(uint64_t);

  uint64_t Intern(const Key& key, const Blob* blob, std::string_view name);
  void Want(uint64_t number);
  std::vector<Wanted> TakeWanted();
  static Reading Read(const Wanted& wanted, const Methods& methods, const CodeCache& cache);
  void Keep(uint64_t number, Reading&& reading);

  mutable std::mutex mutex_;  // guards what follows, and `memory`
  absl::flat_hash_map<Key, uint64_t> numbers_;
  std::deque<Function> functions_ = std::deque<Function>(1);  // by number; the first one is kNoRoom
  std::vector<uint64_t> wanted_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_JAVA_FUNCTIONS_H_
