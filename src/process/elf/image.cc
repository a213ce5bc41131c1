#include "process/elf/image.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "process/elf/eh_frame_hdr.h"
#include "process/elf/headers.h"
#include "process/elf/notes.h"
#include "process/machine.h"

namespace offcpu {
namespace {

constexpr uint32_t kPtGnuSframe = 0x6474e554;

uint64_t PageFloor(uint64_t address) { return address & ~(kElfPage - 1); }
uint64_t PageCeil(uint64_t address) { return PageFloor(address + kElfPage - 1); }

// The file that mappings show, by its offsets: each read is of whichever mapping shows all of it.
class ShownFile final : public Memory {
 public:
  ShownFile(const Memory& memory, std::span<const FileMapping> mappings) : memory_(memory), mappings_(mappings) {}
  [[nodiscard]] bool Read(uint64_t offset, std::span<std::byte> out) const override {
    for (const FileMapping& m : mappings_) {
      if (offset < m.offset || offset - m.offset >= m.end - m.begin) continue;
      const uint64_t skip = offset - m.offset;
      if (m.end - m.begin - skip >= out.size() && memory_.Read(m.begin + skip, out)) return true;
    }
    return false;
  }

 private:
  const Memory& memory_;
  std::span<const FileMapping> mappings_;
};

bool SaneLoad(const Elf64_Phdr& p) {
  return p.p_vaddr < kElfAddressLimit && p.p_memsz < kElfAddressLimit && p.p_offset < kElfAddressLimit &&
         p.p_filesz <= p.p_memsz && p.p_vaddr % kElfPage == p.p_offset % kElfPage;
}

absl::StatusOr<ElfHeaders> ReadHeaders(const Memory& memory, std::span<const FileMapping> file) {
  absl::StatusOr<ElfHeaders> headers = ReadElfHeaders(ShownFile(memory, file));
  if (!headers.ok()) return headers.status();
  if (CapturedMachine(headers->file.e_machine, headers->file.e_ident[EI_CLASS]) == nullptr) {
    return absl::InvalidArgumentError("not an ELF object of this machine");
  }
  std::erase_if(headers->segments, [](const Elf64_Phdr& p) { return p.p_type == PT_LOAD && p.p_memsz == 0; });
  for (const Elf64_Phdr& p : headers->segments) {
    if (p.p_type == PT_LOAD && !SaneLoad(p)) return absl::InvalidArgumentError("malformed segment");
  }
  return headers;
}

// Is every segment, where the file is mapped at its address at all, the right piece of the file? Text may have been
// moved to anonymous memory, the first segment never is. Data is mapped last, so that while a library is being loaded
// another piece may be there.
bool SegmentsAgree(const ElfHeaders& headers, std::span<const FileMapping> file, uint64_t bias) {
  bool first = true;
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type != PT_LOAD || p.p_filesz == 0 || (!first && (p.p_flags & PF_W))) continue;
    const uint64_t address = bias + PageFloor(p.p_vaddr);
    auto m =
        std::upper_bound(file.begin(), file.end(), address, [](uint64_t a, const FileMapping& f) { return a < f.end; });
    const bool mapped = m != file.end() && m->begin <= address;
    if (mapped ? m->offset + (address - m->begin) != PageFloor(p.p_offset) : first) return false;
    first = false;
  }
  return !first;
}

// The anchor shows a piece of some segment, which says where all of them are. Small segments share pages of the file,
// so that more than one may claim it; only one fits the other mappings.
absl::StatusOr<uint64_t> FindBias(const ElfHeaders& headers, std::span<const FileMapping> file,
                                  const FileMapping& anchor) {
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type != PT_LOAD || p.p_filesz == 0 || (anchor.executable && !(p.p_flags & PF_X))) continue;
    const uint64_t offset = PageFloor(p.p_offset);
    if (anchor.offset < offset || anchor.offset >= PageCeil(p.p_offset + p.p_filesz)) continue;
    const uint64_t bias = anchor.begin - (anchor.offset - offset) - PageFloor(p.p_vaddr);
    if (SegmentsAgree(headers, file, bias)) return bias;
  }
  return absl::InvalidArgumentError("no segment fits the mapping");
}

