#include "source_lines/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "source_lines/unit_lines.h"
#include "source_lines/unit_table.h"

namespace offcpu {
namespace {

// The addresses that lie in a unit.
struct UnitHit {
  uint64_t entry = 0;  // where its first entry is
  std::vector<uint32_t> indices;
};

// An open file and its debug information.
class DwarfFile {
 public:
  explicit DwarfFile(int fd) : elf_(elf_begin(fd, ELF_C_READ_MMAP, nullptr)) {
    if (elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF) dwarf_ = dwarf_begin_elf(elf_, DWARF_C_READ, nullptr);
  }
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;
  ~DwarfFile() {
    if (dwarf_ != nullptr) dwarf_end(dwarf_);
    if (elf_ != nullptr) elf_end(elf_);
  }

  Dwarf* dwarf() const { return dwarf_; }
  // In an object file that is not linked, nothing is at its address.
  bool is_linked() const {
    GElf_Ehdr header;
    return gelf_getehdr(elf_, &header) != nullptr && header.e_type != ET_REL;
  }
  bool Has(std::string_view section) const { return Find(section) != nullptr; }
  // Was there memory for all that is needed here? libdw uncompresses sections when it opens a file, and goes on without
  // those that it could not.
  bool is_uncompressed() const {
    return std::ranges::none_of(kNeeded, [this](std::string_view name) {
      GElf_Shdr header;
      Elf_Scn* section = Find(name);
      return section != nullptr && gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_COMPRESSED) != 0;
    });
  }
  // The bytes of the first section of that name, uncompressed; none without one.
  std::span<const std::byte> SectionBytes(std::string_view name) const {
    Elf_Scn* section = Find(name);
    const Elf_Data* data = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const std::byte*>(data->d_buf), data->d_size};
  }
  // Pages that were read can be read again.
  void ForgetPages() const {
    size_t size = 0;
    char* base = elf_rawfile(elf_, &size);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    if (base != nullptr && reinterpret_cast<uintptr_t>(base) % page == 0) madvise(base, size, MADV_DONTNEED);
  }

 private:
  static constexpr std::string_view kNeeded[] = {
      ".debug_info",     ".debug_abbrev", ".debug_str",     ".debug_str_offsets", ".debug_line",
      ".debug_line_str", ".debug_ranges", ".debug_aranges", ".debug_rnglists",    ".debug_addr"};

  // The first section of that name; null without one.
  Elf_Scn* Find(std::string_view name) const {
    size_t names = 0;
    GElf_Shdr header;
    if (elf_ == nullptr || elf_getshdrstrndx(elf_, &names) != 0) return nullptr;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      const char* found = gelf_getshdr(section, &header) == nullptr ? nullptr : elf_strptr(elf_, names, header.sh_name);
      if (found != nullptr && found == name) return section;
    }
    return nullptr;
  }

  Elf* elf_ = nullptr;
  Dwarf* dwarf_ = nullptr;
};

// A file with its supplementary one.
struct Opened {
  explicit Opened(const DwarfInput& input) : file(input.file) {
    if (file.dwarf() == nullptr || input.supplementary < 0) return;
    supplementary = std::make_unique<DwarfFile>(input.supplementary);
    if (supplementary->dwarf() != nullptr) dwarf_setalt(file.dwarf(), supplementary->dwarf());
  }
  bool is_uncompressed() const {
    return file.is_uncompressed() && (supplementary == nullptr || supplementary->is_uncompressed());
  }

  std::unique_ptr<DwarfFile> supplementary;  // outlives `file`
  DwarfFile file;
};

size_t HeldBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

class LineFinder {
 public:
  LineFinder(const DwarfInput& input, std::span<const uint64_t> addresses, const DwarfLimits& limits)
      : input_(input), addresses_(addresses), limits_(limits), budget_(limits.max_entries), is_hit_(addresses.size()) {}

  DwarfEnd Find(LineSink sink) {
    Open();
    const DwarfFile& file = opened_->file;
    if (file.dwarf() == nullptr) return file.Has(".debug_info") ? DwarfEnd::kLimit : DwarfEnd::kNone;
    if (!file.is_linked()) return DwarfEnd::kNone;
    is_cut_ = !opened_->is_uncompressed();
    FindInTable();
    if (!VisitUnits(/*is_to_find=*/true)) is_cut_ = true;
    held_bytes_ = HeldBytes();
    for (auto& [unit, hit] : hits_) {
      FindIn(hit, sink);
      if (budget_.is_exceeded()) break;
    }
    if (is_cut_ || budget_.is_exceeded()) return DwarfEnd::kLimit;
    return is_without_split_ ? DwarfEnd::kSplit : DwarfEnd::kDone;
  }

