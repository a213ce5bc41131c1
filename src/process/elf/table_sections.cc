#include "process/elf/table_sections.h"

#include <elf.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/elf/file.h"
#include "process/elf/function_symbols.h"
#include "process/elf/image.h"
#include "process/framed_calls.h"
#include "process/system_call_returns.h"

namespace offcpu {
namespace {

// Room for what is read on behalf of a module; null: there is always some.
bool Afford(size_t bytes, Module* module) { return module == nullptr || module->Afford(bytes); }

void GiveBack(size_t bytes, Module* module) {
  if (module != nullptr) module->memory.Shrink(bytes);
}

// Whatever its size.
const ElfSection* FindSection(const ElfFile& file, std::string_view name, bool mapped) {
  const auto is_it = [&](const ElfSection& s) {
    // Debug files keep the header of a section that they do not have.
    const bool is_mapped = (s.flags & SHF_ALLOC) != 0;
    return s.name == name && s.type != SHT_NOBITS && is_mapped == mapped && s.size != 0;
  };
  const auto found = std::find_if(file.sections().begin(), file.sections().end(), is_it);
  return found != file.sections().end() ? &*found : nullptr;
}

// The bytes of a section as they are in the file; none if there is no room.
std::vector<std::byte> ReadBytes(const ElfFile& file, const ElfSection& section, Module* module) {
  if (!Afford(section.size, module)) return {};
  std::vector<std::byte> bytes(section.size);
  if (file.memory().Read(section.offset, bytes)) return bytes;
  GiveBack(bytes.size(), module);
  return {};
}

// What a compressed section holds; nothing if it is damaged, too large, or compressed in another way than by zlib.
std::vector<std::byte> Inflate(std::span<const std::byte> section, Module* module) {
  Elf64_Chdr header;
  if (section.size() < sizeof(header)) return {};
  std::memcpy(&header, section.data(), sizeof(header));
  if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > kMaxTableBytes) return {};
  if (!Afford(header.ch_size, module)) return {};
  const std::span<const std::byte> from = section.subspan(sizeof(header));
  std::vector<std::byte> bytes(header.ch_size);
  uLongf size = bytes.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(bytes.data()), &size,
                                reinterpret_cast<const Bytef*>(from.data()), from.size());
  if (result == Z_OK && size == bytes.size()) return bytes;
  GiveBack(bytes.size(), module);
  return {};
}

// That of objects of 32 bits is not read.
ModuleTable ReadDebugFrame(const ElfFile& file, Module* module) {
  ModuleTable table;
  if (file.is_32_bit()) return table;
  const ElfSection* section = FindTableSection(file, ".debug_frame", /*mapped=*/false, module);
  if (section == nullptr) return table;
  table.bytes = ReadBytes(file, *section, module);
  if (table.bytes.empty() || (section->flags & SHF_COMPRESSED) == 0) return table;
  const std::vector<std::byte> compressed = std::move(table.bytes);
  table.bytes = Inflate(compressed, module);
  GiveBack(compressed.size(), module);
  return table;
}

bool AreZeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// A linker may reserve more for a table than it needs in the end, and leaves zeros there; and a section may have more
// of them than the one that the table was read up to. The section is compared a piece at a time: that it is the same is
// all that is asked.
bool IsSameButZeros(const ElfFile& file, std::string_view name, const ModuleTable& table) {
  constexpr size_t kStep = 64 << 10;
  const ElfSection* section = FindTableSection(file, name, /*mapped=*/true);
  if (section == nullptr || table.address != section->address) return false;
  const std::span<const std::byte> bytes(table.bytes);
  std::vector<std::byte> piece(kStep);
  for (size_t at = 0; at < section->size; at += piece.size()) {
    piece.resize(std::min<size_t>(kStep, section->size - at));
    if (!file.memory().Read(section->offset + at, piece)) return false;
    const std::span<const std::byte> its = bytes.subspan(std::min(at, bytes.size()));
    const size_t both = std::min(its.size(), piece.size());
    if (std::memcmp(piece.data(), its.data(), both) != 0 || !AreZeros(std::span(piece).subspan(both))) return false;
  }
  return AreZeros(bytes.subspan(std::min<size_t>(section->size, bytes.size())));
}

// Is `table` the file's, after it was taken from there unless the program headers had named it?
bool AddTable(const ElfFile& file, std::string_view name, bool named, ModuleTable* table, Module* module) {
  if (named) return IsSameButZeros(file, name, *table);
  *table = ReadTableSection(file, name, module);
  return true;
}