// How many bytes from the link-time `address` on one PT_LOAD holds; 0 if none does.
uint64_t LoadedBytesAt(const ElfHeaders& headers, uint64_t address) {
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_memsz) {
      return p.p_memsz - (address - p.p_vaddr);
    }
  }
  return 0;
}

ModuleTable ReadTable(const Memory& memory, const ElfHeaders& headers, uint64_t bias, const Elf64_Phdr& segment) {
  ModuleTable table;
  if (segment.p_memsz > kMaxTableBytes || segment.p_memsz > LoadedBytesAt(headers, segment.p_vaddr)) return table;
  table.address = segment.p_vaddr;
  table.bytes.resize(segment.p_memsz);
  if (!memory.Read(bias + table.address, table.bytes)) table = ModuleTable();
  return table;
}

// The same of a table that is kept. Nothing is read of it unless there is room.
ModuleTable ReadKeptTable(const Memory& memory, const ElfHeaders& headers, uint64_t bias, const Elf64_Phdr& segment,
                          Module* module) {
  if (segment.p_memsz > LoadedBytesAt(headers, segment.p_vaddr)) return {};
  module->too_large |= segment.p_memsz > kMaxTableBytes;
  if (segment.p_memsz > kMaxTableBytes || !module->Afford(segment.p_memsz)) return {};
  ModuleTable table = ReadTable(memory, headers, bias, segment);
  module->memory.Shrink(segment.p_memsz - table.bytes.size());
  return table;
}

// Entries of .eh_frame follow one another by their lengths up to a zero. Only as much as that is read: what lies behind
// the table in its segment may be large, and need not be resident. How long it is is found out a piece at a time.
// `is_cut`: an entry ends behind the limit.
uint64_t EhFrameSize(const Memory& memory, uint64_t begin, uint64_t limit, bool* is_cut) {
  constexpr uint64_t kStep = 128 << 10;
  constexpr uint32_t kExtended = 0xffffffff;
  std::vector<std::byte> piece(std::min(kStep, limit));
  uint64_t piece_begin = 0;
  uint64_t seen = 0;  // [piece_begin, seen) is in `piece`
  auto have = [&](uint64_t size) {
    while (seen < size) {
      *is_cut = size > limit;
      if (*is_cut) return false;
      piece_begin = seen - std::min<uint64_t>(seen, sizeof(uint32_t) - 1);  // of a length that is cut in two
      const uint64_t bytes = std::min(kStep, limit - piece_begin);
      if (!memory.Read(begin + piece_begin, std::span(piece).first(bytes))) return false;
      seen = piece_begin + bytes;
    }
    return true;
  };
  uint64_t at = 0;
  for (uint32_t length = 1; length != 0 && have(at + sizeof(length));) {
    std::memcpy(&length, piece.data() + (at - piece_begin), sizeof(length));
    if (length == kExtended || !have(at + sizeof(length) + length)) break;
    at += sizeof(length) + uint64_t{length};
  }
  return at;
}

// The link-time address where an entry begins, which a search table names, and the one where it ends. Before it lies
// its CIE, to which its second word is the distance.
std::optional<CodeRange> EntryWithCie(const Memory& memory, uint64_t bias, uint64_t fde) {
  uint32_t words[2];  // length, distance from itself
  if (!memory.Read(bias + fde, std::as_writable_bytes(std::span(words)))) return std::nullopt;
  if (words[1] > fde + sizeof(uint32_t)) return std::nullopt;
  return CodeRange{.begin = fde + sizeof(uint32_t) - words[1], .end = fde + sizeof(uint32_t) + words[0]};
}

