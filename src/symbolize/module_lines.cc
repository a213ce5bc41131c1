#include "symbolize/module_lines.h"

#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "process/module.h"
#include "symbolize/debug_files.h"

namespace offcpu {
namespace {

bool HasDebugInformation(const ElfFile& elf) {
  return elf.Find(".debug_info") != nullptr || elf.Find(".zdebug_info") != nullptr;
}

bool IsWithDebugInformation(const OwnedFd& fd) {
  if (!fd) return false;
  const FileMemory file(fd.get());
  const auto elf = ElfFile::Parse(file);
  return elf.ok() && HasDebugInformation(*elf);
}

SourceLines ReadFrom(int fd, std::span<const uint64_t> addresses, const std::string& debug_directory,
                     std::chrono::milliseconds time) {
  const OwnedFd supplementary = OpenDebugFileByBuildId(debug_directory, SupplementaryId(fd));
  return ReadSourceLines({.file = fd, .supplementary = supplementary.get()}, addresses, {.time = time});
}

// The descriptor of the first one that has debug information; -1 without one. `opened` keeps it open.
int FindFile(const Module& module, const std::string& debug_directory, OwnedFd* opened) {
  const FileMemory file(module.file.get());
  const auto elf = ElfFile::Parse(file);
  const bool is_it = elf.ok() && (module.build_id.empty() || elf->BuildId() == module.build_id);
  if (is_it && HasDebugInformation(*elf)) return module.file.get();
  *opened = OpenDebugFileByBuildId(debug_directory, module.build_id);
  if (IsWithDebugInformation(*opened)) return opened->get();
  if (is_it) *opened = OpenDebugFileByLink(debug_directory, module.path, *elf, module.build_id);
  if (IsWithDebugInformation(*opened)) return opened->get();
  const bool is_proven = !module.build_id.empty() || (is_it && HasCrcOfLink(module.debug_file, *elf));
  return is_proven && IsWithDebugInformation(module.debug_file) ? module.debug_file.get() : -1;
}

}  // namespace

std::string SupplementaryId(int fd) {
  const FileMemory file(fd);
  const auto elf = ElfFile::Parse(file);
  const ElfSection* section = elf.ok() ? elf->Find(".gnu_debugaltlink") : nullptr;
  if (section == nullptr) return "";
  const auto link = elf->Read(*section);
  const size_t end = link.ok() ? link->find('\0') : std::string::npos;
  return end == std::string::npos ? "" : absl::BytesToHexString(link->substr(end + 1));
}

SourceLines ReadModuleLines(const CodeObject& code, std::span<const uint64_t> addresses,
                            const std::string& debug_directory, std::chrono::milliseconds time) {
  const Module* module = AsModule(&code);
  OwnedFd opened;
  const int fd = module == nullptr ? -1 : FindFile(*module, debug_directory, &opened);
  if (fd < 0) return {};
  return ReadFrom(fd, addresses, debug_directory, time);
}

}  // namespace offcpu