// Reads .text where hardly any table describes it, and notes where it is for code that tables leave out elsewhere.
void ReadBareText(const ElfFile& file, Module* module) {
  constexpr size_t kMostBytes = 8 << 20;
  constexpr size_t kMostKeptBytes = 1 << 20;  // musl's is 0.4 MiB
  constexpr size_t kCodePerTable = 16;        // compilers' tables have a byte for less than so many of code
  constexpr size_t kMostStartBytes = 512;     // of the tables of start-up code and of a PLT
  const ElfSection* text = FindSection(file, ".text", /*mapped=*/true);
  const size_t tables = module->eh_frame.bytes.size() + module->sframe.bytes.size() + module->debug_frame.bytes.size();
  if (text == nullptr) return;
  module->text_in_file = {.address = text->address, .offset = text->offset, .bytes = text->size};
  if (text->size > kMostBytes) return;
  const bool is_bare = tables < text->size / kCodePerTable;
  if (!is_bare && tables >= kMostStartBytes) return;
  std::vector<std::byte> code = ReadBytes(file, *text, module);
  std::vector<CodeRange> framed = FramedFunctions(code, text->address, FunctionsIn(file, *text, &module->memory));
  framed.shrink_to_fit();
  if (Afford(framed.size() * sizeof(CodeRange), module)) module->framed = std::move(framed);
  std::vector<CodeRange> returns = is_bare ? SystemCallReturns(code, text->address) : std::vector<CodeRange>();
  if (is_bare && code.size() <= kMostKeptBytes) {
    module->text = {.address = text->address, .bytes = std::move(code)};
  } else {
    GiveBack(code.size(), module);
  }
  if (Afford(returns.size() * sizeof(CodeRange), module)) module->without_frames = std::move(returns);
}

// The stubs of a PLT, for which the linkers of AArch64 write no table: they go on to another function with everything
// as the call left it. The first of them, by which functions are bound, saves something.
void AddPlt(const ElfFile& file, Module* module) {
  constexpr uint64_t kFirstBytes = 32;
  const ElfSection* plt = FindTableSection(file, ".plt", /*mapped=*/true);
  if (plt == nullptr || plt->size <= kFirstBytes || plt->address > UINT64_MAX - plt->size) return;
  if (!module->Afford(sizeof(CodeRange))) return;
  module->without_frames = {{.begin = plt->address + kFirstBytes, .end = plt->address + plt->size}};
}

void AddTables(const ElfFile& file, const CodeReader& reader, Module* module) {
  const bool own_eh_frame = AddTable(file, ".eh_frame", !module->eh_frame_hdr.bytes.empty() || module->damaged_eh_frame,
                                     &module->eh_frame, module);
  const bool own_sframe =
      AddTable(file, ".sframe", !module->sframe.bytes.empty() || module->damaged_sframe, &module->sframe, module);
  module->debug_frame = ReadDebugFrame(file, module);
  // What languages do is known of x86-64 only, and so is what code says of its frames.
  const bool is_read = module->machine == &kX86_64;
  const bool is_known = is_read && reader.read_module != nullptr && reader.read_module(file, module);
  if (is_read && !is_known) ReadBareText(file, module);
  if (module->machine == &kAArch64) AddPlt(file, module);
  const bool has_table =
      !module->eh_frame.bytes.empty() || !module->sframe.bytes.empty() || !module->debug_frame.bytes.empty();
  module->matches_file = own_eh_frame && own_sframe && has_table && !module->over_budget;
}

}  // namespace

const ElfSection* FindTableSection(const ElfFile& file, std::string_view name, bool mapped, Module* module) {
  const ElfSection* found = FindSection(file, name, mapped);
  if (found == nullptr) return nullptr;
  const bool is_read = found->size <= kMaxTableBytes;
  if (module != nullptr) module->too_large |= !is_read;
  return is_read ? found : nullptr;
}

ModuleTable ReadTableSection(const ElfFile& file, std::string_view wanted, Module* module) {
  const ElfSection* section = FindTableSection(file, wanted, /*mapped=*/true, module);
  if (section == nullptr) return {};
  ModuleTable table = {.address = section->address, .bytes = ReadBytes(file, *section, module)};
  return table.bytes.empty() ? ModuleTable() : std::move(table);
}

ModuleTable ReadTableSection(const Memory& file, std::string_view wanted) {
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  return elf.ok() ? ReadTableSection(*elf, wanted, nullptr) : ModuleTable();
}

ModuleTable ReadDebugFrame(const Memory& file) {
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  return elf.ok() ? ReadDebugFrame(*elf, nullptr) : ModuleTable();
}

void AddTableSections(const Memory& file, Module* module, const CodeReader& reader) {
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  if (elf.ok()) AddTables(*elf, reader, module);
  // Nobody knows what a table says that was left out, so the frame pointer is not asked in its place.
  module->damaged_eh_frame |= module->over_budget;
  module->damaged_sframe |= module->over_budget && module->sframe.bytes.empty();
}

}  // namespace offcpu
