#include "process/module_cache.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"

namespace offcpu {
namespace {

size_t TableBytes(const Module& m) {
  size_t bytes = (m.without_frames.size() + m.framed.size()) * sizeof(CodeRange);
  for (const auto table : kAllModuleTables) bytes += (m.*table).bytes.size();
  return bytes;
}

// The hash only says where to look: a process that forges one must not get its tables into others.
bool SameContent(const Module& a, const Module& b) {
  auto same_table = [&](ModuleTable Module::*table) { return a.*table == b.*table; };
  return a.content_hash == b.content_hash && a.build_id == b.build_id && a.entry == b.entry && a.code == b.code &&
         a.language == b.language && a.keeps_frame_pointer == b.keeps_frame_pointer &&
         a.without_frames == b.without_frames && a.framed == b.framed && a.landmarks == b.landmarks &&
         std::all_of(std::begin(kAllModuleTables), std::end(kAllModuleTables), same_table) &&
         a.damaged_eh_frame == b.damaged_eh_frame && a.damaged_sframe == b.damaged_sframe;
}

// Where processes have different debug files for a file, each has its own names.
bool SameFile(const Module& a, const Module& b) {
  return a.identity == b.identity && a.path == b.path && a.debug_identity == b.debug_identity &&
         a.names_left_out == b.names_left_out;
}

size_t FilesOf(const Module& m) { return (m.file ? 1 : 0) + (m.debug_file ? 1 : 0); }

// What `module` is without the tables that it shares.
void ShareTables(std::shared_ptr<const Module> owner, Module* module) {
  for (const auto table : kAllModuleTables) module->*table = ModuleTable();
  module->without_frames = std::vector<CodeRange>();
  module->framed = std::vector<CodeRange>();
  module->memory.Shrink(module->memory.bytes());
  module->same_tables = std::move(owner);
}

uint64_t HashContent(const Module& m) {
  uint64_t hash = absl::HashOf(m.build_id, m.entry);
  for (const auto table : kAllModuleTables) {
    const auto& [address, bytes] = m.*table;
    hash = absl::HashOf(hash, address, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
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

  // The module itself, else one that has its tables, else null. Every module touched goes to `held`: should it be the
  // last reference, its deleter takes the mutex.
  std::shared_ptr<const Module> FindLocked(const Module& module, std::vector<std::shared_ptr<const Module>>* held) {
    auto it = by_hash.find(module.content_hash);
    if (it == by_hash.end()) return nullptr;
    std::shared_ptr<const Module> with_tables;
    for (const Entry& entry : it->second) {
      std::shared_ptr<const Module> candidate = entry.alive.lock();
      if (candidate == nullptr) continue;
      held->push_back(candidate);
      // Tables are compared once; all that share them follow.
      const Module& tables = candidate->tables();
      const bool same = with_tables != nullptr ? &tables == with_tables.get() : SameContent(tables, module);
      if (!same) continue;
      if (SameFile(*candidate, module)) return candidate;
      with_tables = std::static_pointer_cast<const Module>(tables.shared_from_this());
    }
    return with_tables;
  }

  void Remove(const Module* module) {
    std::lock_guard lock(mutex);
    --stats.modules;
    stats.table_bytes -= TableBytes(*module);
    stats.files -= FilesOf(*module);
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

ModuleCache::ModuleCache(ModuleCacheLimits limits)
    : state_(std::make_shared<State>(limits)), budget_(std::make_shared<MemoryBudget>(limits.memory_bytes)) {}

std::shared_ptr<const Module> ModuleCache::Intern(Module module) {
  module.content_hash = HashContent(module);
  std::vector<std::shared_ptr<const Module>> held;
  std::lock_guard lock(state_->mutex);
  ModuleCacheStats& stats = state_->stats;
  std::shared_ptr<const Module> found = state_->FindLocked(module, &held);
  const size_t files = FilesOf(module);
  const bool is_new = found == nullptr || !SameFile(*found, module);
  if (files != 0 && is_new && stats.files + files > state_->limits.files) {
    ++stats.over_file_limit;
    module.file.reset();
    module.identity = FileIdentity();  // nothing keeps the inode from becoming another file's
    module.debug_file.reset();
    module.debug_identity = FileIdentity();
    found = state_->FindLocked(module, &held);
  }
  if (found != nullptr && SameFile(*found, module)) {
    ++stats.shared;
    return found;
  }
  if (found != nullptr) {
    ++stats.shared_tables;
    ShareTables(std::move(found), &module);
  }
  if (stats.modules >= state_->limits.modules) {
    ++stats.over_limit;
    return PathOnly(std::move(module.path));
  }
  if (module.too_large) ++stats.too_large;
  if ((module.damaged_eh_frame || module.damaged_sframe) && !module.over_budget && !module.too_large)
    ++stats.unreadable;
  ++stats.modules;
  stats.table_bytes += TableBytes(module);
  stats.files += FilesOf(module);
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

void ModuleCache::CountRefused(FileRefusal refusal) {
  std::lock_guard lock(state_->mutex);
  ++state_->stats.files_refused[static_cast<size_t>(refusal)];
}

void ModuleCache::CountUnknownRuntime() {
  std::lock_guard lock(state_->mutex);
  ++state_->stats.unknown_runtimes;
}

void ModuleCache::CountLeftOut(size_t mappings) {
  std::lock_guard lock(state_->mutex);
  state_->stats.mappings_left_out += mappings;
}

ModuleCacheStats ModuleCache::stats() const {
  std::lock_guard lock(state_->mutex);
  ModuleCacheStats stats = state_->stats;
  stats.memory_refused = budget_->stats().refused;
  return stats;
}

}  // namespace offcpu