 private:
  static constexpr uint64_t kUnitsOfPages = 256;  // after which read pages are given back
  static constexpr uint64_t kUnitsOfFile = 8;     // after which memory is looked at

  void Open() {
    opened_.reset();
    opened_ = std::make_unique<Opened>(input_);
  }

  // Adds those addresses in [begin, end) that no unit before has.
  void Add(uint64_t unit, uint64_t begin, uint64_t end) {
    if (!IsLinked(begin, end)) return;
    for (auto it = std::lower_bound(addresses_.begin(), addresses_.end(), begin); it != addresses_.end() && *it < end;
         ++it) {
      const auto index = static_cast<uint32_t>(it - addresses_.begin());
      if (is_hit_[index]) continue;
      is_hit_[index] = true;
      ++known_;
      hits_[unit].indices.push_back(index);
    }
  }

  // To read what the units themselves say of it takes memory for each of them.
  void FindInTable() {
    ReadUnitTable(opened_->file.SectionBytes(".debug_aranges"), [this](uint64_t unit, uint64_t begin, uint64_t end) {
      in_table_.insert(unit);
      Add(unit, begin, end);
      return budget_.Take();
    });
  }

  // Where the unit has code, unless that is known from the table; and where its first entry is.
  void FindInUnit(Dwarf_Die* die) {
    const uint64_t unit = dwarf_dieoffset(die) - dwarf_cuoffset(die);
    if (!in_table_.contains(unit)) {
      Dwarf_Addr base = 0;
      Dwarf_Addr begin = 0;
      Dwarf_Addr end = 0;
      for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0 && budget_.Take();)
        Add(unit, begin, end);
    }
    if (const auto hit = hits_.find(unit); hit != hits_.end()) hit->second.entry = dwarf_dieoffset(die);
  }

  // Looks at each unit in turn, and gives read pages back between them: libdw itself would pass all units before one at
  // once. False if there are too many, or one that cannot be read.
  bool VisitUnits(bool is_to_find) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type = 0;
    for (uint64_t count = 0;; ++count) {
      const int next = dwarf_get_units(opened_->file.dwarf(), unit, &unit, nullptr, &type, &die, nullptr);
      if (next != 0) return next > 0;
      if (count == limits_.max_units || !budget_.Take()) return false;
      if (count % kUnitsOfPages == kUnitsOfPages - 1) opened_->file.ForgetPages();
      if (is_to_find && (type == DW_UT_compile || type == DW_UT_skeleton)) FindInUnit(&die);
    }
  }

  void FindIn(UnitHit& hit, LineSink sink) {
    if (++units_ % kUnitsOfFile == 0 && HeldBytes() > held_bytes_ + limits_.max_held_bytes) {
      Open();
      if (opened_->file.dwarf() == nullptr || !VisitUnits(/*is_to_find=*/false)) is_cut_ = true;
    }
    if (opened_->file.dwarf() == nullptr || hit.entry == 0) return;  // 0: the table names a unit that is none
    std::sort(hit.indices.begin(), hit.indices.end());
    std::vector<uint64_t> addresses;
    addresses.reserve(hit.indices.size());
    for (const uint32_t index : hit.indices) addresses.push_back(addresses_[index]);
    std::set<std::string, std::less<>> paths;
    const UnitLines found = offcpu::FindInUnit(opened_->file.dwarf(), hit.entry, addresses, budget_, paths);
    is_without_split_ |= found.is_without_split;
    for (size_t i = 0; i < found.chains.size(); ++i) {
      if (!found.chains[i].empty()) sink(hit.indices[i], found.chains[i]);
    }
    opened_->file.ForgetPages();
  }

  const DwarfInput input_;
  const std::span<const uint64_t> addresses_;
  const DwarfLimits limits_;
  EntryBudget budget_;
  std::vector<bool> is_hit_;
  size_t known_ = 0;  // addresses
  std::set<uint64_t> in_table_;
  std::map<uint64_t, UnitHit> hits_;  // by where the unit is
  uint64_t units_ = 0;
  bool is_cut_ = false;            // there are units that were not looked at
  bool is_without_split_ = false;  // of one that was
  std::unique_ptr<Opened> opened_;
  size_t held_bytes_ = 0;
};

}  // namespace

DwarfEnd FindLines(const DwarfInput& input, std::span<const uint64_t> addresses, const DwarfLimits& limits,
                   LineSink sink) {
  elf_version(EV_CURRENT);
  return LineFinder(input, addresses, limits).Find(sink);
}

}  // namespace offcpu
