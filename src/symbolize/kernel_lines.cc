#include "symbolize/kernel_lines.h"

#include <sys/utsname.h>

#include <charconv>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "process/elf/file.h"
#include "process/elf/notes.h"
#include "process/memory.h"
#include "symbolize/debug_files.h"

namespace offcpu {
namespace {

// The address on the line "ADDRESS T NAME"; 0 if there is none, or if it is hidden.
uint64_t AddressOf(std::string_view name, std::string_view kallsyms) {
  const std::string end = absl::StrCat(" T ", std::string(name), "\n");
  const size_t at = kallsyms.find(end);
  if (at == std::string_view::npos) return 0;
  const size_t before = kallsyms.rfind('\n', at);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  uint64_t address = 0;
  const auto [rest, error] = std::from_chars(kallsyms.data() + begin, kallsyms.data() + at, address, 16);
  return error == std::errc() && rest == kallsyms.data() + at ? address : 0;
}

}  // namespace

std::optional<KernelCode> RunningKernel(std::string_view kallsyms, std::string_view notes) {
  const KernelCode kernel = {.build_id = BuildIdOf(std::as_bytes(std::span(notes)), 4),
                             .begin = AddressOf("_stext", kallsyms),
                             .end = AddressOf("_etext", kallsyms)};
  if (kernel.build_id.empty() || kernel.begin == 0 || kernel.begin >= kernel.end) return std::nullopt;
  return kernel;
}

OwnedFd OpenKernelDebugFile(const KernelCode& kernel, const std::string& directory) {
  struct utsname system = {};
  if (OwnedFd by_id = OpenDebugFileByBuildId(directory, kernel.build_id); by_id || uname(&system) != 0) return by_id;
  OwnedFd file = OpenDebugFileAt(absl::StrCat(directory, "/lib/modules/", system.release, "/vmlinux"), kernel.build_id);
  return file ? std::move(file)
              : OpenDebugFileAt(absl::StrCat(directory, "/boot/vmlinux-", system.release), kernel.build_id);
}

// _stext is where .text begins, on x86-64 as on AArch64.
std::optional<uint64_t> KernelOffset(const KernelCode& kernel, const OwnedFd& file) {
  const FileMemory memory(file.get());
  const auto elf = ElfFile::Parse(memory);
  const ElfSection* text = elf.ok() ? elf->Find(".text") : nullptr;
  if (text == nullptr) return std::nullopt;
  return kernel.begin - text->address;
}

}  // namespace offcpu