// [begin, end) of .eh_frame: `chain`, which ends with the first zero, and what the search table names besides. A tool
// that has rewritten a program may leave a zero in the middle.
CodeRange EhFrameRange(const Memory& memory, const ElfHeaders& headers, uint64_t bias, const CodeRange& chain,
                       const EhFrameSearch& search, bool* too_large) {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (size_t i = 0; i < search.size(); ++i) {
    const uint64_t fde = search.At(i).fde;
    first = std::min(first, fde);
    last = std::max(last, fde);
  }
  if (first >= chain.begin && last < chain.end) return chain;
  const std::optional<CodeRange> lowest = EntryWithCie(memory, bias, first);
  const std::optional<CodeRange> highest = EntryWithCie(memory, bias, last);
  if (!lowest || !highest) return chain;
  const CodeRange all = {.begin = std::min(chain.begin, lowest->begin), .end = std::max(chain.end, highest->end)};
  if (all.end <= all.begin || all.end - all.begin > LoadedBytesAt(headers, all.begin)) return chain;
  *too_large |= all.end - all.begin > kMaxTableBytes;
  return all.end - all.begin <= kMaxTableBytes ? all : chain;
}

ModuleTable ReadEhFrame(const Memory& memory, const ElfHeaders& headers, uint64_t bias, Module* module) {
  const std::optional<uint64_t> address = EhFrameAddress(module->eh_frame_hdr);
  if (!address) return {};
  const uint64_t loaded = LoadedBytesAt(headers, *address);
  const uint64_t limit = std::min<uint64_t>(loaded, kMaxTableBytes);
  bool is_cut = false;
  const uint64_t chained = limit == 0 ? 0 : EhFrameSize(memory, bias + *address, limit, &is_cut);
  module->too_large |= is_cut && loaded > limit;
  const CodeRange chain = {*address, *address + chained};
  const EhFrameSearch search = EhFrameSearch::Of(module->eh_frame_hdr);
  const CodeRange range =
      search.size() == 0 ? chain : EhFrameRange(memory, headers, bias, chain, search, &module->too_large);
  const uint64_t size = range.end - range.begin;
  if (size == 0) return {};
  if (!module->Afford(size)) return {};
  ModuleTable table = {.address = range.begin, .bytes = std::vector<std::byte>(size)};
  if (memory.Read(bias + table.address, table.bytes)) return table;
  module->memory.Shrink(size);
  return {};
}

std::string ReadBuildId(const Memory& memory, const ElfHeaders& headers, uint64_t bias) {
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type != PT_NOTE || p.p_memsz > kMaxNoteBytes) continue;
    ModuleTable notes = ReadTable(memory, headers, bias, p);
    std::string id = BuildIdOf(notes.bytes, p.p_align == 8 ? 8 : 4);
    if (!id.empty()) return id;
  }
  return "";
}

uint64_t HeadHash(const ElfHeaders& headers, const std::string& build_id) {
  auto text = [](std::span<const std::byte> b) {
    return std::string_view(reinterpret_cast<const char*>(b.data()), b.size());
  };
  return absl::HashOf(text(std::as_bytes(std::span(&headers.file, 1))),
                      text(std::as_bytes(std::span(headers.segments))), build_id);
}

absl::StatusOr<ElfHead> HeadOf(const Memory& memory, const ElfHeaders& headers, std::span<const FileMapping> file,
                               const FileMapping& anchor) {
  ElfHead head;
  absl::StatusOr<uint64_t> bias = FindBias(headers, file, anchor);
  if (!bias.ok()) return bias.status();
  head.bias = *bias;
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type != PT_LOAD) continue;
    begin = std::min(begin, PageFloor(p.p_vaddr));
    end = std::max(end, PageCeil(p.p_vaddr + p.p_memsz));
  }
  head.begin = head.bias + begin;
  head.end = head.bias + end;
  if (head.begin >= head.end || head.end > kElfAddressLimit) {
    return absl::InvalidArgumentError("segments beyond the address space");
  }
  head.build_id = ReadBuildId(memory, headers, head.bias);
  head.hash = HeadHash(headers, head.build_id);
  return head;
}

