// Names that symbol tables have given to addresses, for callers that symbolize one profile after another: most
// addresses of the next one are those of the last. Bounded in bytes. One thread at a time.
#ifndef OFFCPU_SYMBOLIZE_NAME_CACHE_H_
#define OFFCPU_SYMBOLIZE_NAME_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "process/code_object.h"

namespace offcpu {

struct CachedName {
  std::string name;
  bool named = false;  // false: there is no symbol, and the name says where the address is
};

class NameCache {
 public:
  // `max_bytes`: of names, with what they cost beside their bytes. The cache is emptied when there are more.
  explicit NameCache(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Null: not known. Valid until the next Add or Begin.
  const CachedName* Find(const CodeObject& code, uint64_t address) const;
  const std::string* FindKernel(uint64_t address) const;

  // Not of perf maps, in which an address may have another name tomorrow.
  void Add(const std::shared_ptr<const CodeObject>& code, uint64_t address, const CachedName& name);
  void AddKernel(uint64_t address, const std::string& name);

  // Before a profile: forgets code that nobody holds any more, and the kernel's names if `kernel_modules`, what is
  // loaded into it, has changed.
  void Begin(const std::string& kernel_modules);

  size_t bytes() const { return bytes_; }

 private:
  struct CodeNames {
    std::weak_ptr<const CodeObject> code;
    absl::flat_hash_map<uint64_t, CachedName> names;
    size_t bytes = 0;
  };

  void Grow(size_t bytes);

  const size_t max_bytes_;
  size_t bytes_ = 0;
  absl::flat_hash_map<const CodeObject*, CodeNames> code_;
  absl::flat_hash_map<uint64_t, std::string> kernel_;
  size_t kernel_bytes_ = 0;
  std::string kernel_modules_;
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_NAME_CACHE_H_
