// An ELF file that is nothing but a table of the symbols that it exports.
#ifndef OFFCPU_TESTS_RUNTIMES_SYMBOL_FILE_H_
#define OFFCPU_TESTS_RUNTIMES_SYMBOL_FILE_H_

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace offcpu {

class SymbolFile {
 public:
  // `name`: where it begins in the texts.
  void Add(size_t name, uint64_t value, uint16_t section = 1) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<uint32_t>(name);
    symbol.st_shndx = section;
    symbol.st_value = value;
    symbols_.push_back(symbol);
  }
  void Add(const std::string& name, uint64_t value, uint16_t section = 1) {
    Add(texts_.size(), value, section);
    texts_ += name + '\0';
  }
  // Makes all texts as long as that.
  void FillTexts(size_t bytes) { texts_.resize(bytes); }

  std::vector<std::byte> Bytes() const {
    const size_t symbol_bytes = symbols_.size() * sizeof(Elf64_Sym);
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shoff = sizeof(header);
    Elf64_Shdr sections[3] = {};
    const size_t begin = sizeof(header) + sizeof(sections);
    sections[1].sh_type = SHT_DYNSYM;
    sections[1].sh_offset = begin;
    sections[1].sh_size = symbol_bytes;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = begin + symbol_bytes;
    sections[2].sh_size = texts_.size();
    std::vector<std::byte> bytes(begin + symbol_bytes + texts_.size());
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), sections, sizeof(sections));
    if (symbol_bytes != 0) std::memcpy(bytes.data() + begin, symbols_.data(), symbol_bytes);
    std::memcpy(bytes.data() + begin + symbol_bytes, texts_.data(), texts_.size());
    return bytes;
  }

 private:
  std::vector<Elf64_Sym> symbols_;
  std::string texts_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_RUNTIMES_SYMBOL_FILE_H_