// Is it what a process is started with, and not a library? Linkers mark executables that may lie anywhere. The dynamic
// linker runs before them, and is what needs no other library.
bool IsStarted(const Memory& memory, const ElfHeaders& headers, uint64_t bias) {
  if (headers.file.e_type == ET_EXEC) return true;
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type != PT_DYNAMIC || p.p_memsz > kMaxDynamicBytes) continue;
    const ModuleTable table = ReadTable(memory, headers, bias, p);
    bool needs_others = false;
    const bool is_32_bit = Is32Bit(headers.file);
    const SpanMemory bytes(0, table.bytes);
    std::vector<Elf64_Dyn> entries(table.bytes.size() / (is_32_bit ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn)));
    if (!ReadStructs<Elf64_Dyn, Elf32_Dyn>(bytes, 0, is_32_bit, entries)) return false;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) return !needs_others;
      if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) return true;
      needs_others |= entry.d_tag == DT_NEEDED;
    }
  }
  return false;
}

void ReadTables(const Memory& memory, const ElfHeaders& headers, uint64_t bias, Module* module) {
  int sframes = 0;
  for (const Elf64_Phdr& p : headers.segments) {
    if (p.p_type == PT_GNU_EH_FRAME && module->eh_frame_hdr.bytes.empty()) {
      Elf64_Phdr header = p;
      header.p_memsz = std::min<uint64_t>(p.p_memsz, kMaxHeaderBytes);
      module->eh_frame_hdr = ReadKeptTable(memory, headers, bias, header, module);
      module->eh_frame = ReadEhFrame(memory, headers, bias, module);
      module->damaged_eh_frame |= p.p_filesz != 0 && module->eh_frame.bytes.empty();
    }
    if (p.p_type != kPtGnuSframe || p.p_filesz == 0) continue;
    // There is one at most: of two, nobody says which is right.
    module->sframe = ++sframes == 1 ? ReadKeptTable(memory, headers, bias, p, module) : ModuleTable();
    module->damaged_sframe = module->sframe.bytes.empty();
  }
}

}  // namespace

absl::StatusOr<ElfHead> ReadElfHead(const Memory& memory, std::span<const FileMapping> file,
                                    const FileMapping& anchor) {
  absl::StatusOr<ElfHeaders> headers = ReadHeaders(memory, file);
  if (!headers.ok()) return headers.status();
  return HeadOf(memory, *headers, file, anchor);
}

absl::StatusOr<ElfImage> ReadElfImage(const Memory& memory, std::span<const FileMapping> file,
                                      const FileMapping& anchor, MemoryLease lease) {
  absl::StatusOr<ElfHeaders> headers = ReadHeaders(memory, file);
  if (!headers.ok()) return headers.status();
  absl::StatusOr<ElfHead> head = HeadOf(memory, *headers, file, anchor);
  if (!head.ok()) return head.status();
  ElfImage image;
  image.module.memory = std::move(lease);
  image.head = *std::move(head);
  image.module.build_id = image.head.build_id;
  image.module.machine = CapturedMachine(headers->file.e_machine, headers->file.e_ident[EI_CLASS]);
  if (IsStarted(memory, *headers, image.head.bias)) image.module.entry = headers->file.e_entry;
  for (const Elf64_Phdr& p : headers->segments) {
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X)) image.module.code.push_back({p.p_vaddr, p.p_vaddr + p.p_memsz});
    if (p.p_type == PT_DYNAMIC && p.p_memsz <= LoadedBytesAt(*headers, p.p_vaddr))
      image.dynamic = {p.p_vaddr, p.p_vaddr + p.p_memsz};
  }
  if (image.module.code.empty()) return absl::InvalidArgumentError("no executable segment");
  ReadTables(memory, *headers, image.head.bias, &image.module);
  return image;
}

}  // namespace offcpu
