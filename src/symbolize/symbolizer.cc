#include "symbolize/symbolizer.h"

#include <cstdint>
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

void NameFrames(const Module& module, const SymbolizerOptions& options, NamePool& pool, FrameNames& frames) {
  std::string_view file = FileName(module.path);
  file = pool.Intern(file, file);
  // Of compiled code the file that names it says nothing about an address that it does not name.
  const std::string prefix = module.is_perf_map ? "[unknown] " : absl::StrCat(std::string(file), "+");
  const std::string_view other = module.is_perf_map ? "[unknown]" : file;
  SymbolTable symbols = ReadModuleSymbols(module, options.debug_directory);
  for (auto& [address, frame] : frames) {
    auto symbol = symbols.Find(address);
    frame.module = file;
    frame.named = symbol.has_value();
    frame.name = pool.Intern(symbol ? Demangle(*symbol) : HexAddress(prefix, address), other);
  }
}

void NameAnonymous(NamePool& pool, FrameNames& frames) {
  for (auto& [address, frame] : frames) frame.name = pool.Intern(HexAddress("[unknown] ", address), "[unknown]");
}

void NameUserStacks(const Profile& profile, const SymbolizerOptions& options, NamePool& pool,
                    SymbolizedProfile& symbolized) {
  auto modules = CollectAddresses(profile);
  for (auto& [module, frames] : modules) {
    if (module == nullptr) {
      NameAnonymous(pool, frames);
    } else {
      NameFrames(*module, options, pool, frames);
    }
  }
  for (const UserStackEntry& entry : profile.user_stacks) {
    std::vector<SymbolizedFrame>& frames = symbolized.user_stacks.emplace_back();
    frames.reserve(entry.stack.frames.size());
    for (const Frame& frame : entry.stack.frames) frames.push_back(modules[frame.module][frame.lookup_address()]);
  }
}

std::string_view KernelName(uint64_t address, const SymbolTable& symbols, NamePool& pool) {
  // A thread leaves the CPU inside a call, so every address is one to return to: see Frame::lookup_address.
  auto symbol = symbols.Find(address - 1);
  return pool.Intern(symbol ? std::string(*symbol) : HexAddress("[kernel] ", address), "[kernel]");
}

void NameKernelStacks(const Profile& profile, const SymbolizerOptions& options, NamePool& pool,
                      SymbolizedProfile& symbolized) {
  auto kallsyms = ReadProcFile(options.kallsyms_path, kMaxKallsymsBytes);
  SymbolTable symbols = kallsyms.ok() ? ParseKallsyms(std::move(*kallsyms)) : SymbolTable();
  absl::flat_hash_map<uint64_t, std::string_view> names;
  for (const KernelStack& stack : profile.kernel_stacks) {
    std::vector<std::string_view>& frames = symbolized.kernel_stacks.emplace_back();
    frames.reserve(stack.addresses.size());
    for (uint64_t address : stack.addresses) {
      auto [it, inserted] = names.try_emplace(address);
      if (inserted) it->second = KernelName(address, symbols, pool);
      frames.push_back(it->second);
    }
  }
}

}  // namespace

SymbolizedProfile Symbolize(const Profile& profile, const SymbolizerOptions& options) {
  SymbolizedProfile symbolized;
  NamePool pool(*symbolized.names, kMaxNameBytes);
  NameUserStacks(profile, options, pool, symbolized);
  NameKernelStacks(profile, options, pool, symbolized);
  return symbolized;
}

}  // namespace offcpu
