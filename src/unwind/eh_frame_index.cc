#include "unwind/eh_frame_index.h"

#include <dwarf.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "process/elf/eh_frame_hdr.h"
#include "unwind/byte_reader.h"
#include "unwind/cfi_check.h"

namespace offcpu {
namespace {

struct Cie {
  uint8_t encoding = DW_EH_PE_absptr;  // of the addresses in its FDEs
  bool sized = false;                  // its FDEs have augmentation data with a length
  bool signal = false;                 // its FDEs are of signal trampolines
};

// The size of a value in this pointer format, 0 if it has none that is fixed.
size_t FormatSize(const Machine& machine, uint8_t encoding) {
  switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
      return machine.word_bytes;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
      return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
      return 4;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return 8;
    default:
      return 0;
  }
}

uint64_t TakeFormat(const Machine& machine, ByteReader& in, uint8_t encoding) {
  switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
      return machine.word_bytes == 4 ? in.Take<uint32_t>() : in.Take<uint64_t>();
    case DW_EH_PE_udata2:
      return in.Take<uint16_t>();
    case DW_EH_PE_sdata2:
      return static_cast<uint64_t>(int64_t{in.Take<int16_t>()});
    case DW_EH_PE_udata4:
      return in.Take<uint32_t>();
    case DW_EH_PE_sdata4:
      return static_cast<uint64_t>(int64_t{in.Take<int32_t>()});
    default:
      return in.Take<uint64_t>();
  }
}

bool KnownFdeEncoding(const Machine& machine, uint8_t encoding) {
  const uint8_t base = encoding & 0xf0;
  return FormatSize(machine, encoding) != 0 && (base == DW_EH_PE_absptr || base == DW_EH_PE_pcrel);
}

// The augmentation data of a CIE, which `letters` explain.
bool TakeAugmentation(const Machine& machine, std::string_view letters, ByteReader& in, Cie* cie) {
  for (char letter : letters) {
    uint8_t encoding = 0;
    switch (letter) {
      case 'S':  // has no data
        cie->signal = true;
        break;
      case 'L':
        in.Skip(1);
        break;
      case 'R':
        cie->encoding = in.Take<uint8_t>();
        if (!KnownFdeEncoding(machine, cie->encoding)) return false;
        break;
      case 'P':
        encoding = in.Take<uint8_t>();
        if (FormatSize(machine, encoding) == 0 || (encoding & 0x70) == DW_EH_PE_aligned) return false;
        in.Skip(FormatSize(machine, encoding));
        break;
      default:
        return false;
    }
  }
  return in.ok();
}

std::string_view TakeString(ByteReader& in) {
  std::span<const std::byte> rest = in.rest();
  auto end = std::find(rest.begin(), rest.end(), std::byte{0});
  const size_t size = static_cast<size_t>(end - rest.begin());
  in.Skip(size + 1);
  return in.ok() ? std::string_view(reinterpret_cast<const char*>(rest.data()), size) : std::string_view();
}

// `body`: the entry behind its length and its id.
std::optional<Cie> ParseCie(const Machine& machine, std::span<const std::byte> body) {
  Cie cie;
  ByteReader in(body);
  const uint8_t version = in.Take<uint8_t>();
  if (version != 1 && version != 3) return std::nullopt;
  std::string_view letters = TakeString(in);
  in.TakeUleb();  // code alignment
  in.TakeUleb();  // data alignment; signed, but as long
  const uint64_t return_register = version == 1 ? in.Take<uint8_t>() : in.TakeUleb();
  if (!in.ok() || return_register != machine.ra) return std::nullopt;
  cie.sized = letters.starts_with('z');
  if (!cie.sized && !letters.empty()) return std::nullopt;
  if (cie.sized) {
    const uint64_t size = in.TakeUleb();
    if (!in.ok() || size > in.rest().size()) return std::nullopt;
    ByteReader data(in.rest().first(size));
    if (!TakeAugmentation(machine, letters.substr(1), data, &cie)) return std::nullopt;
    in.Skip(size);
  }
  if (!CfiWellFormed(machine, in.rest(), kMaxCieRegister)) return std::nullopt;
  return cie;
}

// `address`: of the body, which is the entry behind its length and its CIE pointer.
std::optional<FdeSpan> ParseFde(const Machine& machine, const Cie& cie, std::span<const std::byte> body,
                                uint64_t address) {
  FdeSpan fde;
  fde.signal = cie.signal;
  ByteReader in(body);
  fde.begin = TakeFormat(machine, in, cie.encoding);
  if ((cie.encoding & 0xf0) == DW_EH_PE_pcrel) fde.begin += address;
  fde.end = fde.begin + TakeFormat(machine, in, cie.encoding);
  if (cie.sized) {
    const uint64_t size = in.TakeUleb();
    in.Skip(size);
  }
  if (!in.ok() || fde.end < fde.begin || !CfiWellFormed(machine, in.rest())) return std::nullopt;
  return fde;
}

class Indexer {
 public:
  Indexer(const ModuleTable& table, const Machine& machine, const ModuleTable& header)
      : table_(table),
        machine_(machine),
        search_(EhFrameSearch::Of(header)),
        chain_at_(EhFrameAddress(header).value_or(table.address) - table.address) {}

  std::optional<EhFrameIndex> Run() {
    if (search_.size() > kMaxFdes) return std::nullopt;
    AddSearched();
    if (!AddChain() && search_.size() == 0) return std::nullopt;
    if (index_.fdes.size() > kMaxFdes) return std::nullopt;
    Sort(index_.fdes);
    return std::move(index_);
  }

