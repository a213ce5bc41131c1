#include "symbolize/module_symbols.h"

#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

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
#include "symbolize/listed_names.h"

namespace offcpu {
namespace {

using Addresses = std::span<const uint64_t>;

ModuleNames None(Addresses addresses) { return {.names = std::vector<std::string>(addresses.size())}; }

ModuleNames Unread(Addresses addresses) {
  ModuleNames names = None(addresses);
  names.unread = true;
  return names;
}

// `full` if `fd` is an ELF file with a full table. Where functions begin the module's own file knows.
ModuleNames ReadDebugFile(const OwnedFd& fd, const Module& module, Addresses addresses) {
  const FileMemory file(fd.get());
  const FileMemory own_file(module.file.get());
  const auto elf = ElfFile::Parse(file);
  const auto own = ElfFile::Parse(own_file);
  return elf.ok() ? ReadElfSymbols(*elf, addresses, FunctionStarts(own.ok() ? *own : *elf)) : ModuleNames();
}

constexpr uint64_t kMaxVdsoBytes = 1u << 20;

// Every process has the vDSO of its kernel, so this one's serves; it is mapped whole, section headers last.
ModuleNames ReadVdso(const Module& module, Addresses addresses) {
  ProcessMemory self(getpid());
  uint64_t base = getauxval(AT_SYSINFO_EHDR);
  auto header = self.ReadValue<Elf64_Ehdr>(base);
  if (!header || header->e_shoff > kMaxVdsoBytes) return None(addresses);
  std::string image(header->e_shoff + uint64_t{header->e_shnum} * header->e_shentsize, '\0');
  if (!self.Read(base, std::as_writable_bytes(std::span(image)))) return None(addresses);
  SpanMemory memory(0, std::as_bytes(std::span(image)));
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok() || module.build_id.empty() || elf->BuildId() != module.build_id) return None(addresses);
  return ReadElfSymbols(*elf, addresses, FunctionStarts(*elf));
}

ModuleNames ReadFile(const Module& module, Addresses addresses, const std::string& debug_directory) {
  FileMemory file(module.file.get());
  auto elf = ElfFile::Parse(file);
  if (!elf.ok() || (!module.build_id.empty() && elf->BuildId() != module.build_id)) return Unread(addresses);
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

ModuleNames ReadModule(const Module& module, Addresses addresses, const std::string& debug_directory) {
  if (module.path == "[vdso]") return ReadVdso(module, addresses);
  ModuleNames own = ReadFile(module, addresses, debug_directory);
  if (own.full) return own;
  ModuleNames separate = ReadDebugFile(OpenDebugFileByBuildId(debug_directory, module.build_id), module, addresses);
  return separate.full ? std::move(separate) : std::move(own);
}

}  // namespace

ModuleNames ReadNames(const CodeObject& code, Addresses addresses, const std::string& debug_directory) {
  switch (code.kind()) {
    case CodeKind::kElf:
      return ReadModule(*AsModule(&code), addresses, debug_directory);
    case CodeKind::kPerfMap:
      return NamesFrom(FunctionsOfPerfMap(code).get(), addresses);
    case CodeKind::kOtherFile:
    case CodeKind::kRuntime:
      break;
  }
  return None(addresses);
}

}  // namespace offcpu
