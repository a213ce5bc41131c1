#include "symbolize/module_symbols.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "process/elf/file.h"
#include "process/memory.h"
#include "process/module.h"
#include "runtimes/known_runtimes.h"
#include "runtimes/perf_map/functions.h"
#include "symbolize/debug_files.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/exported_names.h"
#include "symbolize/listed_names.h"

namespace offcpu {
namespace {

using Addresses = std::span<const uint64_t>;

ModuleNames None(Addresses addresses) { return {.names = std::vector<std::string>(addresses.size())}; }

ModuleNames ReadFile(const Module& module, Addresses addresses, const std::string& debug_directory) {
  FileMemory file(module.file.get());
  auto elf = ElfFile::Parse(file);
  const bool is_it =
      elf.ok() && (module.build_id.empty() || elf->sections().empty() || elf->BuildId() == module.build_id);
  if (!is_it || elf->sections().empty()) {
    ModuleNames exported = ReadExportedNames(module, addresses);
    exported.unread = !is_it;
    return exported;
  }
  ModuleNames own = ReadElfSymbols(*elf, addresses, FunctionStarts(*elf));
  if (own.full) return own;
  const auto functions = FunctionsOf(*elf);
  if (ModuleNames listed = NamesFrom(functions.ok() ? functions->get() : nullptr, addresses); listed.full)
    return listed;
  own.unread |= !functions.ok();
  ModuleNames linked =
      ReadDebugFile(OpenDebugFileByLink(debug_directory, module.path, *elf, module.build_id), module, addresses);
  return linked.full ? std::move(linked) : std::move(own);
}

// Without a build id the CRC alone shows that a debug file is the module's.
ModuleNames ReadDebugFileOfTarget(const Module& module, Addresses addresses) {
  if (!module.debug_file) return {};
  const FileMemory file(module.file.get());
  const auto elf = ElfFile::Parse(file);
  if (module.build_id.empty() && !(elf.ok() && HasCrcOfLink(module.debug_file, *elf))) return {};
  return ReadDebugFile(module.debug_file, module, addresses);
}

ModuleNames ReadModule(const Module& module, Addresses addresses, const std::string& debug_directory) {
  if (module.path == "[vdso]") return ReadExportedNames(module, addresses);  // it has no file
  ModuleNames own = ReadFile(module, addresses, debug_directory);
  if (own.full) return own;
  ModuleNames separate = ReadDebugFile(OpenDebugFileByBuildId(debug_directory, module.build_id), module, addresses);
  if (separate.full) return separate;
  ModuleNames of_target = ReadDebugFileOfTarget(module, addresses);
  if (of_target.full) return of_target;
  own.unread |= module.names_left_out;
  return own;
}

// What a map does not name, the one of before the fork may.
ModuleNames ReadPerfMaps(const CodeObject& code, Addresses addresses) {
  ModuleNames found = NamesFrom(FunctionsOfPerfMap(code).get(), addresses);
  for (const CodeObject* map = code.before_fork.get(); map != nullptr; map = map->before_fork.get()) {
    std::vector<uint64_t> missing;
    for (size_t i = 0; i < addresses.size(); ++i) {
      if (found.names[i].empty()) missing.push_back(addresses[i]);
    }
    if (missing.empty()) break;
    ModuleNames before = NamesFrom(FunctionsOfPerfMap(*map).get(), missing);
    found.left_out += before.left_out;
    auto name = before.names.begin();
    for (std::string& empty : found.names) {
      if (empty.empty()) empty = std::move(*name++);
    }
  }
  return found;
}

}  // namespace

// Where functions begin the module's own file knows.
ModuleNames ReadDebugFile(const OwnedFd& fd, const Module& module, Addresses addresses) {
  const FileMemory file(fd.get());
  const FileMemory own_file(module.file.get());
  const auto elf = ElfFile::Parse(file);
  const auto own = ElfFile::Parse(own_file);
  return elf.ok() ? ReadElfSymbols(*elf, addresses, FunctionStarts(own.ok() ? *own : *elf)) : ModuleNames();
}

ModuleNames ReadNames(const CodeObject& code, Addresses addresses, const std::string& debug_directory) {
  switch (code.kind()) {
    case CodeKind::kElf:
      return ReadModule(*AsModule(&code), addresses, debug_directory);
    case CodeKind::kPerfMap:
      return ReadPerfMaps(code, addresses);
    case CodeKind::kOtherFile:
    case CodeKind::kRuntime:
      break;
  }
  return None(addresses);
}

}  // namespace offcpu
