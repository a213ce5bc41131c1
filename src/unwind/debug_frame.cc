#include "unwind/debug_frame.h"

#include <dwarf.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "unwind/byte_reader.h"

namespace offcpu {
namespace {

constexpr uint32_t kCieId = 0xffffffff;  // in .debug_frame; 0 in .eh_frame
constexpr uint8_t kVersionOut = 3;
constexpr uint8_t kAddressBytes = 8;

class Converter {
 public:
  std::optional<std::vector<std::byte>> Run(std::span<const std::byte> table) {
    ByteReader in(table);
    while (!in.empty()) {
      const uint32_t at = static_cast<uint32_t>(in.position());
      const uint32_t length = in.Take<uint32_t>();  // those of 64 bits are longer than any table
      if (!in.ok() || length > in.rest().size()) return std::nullopt;
      ByteReader entry(in.rest().first(length));
      const uint32_t id = entry.Take<uint32_t>();
      if (entry.ok() && id == kCieId) AddCie(at, entry);
      if (entry.ok() && id != kCieId) AddFde(id, entry);
      in.Skip(length);
    }
    return std::move(out_);
  }

 private:
  void AddCie(uint32_t at, ByteReader& in) {
    const uint8_t version = in.Take<uint8_t>();
    if (version != 1 && version != 3 && version != 4) return;
    bool signal = false;
    uint8_t letter = in.Take<uint8_t>();
    if (letter == 'S') {  // what GNU as writes there for a signal trampoline
      signal = true;
      letter = in.Take<uint8_t>();
    }
    if (letter != 0) return;
    if (version == 4) {
      const uint8_t address_bytes = in.Take<uint8_t>();
      const uint8_t segment_bytes = in.Take<uint8_t>();
      if (address_bytes != kAddressBytes || segment_bytes != 0) return;
    }
    const std::span<const std::byte> from_alignments = in.rest();
    const size_t alignments_at = in.position();
    in.TakeUleb();
    in.TakeUleb();  // signed, but as long
    const std::span<const std::byte> alignments = from_alignments.first(in.position() - alignments_at);
    const uint64_t return_register = version == 1 ? in.Take<uint8_t>() : in.TakeUleb();
    if (!in.ok() || return_register > 0x7f) return;  // one byte
    cies_[at] = Begin();
    Add(uint32_t{0});
    Add(kVersionOut);
    for (const char c : {'z', 'R', 'S'}) {
      if (c != 'S' || signal) Add(c);
    }
    Add('\0');
    Add(alignments);
    Add(static_cast<uint8_t>(return_register));
    Add(uint8_t{1});                // bytes of data, for R:
    Add(uint8_t{DW_EH_PE_udata8});  // addresses as they are
    Add(in.rest());
    End();
  }

  void AddFde(uint32_t cie_at, ByteReader& in) {
    const auto cie = cies_.find(cie_at);
    const uint64_t begin = in.Take<uint64_t>();
    const uint64_t size = in.Take<uint64_t>();
    if (cie == cies_.end() || !in.ok() || begin == 0) return;
    Begin();
    Add(static_cast<uint32_t>(out_.size() - cie->second));
    Add(begin);
    Add(size);
    Add(uint8_t{0});  // no data
    Add(in.rest());
    End();
  }

  // Returns where the entry begins.
  size_t Begin() {
    begin_ = out_.size();
    Add(uint32_t{0});
    return begin_;
  }
  void End() {
    const uint32_t length = static_cast<uint32_t>(out_.size() - begin_ - sizeof(uint32_t));
    const auto bytes = std::as_bytes(std::span(&length, 1));
    std::copy(bytes.begin(), bytes.end(), out_.begin() + static_cast<ptrdiff_t>(begin_));
  }
  template <typename T>
  void Add(const T& value) {
    Add(std::as_bytes(std::span(&value, 1)));
  }
  void Add(std::span<const std::byte> bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> out_;
  size_t begin_ = 0;                            // of the entry that is being written
  absl::flat_hash_map<uint32_t, size_t> cies_;  // where one was: where it is now
};

}  // namespace

std::optional<std::vector<std::byte>> DebugFrameAsEhFrame(std::span<const std::byte> debug_frame) {
  return Converter().Run(debug_frame);
}

}  // namespace offcpu
