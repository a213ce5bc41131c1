#include "source_lines/dwarf_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "source_lines/unit_lines.h"

namespace offcpu {
namespace {

// A unit, and which of the addresses lie in it.
struct UnitHit {
  uint64_t unit = 0;
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
  // Pages that were read can be read again.
  void ForgetPages() const {
    size_t size = 0;
    char* base = elf_rawfile(elf_, &size);
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    if (base != nullptr && reinterpret_cast<uintptr_t>(base) % page == 0) madvise(base, size, MADV_DONTNEED);
  }

 private:
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
    if (opened_->file.dwarf() == nullptr || !opened_->file.is_linked()) return DwarfEnd::kNone;
    if (!FindUnits()) return hits_.empty() ? DwarfEnd::kDamaged : DwarfEnd::kLimit;
    for (const UnitHit& hit : hits_) {
      FindIn(hit, sink);
      if (budget_.is_exceeded()) break;
    }
    return budget_.is_exceeded() ? DwarfEnd::kLimit : DwarfEnd::kDone;
  }

 private:
  static constexpr uint64_t kUnitsOfPages = 256;  // after which read pages are given back

  void Open() {
    opened_.reset();
    opened_ = std::make_unique<Opened>(input_);
    held_bytes_ = HeldBytes();
  }

  // Those of `addresses` that the unit has code at and that no unit before it has.
  std::vector<uint32_t> HitsOf(Dwarf_Die* unit) {
    std::vector<uint32_t> hits;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0 && budget_.Take();) {
      if (begin == 0) continue;  // thrown away by the linker
      for (auto it = std::lower_bound(addresses_.begin(), addresses_.end(), begin); it != addresses_.end() && *it < end;
           ++it) {
        const auto index = static_cast<uint32_t>(it - addresses_.begin());
        if (!is_hit_[index]) hits.push_back(index);
        is_hit_[index] = true;
      }
    }
    std::sort(hits.begin(), hits.end());
    return hits;
  }

  // False if there are too many, or one that cannot be read.
  bool FindUnits() {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    uint8_t type = 0;
    for (uint64_t count = 0;; ++count) {
      const int next = dwarf_get_units(opened_->file.dwarf(), unit, &unit, nullptr, &type, &die, nullptr);
      if (next != 0) return next > 0;
      if (count == limits_.max_units || !budget_.Take()) return false;
      if (count % kUnitsOfPages == kUnitsOfPages - 1) opened_->file.ForgetPages();
      if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
      UnitHit hit = {.unit = dwarf_dieoffset(&die), .indices = HitsOf(&die)};
      if (!hit.indices.empty()) hits_.push_back(std::move(hit));
    }
  }

  void FindIn(const UnitHit& hit, LineSink sink) {
    if (HeldBytes() > held_bytes_ + limits_.max_held_bytes) Open();
    if (opened_->file.dwarf() == nullptr) return;
    std::vector<uint64_t> addresses;
    addresses.reserve(hit.indices.size());
    for (const uint32_t index : hit.indices) addresses.push_back(addresses_[index]);
    std::set<std::string, std::less<>> paths;
    const std::vector<LineChain> found = FindInUnit(opened_->file.dwarf(), hit.unit, addresses, budget_, paths);
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i].empty()) sink(hit.indices[i], found[i]);
    }
    opened_->file.ForgetPages();
  }

  const DwarfInput input_;
  const std::span<const uint64_t> addresses_;
  const DwarfLimits limits_;
  EntryBudget budget_;
  std::vector<bool> is_hit_;
  std::vector<UnitHit> hits_;
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
