#include "unwind/eh_frame_index.h"

#include <dwarf.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/container/flat_hash_map.h"
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
  if (!CfiWellFormed(in.rest(), kMaxCieRegister)) return std::nullopt;
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
  if (!in.ok() || fde.end < fde.begin || !CfiWellFormed(in.rest())) return std::nullopt;
  return fde;
}

class Indexer {
 public:
  Indexer(const ModuleTable& table, const Machine& machine) : table_(table), machine_(machine) {}

  std::optional<EhFrameIndex> Run() {
    ByteReader in(table_.bytes);
    index_.fdes.reserve(std::min(CountEntries(table_.bytes), kMaxFdes + 1));
    while (!in.empty()) {
      const size_t at = in.position();
      const uint32_t length = in.Take<uint32_t>();
      if (in.ok() && length == 0) break;
      if (!in.ok() || length < sizeof(uint32_t) || length > in.rest().size()) return std::nullopt;
      Entry(at, in.rest().first(length));
      in.Skip(length);
      if (index_.fdes.size() > kMaxFdes) return std::nullopt;
    }
    Sort();
    return std::move(index_);
  }

 private:
  // `entry`: behind its length, which is at `at`.
  void Entry(size_t at, std::span<const std::byte> entry) {
    ByteReader in(entry);
    const uint32_t id = in.Take<uint32_t>();
    const size_t id_at = at + sizeof(uint32_t);
    if (id == 0) {
      std::optional<Cie> cie = ParseCie(machine_, in.rest());
      if (cie) cies_[at] = *cie;
      if (!cie) ++index_.bad_entries;
      return;
    }
    // The id of an FDE is the distance back to its CIE, which GNU tools always put before it.
    auto cie = id <= id_at ? cies_.find(id_at - id) : cies_.end();
    std::optional<FdeSpan> fde;
    if (cie != cies_.end()) fde = ParseFde(machine_, cie->second, in.rest(), table_.address + id_at + sizeof(uint32_t));
    if (!fde) {
      ++index_.bad_entries;
    } else if (fde->begin < fde->end) {  // what a linker has thrown away leaves empty ones
      fde->offset = static_cast<uint32_t>(at);
      index_.fdes.push_back(*fde);
    }
  }

  void Sort() {
    std::vector<FdeSpan>& fdes = index_.fdes;
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
  EhFrameIndex index_;
  absl::flat_hash_map<size_t, Cie> cies_;  // by offset
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

std::optional<EhFrameIndex> IndexEhFrame(const ModuleTable& table, const Machine& machine) {
  return Indexer(table, machine).Run();
}

}  // namespace offcpu
