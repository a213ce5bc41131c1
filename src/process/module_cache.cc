#include "process/module_cache.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace offcpu {
namespace {

size_t TableBytes(const Module& m) {
  return m.eh_frame_hdr.bytes.size() + m.eh_frame.bytes.size() + m.sframe.bytes.size() + m.debug_frame.bytes.size() +
         m.go_without_frames.size() * sizeof(CodeRange);
}

bool SameTable(const ModuleTable& a, const ModuleTable& b) { return a.address == b.address && a.bytes == b.bytes; }

// The hash only says where to look: whoever forges one must not get its tables into other processes.
bool SameContent(const Module& a, const Module& b) {
  auto same_range = [](const CodeRange& x, const CodeRange& y) { return x.begin == y.begin && x.end == y.end; };
  return a.content_hash == b.content_hash && a.build_id == b.build_id && a.entry == b.entry && a.is_go == b.is_go &&
         std::equal(a.code.begin(), a.code.end(), b.code.begin(), b.code.end(), same_range) &&
         std::equal(a.go_without_frames.begin(), a.go_without_frames.end(), b.go_without_frames.begin(),
                    b.go_without_frames.end(), same_range) &&
         SameTable(a.eh_frame_hdr, b.eh_frame_hdr) && SameTable(a.eh_frame, b.eh_frame) &&
         SameTable(a.sframe, b.sframe) && SameTable(a.debug_frame, b.debug_frame) &&
         a.damaged_eh_frame == b.damaged_eh_frame && a.damaged_sframe == b.damaged_sframe;
}

uint64_t HashContent(const Module& m) {
  auto bytes = [](const ModuleTable& t) {
    return std::string_view(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
  };
  uint64_t hash = absl::HashOf(m.build_id, m.entry, m.eh_frame_hdr.address, bytes(m.eh_frame_hdr), m.eh_frame.address,
                               bytes(m.eh_frame), m.sframe.address, bytes(m.sframe), bytes(m.debug_frame));
  for (const CodeRange& range : m.code) hash = absl::HashOf(hash, range.begin, range.end);
  return hash;
}

std::shared_ptr<const Module> PathOnly(std::string path) {
  auto module = std::make_shared<Module>();
  module->path = std::move(path);
  return module;
}

}  // namespace

struct ModuleCache::State {
  struct Entry {
    const Module* module = nullptr;
    std::weak_ptr<const Module> alive;
  };

  explicit State(ModuleCacheLimits l) : limits(l) {}

  // Every module touched goes to `held`: should it be the last reference, its deleter takes the mutex.
  std::shared_ptr<const Module> FindLocked(const Module& module, std::vector<std::shared_ptr<const Module>>* held) {
    auto it = by_hash.find(module.content_hash);
    if (it == by_hash.end()) return nullptr;
    for (const Entry& entry : it->second) {
      std::shared_ptr<const Module> candidate = entry.alive.lock();
      if (candidate == nullptr) continue;
      held->push_back(candidate);
      if (SameContent(*candidate, module)) return candidate;
    }
    return nullptr;
  }

  bool FitsLocked(const Module& module) const {
    return stats.modules < limits.modules && TableBytes(module) <= limits.table_bytes - stats.table_bytes;
  }

  void Remove(const Module* module) {
    std::lock_guard lock(mutex);
    --stats.modules;
    stats.table_bytes -= TableBytes(*module);
    if (module->file) --stats.files;
    auto it = by_hash.find(module->content_hash);
    if (it == by_hash.end()) return;
    std::erase_if(it->second, [module](const Entry& entry) { return entry.module == module; });
    if (it->second.empty()) by_hash.erase(it);
  }

  const ModuleCacheLimits limits;
  std::mutex mutex;  // guards what follows
  absl::flat_hash_map<uint64_t, std::vector<Entry>> by_hash;
  ModuleCacheStats stats;
};

ModuleCache::ModuleCache(ModuleCacheLimits limits) : state_(std::make_shared<State>(limits)) {}

std::shared_ptr<const Module> ModuleCache::Intern(Module module) {
  module.content_hash = HashContent(module);
  std::vector<std::shared_ptr<const Module>> held;
  std::lock_guard lock(state_->mutex);
  ModuleCacheStats& stats = state_->stats;
  if (std::shared_ptr<const Module> found = state_->FindLocked(module, &held); found != nullptr) {
    ++stats.shared;
    return found;
  }
  if (!state_->FitsLocked(module)) {
    ++stats.over_limit;
    return PathOnly(std::move(module.path));
  }
  if (module.file && stats.files >= state_->limits.files) {
    ++stats.over_file_limit;
    module.file.reset();
  }
  if (module.damaged_eh_frame || module.damaged_sframe) ++stats.unreadable;
  ++stats.modules;
  stats.table_bytes += TableBytes(module);
  if (module.file) ++stats.files;
  std::shared_ptr<const Module> result(new Module(std::move(module)), [state = state_](const Module* m) {
    state->Remove(m);
    delete m;
  });
  state_->by_hash[result->content_hash].push_back({result.get(), result});
  return result;
}

std::shared_ptr<const Module> ModuleCache::Unreadable(std::string path) {
  {
    std::lock_guard lock(state_->mutex);
    ++state_->stats.unreadable;
  }
  return PathOnly(std::move(path));
}

bool ModuleCache::WantsFile() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats.files < state_->limits.files;
}

ModuleCacheStats ModuleCache::stats() const {
  std::lock_guard lock(state_->mutex);
  return state_->stats;
}

}  // namespace offcpu