 private:
  // What the search table names.
  void AddSearched() {
    std::vector<FdeSpan> fdes;
    for (size_t i = 0; i < search_.size(); ++i) {
      const EhFrameSearch::Entry entry = search_.At(i);
      const std::optional<FdeSpan> fde = FdeAt(entry.fde - table_.address);
      if (!fde || fde->begin != entry.begin) {
        ++index_.bad_entries;
      } else if (fde->begin < fde->end) {
        fdes.push_back(*fde);
      }
    }
    Sort(fdes);
    index_.fdes = std::move(fdes);
    searched_ = index_.fdes.size();
  }

  // The entries that follow one another up to a zero. False if the chain is broken.
  bool AddChain() {
    if (chain_at_ > table_.bytes.size()) return false;
    if (search_.size() == 0) index_.fdes.reserve(std::min(CountEntries(table_.bytes), kMaxFdes + 1));
    for (size_t at = chain_at_; at < table_.bytes.size();) {
      const std::optional<std::span<const std::byte>> entry = EntryAt(at);
      if (!entry) return false;
      if (entry->empty()) break;
      AddOfChain(at, *entry);
      at += sizeof(uint32_t) + entry->size();
      if (index_.fdes.size() > kMaxFdes) break;
    }
    return true;
  }

  // An entry behind its length, which is at `at`; empty if it ends the chain. Nothing if it is not all there.
  std::optional<std::span<const std::byte>> EntryAt(size_t at) const {
    if (at > table_.bytes.size()) return std::nullopt;
    ByteReader in(std::span(table_.bytes).subspan(at));
    const uint32_t length = in.Take<uint32_t>();
    if (!in.ok() || length > in.rest().size()) return std::nullopt;
    if (length != 0 && length < sizeof(uint32_t)) return std::nullopt;
    return in.rest().first(length);
  }

  void AddOfChain(size_t at, std::span<const std::byte> entry) {
    if (ByteReader(entry).Take<uint32_t>() == 0) {
      if (CieAt(at) == nullptr) ++index_.bad_entries;
      return;
    }
    const std::optional<FdeSpan> fde = FdeAt(at);
    if (!fde) {
      index_.bad_entries += search_.size() == 0 ? 1 : 0;
    } else if (fde->begin < fde->end && !IsSearched(*fde)) {  // what a linker has thrown away leaves empty ones
      index_.fdes.push_back(*fde);
    }
  }

  // Does the search table describe some of this code?
  bool IsSearched(const FdeSpan& fde) const {
    const auto end = index_.fdes.begin() + static_cast<ptrdiff_t>(searched_);
    const auto after = std::lower_bound(index_.fdes.begin(), end, fde.end,
                                        [](const FdeSpan& one, uint64_t address) { return one.begin < address; });
    return after != index_.fdes.begin() && std::prev(after)->end > fde.begin;
  }

  // The CIE at `at`; null if there is none that can be used.
  const Cie* CieAt(uint64_t at) {
    const auto known = cies_.find(at);
    if (known != cies_.end()) return known->second ? &*known->second : nullptr;
    std::optional<Cie> cie;
    const std::optional<std::span<const std::byte>> entry = EntryAt(at);
    if (entry && !entry->empty()) {
      ByteReader in(*entry);
      if (in.Take<uint32_t>() == 0) cie = ParseCie(machine_, in.rest());
    }
    const std::optional<Cie>& kept = cies_.emplace(at, cie).first->second;
    return kept ? &*kept : nullptr;
  }

  // The description at `at`; nothing if it is damaged, or of an unknown kind.
  std::optional<FdeSpan> FdeAt(uint64_t at) {
    const std::optional<std::span<const std::byte>> entry = EntryAt(at);
    if (!entry || entry->empty()) return std::nullopt;
    ByteReader in(*entry);
    const uint32_t id = in.Take<uint32_t>();
    const uint64_t id_at = at + sizeof(uint32_t);
    // The id of an FDE is the distance back to its CIE, which GNU tools always put before it.
    const Cie* cie = id != 0 && id <= id_at ? CieAt(id_at - id) : nullptr;
    if (cie == nullptr) return std::nullopt;
    std::optional<FdeSpan> fde = ParseFde(machine_, *cie, in.rest(), table_.address + id_at + sizeof(uint32_t));
    if (fde) fde->offset = static_cast<uint32_t>(at);
    return fde;
  }

  void Sort(std::vector<FdeSpan>& fdes) {
    std::stable_sort(fdes.begin(), fdes.end(), [](const FdeSpan& a, const FdeSpan& b) { return a.begin < b.begin; });
    uint64_t end = 0;
    const size_t count = fdes.size();
    std::erase_if(fdes, [&end](const FdeSpan& fde) {
      if (fde.begin < end) return true;
      end = fde.end;
      return false;
    });
    index_.bad_entries += count - fdes.size();
  }

  const ModuleTable& table_;
  const Machine& machine_;
  const EhFrameSearch search_;
  const uint64_t chain_at_;  // offset; large if it is not in the table
  EhFrameIndex index_;
  size_t searched_ = 0;  // how many of the index the search table has named: its front
  absl::flat_hash_map<uint64_t, std::optional<Cie>> cies_;  // by offset
};

}  // namespace

size_t CountEntries(std::span<const std::byte> table) {
  ByteReader in(table);
  size_t count = 0;
  while (!in.empty()) {
    const uint32_t length = in.Take<uint32_t>();
    if (!in.ok() || length == 0 || length > in.rest().size()) break;
    in.Skip(length);
    ++count;
  }
  return count;
}

std::optional<EhFrameIndex> IndexEhFrame(const ModuleTable& table, const Machine& machine, const ModuleTable& header) {
  return Indexer(table, machine, header).Run();
}

}  // namespace offcpu
