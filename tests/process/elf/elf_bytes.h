// A small ELF object made by hand and a memory to put pieces of it into, for tests.
#ifndef OFFCPU_TESTS_PROCESS_ELF_ELF_BYTES_H_
#define OFFCPU_TESTS_PROCESS_ELF_ELF_BYTES_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <vector>

#include "process/elf/image.h"
#include "process/memory.h"

namespace offcpu {

// Pieces of memory at addresses; reads may not cross from one to the next.
class PieceMemory final : public Memory {
 public:
  void Put(uint64_t address, std::vector<std::byte> bytes) { pieces_[address] = std::move(bytes); }
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override {
    auto after = pieces_.upper_bound(address);
    if (after == pieces_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return SpanMemory(begin, bytes).Read(address, out);
  }

 private:
  std::map<uint64_t, std::vector<std::byte>> pieces_;
};

// The file:                                     link-time address
//   0x0000 file header, program headers         0x0000  PT_LOAD 0, R
//   0x0200 note with the build id               0x0200
//   0x0300 .eh_frame_hdr                        0x0300
//   0x0400 .eh_frame, 20 bytes                  0x0400
//   0x0500 .sframe, 28 bytes                    0x0500
//   0x1000 text, 0x500 bytes                    0x1000  PT_LOAD 1, R X
//   0x2000 data, 0x10 bytes                     0x3000  PT_LOAD 2, RW, 0x1000 bytes in memory
class ElfBytes {
 public:
  enum Segment { kHeaders, kText, kData, kNote, kEhFrameHdr, kSFrame, kSegments };

  ElfBytes() : bytes(0x3000) {
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_type = ET_DYN;
    file.e_machine = EM_X86_64;
    file.e_entry = 0x1080;
    file.e_phoff = sizeof(Elf64_Ehdr);
    file.e_phentsize = sizeof(Elf64_Phdr);
    file.e_phnum = kSegments;
    segments.resize(kSegments);
    segments[kHeaders] = {PT_LOAD, PF_R, 0, 0, 0, 0x800, 0x800, 0x1000};
    segments[kText] = {PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0x1000, 0x500, 0x500, 0x1000};
    segments[kData] = {PT_LOAD, PF_R | PF_W, 0x2000, 0x3000, 0x3000, 0x10, 0x1000, 0x1000};
    segments[kNote] = {PT_NOTE, PF_R, 0x200, 0x200, 0x200, 20, 20, 4};
    segments[kEhFrameHdr] = {PT_GNU_EH_FRAME, PF_R, 0x300, 0x300, 0x300, 12, 12, 4};
    segments[kSFrame] = {0x6474e554, PF_R, 0x500, 0x500, 0x500, 28, 28, 8};
    Put(0x200, {4,    0,    0,    0,                                // name size
                4,    0,    0,    0,                                // descriptor size
                3,    0,    0,    0,                                // NT_GNU_BUILD_ID
                'G',  'N',  'U',  0,                                // name
                0xde, 0xad, 0xbe, 0x0f});                           // descriptor
    Put(0x300, {1,                                                  // version
                0x1b,                                               // the pointer is pc-relative, four bytes, signed
                0xff, 0xff,                                         // no count, no table
                0xfc, 0, 0, 0});                                    // 0x304 + 0xfc
    Put(0x400, {12, 0, 0, 0,                                        // length of an entry
                0,  0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0});  // length of the last one
    Put(0x500, {0xe2, 0xde, 3, 0});                                 // of .sframe only the size matters here
  }

  void Put(size_t at, std::initializer_list<uint8_t> values) {
    for (uint8_t value : values) bytes[at++] = std::byte{value};
  }

  // The file with its headers.
  std::vector<std::byte> File() const {
    std::vector<std::byte> all = bytes;
    std::memcpy(all.data(), &file, sizeof(file));
    std::memcpy(all.data() + sizeof(file), segments.data(), segments.size() * sizeof(Elf64_Phdr));
    return all;
  }

  // Maps the file as the kernel would, its address 0 at `base`.
  std::vector<FileMapping> MapAt(uint64_t base, PieceMemory* memory) const {
    const std::vector<std::byte> all = File();
    auto piece = [&](uint64_t offset) {
      return std::vector<std::byte>(all.begin() + static_cast<ptrdiff_t>(offset),
                                    all.begin() + static_cast<ptrdiff_t>(offset + 0x1000));
    };
    memory->Put(base, piece(0));
    memory->Put(base + 0x1000, piece(0x1000));
    memory->Put(base + 0x3000, piece(0x2000));
    return {{base, base + 0x1000, 0, false},
            {base + 0x1000, base + 0x2000, 0x1000, true},
            {base + 0x3000, base + 0x4000, 0x2000, false}};
  }

  Elf64_Ehdr file = {};
  std::vector<Elf64_Phdr> segments;
  std::vector<std::byte> bytes;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_PROCESS_ELF_ELF_BYTES_H_
