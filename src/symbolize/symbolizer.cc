#include "symbolize/symbolizer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "process/proc_file.h"
#include "symbolize/demangle.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/module_symbols.h"
#include "symbolize/name_pool.h"

namespace offcpu {
namespace {

constexpr size_t kMaxNameBytes = 256u << 20;  // of one profile
constexpr size_t kMaxModulesBytes = 1u << 20;

using FrameNames = absl::flat_hash_map<uint64_t, SymbolizedFrame>;  // by lookup address

std::string HexAddress(std::string_view prefix, uint64_t address) {
  return absl::StrCat(std::string(prefix), "0x", absl::Hex(address));
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// All addresses of one module are looked up together, so that only one symbol table is held at a time.
absl::flat_hash_map<const Module*, FrameNames> CollectAddresses(const Profile& profile) {
  absl::flat_hash_map<const Module*, FrameNames> modules;
  for (const UserStackEntry& entry : profile.user_stacks) {
    for (const Frame& frame : entry.stack.frames) modules[frame.module].try_emplace(frame.lookup_address());
  }
  return modules;
}

// Whose tables are read only for what is not cached.
class Namer {
 public:
  Namer(const Profile& profile, const SymbolizerOptions& options, NameCache* cache, NamePool& pool)
      : profile_(profile), options_(options), cache_(cache), pool_(pool) {
    for (const std::shared_ptr<const Module>& module : profile.modules) owners_.try_emplace(module.get(), &module);
  }

  void NameUserStacks(SymbolizedProfile& symbolized);
  void NameKernelStacks(SymbolizedProfile& symbolized);

 private:
  void NameFrames(const Module& module, FrameNames& frames);
  void NameAnonymous(FrameNames& frames);
  CachedName Name(const Module& module, const std::string& prefix, uint64_t address,
                  std::optional<SymbolTable>& symbols);
  std::string KernelName(uint64_t address, std::optional<SymbolTable>& symbols);

  const Profile& profile_;
  const SymbolizerOptions& options_;
  NameCache* const cache_;
  NamePool& pool_;
  absl::flat_hash_map<const Module*, const std::shared_ptr<const Module>*> owners_;
};

CachedName Namer::Name(const Module& module, const std::string& prefix, uint64_t address,
                       std::optional<SymbolTable>& symbols) {
  const CachedName* cached = cache_ != nullptr ? cache_->Find(module, address) : nullptr;
  if (cached != nullptr) return *cached;
  if (!symbols.has_value()) symbols = ReadModuleSymbols(module, options_.debug_directory);
  const auto symbol = symbols->Find(address);
  CachedName name = {.name = symbol ? Demangle(*symbol) : HexAddress(prefix, address), .named = symbol.has_value()};
  const auto owner = owners_.find(&module);
  if (cache_ != nullptr && owner != owners_.end()) cache_->Add(*owner->second, address, name);
  return name;
}

void Namer::NameFrames(const Module& module, FrameNames& frames) {
  std::string_view file = FileName(module.path);
  file = pool_.Intern(file, file);
  // Of compiled code the file that names it says nothing about an address that it does not name.
  const std::string prefix = module.is_perf_map ? "[unknown] " : absl::StrCat(std::string(file), "+");
  const std::string_view other = module.is_perf_map ? "[unknown]" : file;
  std::optional<SymbolTable> symbols;
  for (auto& [address, frame] : frames) {
    const CachedName name = Name(module, prefix, address, symbols);
    frame.module = file;
    frame.named = name.named;
    frame.name = pool_.Intern(name.name, other);
  }
}

void Namer::NameAnonymous(FrameNames& frames) {
  for (auto& [address, frame] : frames) frame.name = pool_.Intern(HexAddress("[unknown] ", address), "[unknown]");
}

void Namer::NameUserStacks(SymbolizedProfile& symbolized) {
  auto modules = CollectAddresses(profile_);
  for (auto& [module, frames] : modules) {
    if (module == nullptr) {
      NameAnonymous(frames);
    } else {
      NameFrames(*module, frames);
    }
  }
  for (const UserStackEntry& entry : profile_.user_stacks) {
    std::vector<SymbolizedFrame>& frames = symbolized.user_stacks.emplace_back();
    frames.reserve(entry.stack.frames.size());
    for (const Frame& frame : entry.stack.frames) frames.push_back(modules[frame.module][frame.lookup_address()]);
  }
}

std::string Namer::KernelName(uint64_t address, std::optional<SymbolTable>& symbols) {
  const std::string* cached = cache_ != nullptr ? cache_->FindKernel(address) : nullptr;
  if (cached != nullptr) return *cached;
  if (!symbols.has_value()) {
    auto kallsyms = ReadProcFile(options_.kallsyms_path, kMaxKallsymsBytes);
    symbols = kallsyms.ok() ? ParseKallsyms(std::move(*kallsyms)) : SymbolTable();
  }
  // A thread leaves the CPU inside a call, so every address is one to return to: see Frame::lookup_address.
  const auto symbol = symbols->Find(address - 1);
  std::string name = symbol ? std::string(*symbol) : HexAddress("[kernel] ", address);
  if (cache_ != nullptr && symbol) cache_->AddKernel(address, name);
  return name;
}

void Namer::NameKernelStacks(SymbolizedProfile& symbolized) {
  std::optional<SymbolTable> symbols;
  absl::flat_hash_map<uint64_t, std::string_view> names;
  for (const KernelStack& stack : profile_.kernel_stacks) {
    std::vector<std::string_view>& frames = symbolized.kernel_stacks.emplace_back();
    frames.reserve(stack.addresses.size());
    for (uint64_t address : stack.addresses) {
      auto [it, inserted] = names.try_emplace(address);
      if (inserted) it->second = pool_.Intern(KernelName(address, symbols), "[kernel]");
      frames.push_back(it->second);
    }
  }
}

}  // namespace

SymbolizedProfile Symbolize(const Profile& profile, const SymbolizerOptions& options, NameCache* cache) {
  SymbolizedProfile symbolized;
  if (cache != nullptr) cache->Begin(ReadProcFile(options.modules_path, kMaxModulesBytes).value_or(""));
  NamePool pool(*symbolized.names, kMaxNameBytes);
  Namer namer(profile, options, cache, pool);
  namer.NameUserStacks(symbolized);
  namer.NameKernelStacks(symbolized);
  return symbolized;
}

}  // namespace offcpu
