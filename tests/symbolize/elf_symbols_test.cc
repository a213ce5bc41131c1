#include "symbolize/elf_symbols.h"

#include <elf.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

ModuleNames NamesOf(const std::string& bytes, const std::vector<uint64_t>& addresses) {
  SpanMemory memory = MemoryOf(bytes);
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok()) return ModuleNames{.names = std::vector<std::string>(addresses.size())};
  return ReadElfSymbols(*elf, addresses, FunctionStarts(*elf));
}

bool IsFull(const std::string& bytes) { return NamesOf(bytes, {0x1000}).full; }

// What is found at every address from 0xff0 to 0x107f, as "begin name" of each run. The layout is that of fixture.S.
std::vector<std::string> Runs(const std::string& bytes) {
  std::vector<uint64_t> addresses;
  for (uint64_t address = 0xff0; address < 0x1080; ++address) addresses.push_back(address);
  const std::vector<std::string> names = NamesOf(bytes, addresses).names;
  std::vector<std::string> runs;
  std::string last;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i].empty() ? "-" : names[i];
    char run[128];
    std::snprintf(run, sizeof(run), "%lx %s", addresses[i], name.c_str());
    if (name != last) runs.emplace_back(run);
    last = name;
  }
  return runs;
}

const std::vector<std::string> kAllRuns = {"ff0 -",
                                           "1000 fixture_sized",
                                           "1020 fixture_local",
                                           "1030 -",
                                           "1040 fixture_unsized",
                                           "1050 _ZN7fixture3fooEi.isra.0",
                                           "1060 fixture_last",
                                           "1070 -"};

TEST(ElfSymbolsTest, TheSymbolTableNamesAllFunctions) {
  const std::string symbols = Contents(kFull);
  EXPECT_TRUE(IsFull(symbols));
  EXPECT_EQ(Runs(symbols), kAllRuns);
}

TEST(ElfSymbolsTest, ASeparateDebugFileHasTheSame) {
  const std::string symbols = Contents(kSeparate);
  EXPECT_TRUE(IsFull(symbols));
  EXPECT_EQ(Runs(symbols), kAllRuns);
}

TEST(ElfSymbolsTest, AStrippedFileNamesWhatItExports) {
  const std::string symbols = Contents(kStripped);
  EXPECT_FALSE(IsFull(symbols));
  // Nothing says what follows those without a size: musl's memset is in front of what makes its system calls.
  EXPECT_THAT(Runs(symbols), ::testing::ElementsAre("ff0 -", "1000 fixture_sized", "1020 -"));
}

TEST(ElfSymbolsTest, DebugDataFillsInWhatWasStripped) {
  const std::string symbols = Contents(kMini);
  EXPECT_FALSE(IsFull(symbols));
  EXPECT_EQ(Runs(symbols), kAllRuns);
}

// Section headers come last in a file, so a prefix has no symbols; and with the headers moved to the front it has some.
TEST(ElfSymbolsTest, NoPrefixDoesHarm) {
  for (const char* path : {kFull, kMini}) {
    std::string whole = Contents(path);
    ASSERT_LE(whole.size(), 16384u) << path;
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(Runs(whole.substr(0, size)), std::vector<std::string>{"ff0 -"});
    Elf64_Ehdr header;
    std::memcpy(&header, whole.data(), sizeof(header));
    size_t headers_size = header.e_shnum * sizeof(Elf64_Shdr);
    std::string headers = whole.substr(header.e_shoff, headers_size);
    for (size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, headers.data() + i * sizeof(section), sizeof(section));
      section.sh_offset += headers_size;
      std::memcpy(headers.data() + i * sizeof(section), &section, sizeof(section));
    }
    header.e_shoff = sizeof(header);
    std::string front(reinterpret_cast<const char*>(&header), sizeof(header));
    std::string moved = front + headers + whole.substr(sizeof(header));
    EXPECT_EQ(Runs(moved), kAllRuns);
    for (size_t size = 0; size < moved.size(); ++size) {
      for (const std::string& run : Runs(moved.substr(0, size))) {
        EXPECT_THAT(run, ::testing::AnyOf(::testing::EndsWith(" -"), ::testing::HasSubstr("fixture"))) << size;
      }
    }
  }
}

// One symbol in one executable section at 0x1000, 0x100 bytes long.
struct OneSymbol {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[4] = {};  // null, code, symbols, strings
  Elf64_Sym symbol = {.st_name = 1,
                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                      .st_other = 0,
                      .st_shndx = 1,
                      .st_value = 0x1010,
                      .st_size = 0x20};
  char strings[16] = "\0name@@VERSION";

  OneSymbol() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = offsetof(OneSymbol, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    sections[1] = {.sh_name = 0,
                   .sh_type = SHT_NOBITS,
                   .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                   .sh_addr = 0x1000,
                   .sh_offset = 0,
                   .sh_size = 0x100};
    sections[2] = {.sh_name = 0,
                   .sh_type = SHT_SYMTAB,
                   .sh_flags = 0,
                   .sh_addr = 0,
                   .sh_offset = offsetof(OneSymbol, symbol),
                   .sh_size = sizeof(symbol),
                   .sh_link = 3};
    sections[3] = {.sh_name = 0,
                   .sh_type = SHT_STRTAB,
                   .sh_flags = 0,
                   .sh_addr = 0,
                   .sh_offset = offsetof(OneSymbol, strings),
                   .sh_size = sizeof(strings)};
  }

  std::string Find(uint64_t address) const {
    std::string bytes(reinterpret_cast<const char*>(this), sizeof(*this));
    const std::string name = NamesOf(bytes, {address}).names[0];
    return name.empty() ? "-" : name;
  }
};

TEST(ElfSymbolsTest, AVersionIsNotPartOfTheName) {
  EXPECT_EQ(OneSymbol().Find(0x1010), "name");
  EXPECT_EQ(OneSymbol().Find(0x102f), "name");
  EXPECT_EQ(OneSymbol().Find(0x1030), "-");
}

TEST(ElfSymbolsTest, ASymbolStaysInsideItsSection) {
  OneSymbol elf;
  elf.symbol.st_size = UINT64_MAX;
  EXPECT_EQ(elf.Find(0x10ff), "name");
  EXPECT_EQ(elf.Find(0x1100), "-");
  elf.symbol.st_value = 0x1100;  // one past the end
  EXPECT_EQ(elf.Find(0x1100), "-");
  elf.symbol.st_value = 0xfff;  // one before the begin
  EXPECT_EQ(elf.Find(0x1000), "-");
}

TEST(ElfSymbolsTest, ASectionThatWrapsHasNoSymbols) {
  OneSymbol elf;
  elf.sections[1].sh_addr = UINT64_MAX - 0x80;
  elf.symbol.st_value = UINT64_MAX - 0x70;
  EXPECT_EQ(elf.Find(UINT64_MAX - 0x70), "-");
}

TEST(ElfSymbolsTest, OnlyDefinedFunctionsCount) {
  OneSymbol elf;
  elf.symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  EXPECT_EQ(elf.Find(0x1010), "-");
  elf.symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC);
  EXPECT_EQ(elf.Find(0x1010), "name");
  elf.symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
  EXPECT_EQ(elf.Find(0x1010), "name");
  elf.sections[1].sh_flags = SHF_ALLOC;
  EXPECT_EQ(elf.Find(0x1010), "-");
  elf.symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  for (uint16_t section : {uint16_t{SHN_UNDEF}, uint16_t{4}, uint16_t{SHN_ABS}}) {
    elf.symbol.st_shndx = section;
    EXPECT_EQ(elf.Find(0x1010), "-") << section;
  }
}

TEST(ElfSymbolsTest, NamesMustLieInTheirTable) {
  OneSymbol elf;
  elf.symbol.st_name = 16;  // one past the table
  EXPECT_EQ(elf.Find(0x1010), "-");
  elf.symbol.st_name = UINT32_MAX;
  EXPECT_EQ(elf.Find(0x1010), "-");
  elf.symbol.st_name = 1;
  elf.sections[3].sh_size = 3;  // "\0na"
  EXPECT_EQ(elf.Find(0x1010), "na");
  elf.sections[2].sh_link = 4;  // no such section
  EXPECT_EQ(elf.Find(0x1010), "-");
}

// A file whose bytes from `hole` on have moved up by so many, with zeros between.
class FileWithAHole final : public Memory {
 public:
  FileWithAHole(std::string bytes, uint64_t hole, uint64_t size) : bytes_(std::move(bytes)), hole_(hole), size_(size) {}
  [[nodiscard]] bool Read(uint64_t offset, std::span<std::byte> out) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const uint64_t at = offset + i;
      const bool is_zero = at >= hole_ && at < hole_ + size_;
      const uint64_t from = at < hole_ ? at : at - size_;
      if (!is_zero && from >= bytes_.size()) return false;
      out[i] = is_zero ? std::byte{0} : static_cast<std::byte>(bytes_[from]);
    }
    return true;
  }

 private:
  const std::string bytes_;
  const uint64_t hole_;
  const uint64_t size_;
};

// Code at 0x1000, 0x100 bytes of it; a symbol at 0x1010 without a size; functions that begin at 0x1010 and at 0x1040,
// and perhaps an object at 0x1020.
struct Unsized {
  Elf64_Ehdr header = {};
  Elf64_Shdr sections[5] = {};  // null, code, symbols, strings, .eh_frame_hdr
  Elf64_Sym symbols[2] = {{.st_name = 1,
                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                           .st_other = 0,
                           .st_shndx = 1,
                           .st_value = 0x1010,
                           .st_size = 0},
                          {.st_name = 6,
                           .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                           .st_other = 0,
                           .st_shndx = SHN_UNDEF,
                           .st_value = 0x1020,
                           .st_size = 0}};
  char strings[32] = "\0name\0it\0.eh_frame_hdr";
  // Version, encodings; .eh_frame; the number of entries; entries, from where this is on.
  uint32_t starts[7] = {0x3b031b01, 0, 2, 0x1010u - 0x4000u, 0, 0x1040u - 0x4000u, 0};

  explicit Unsized(uint32_t type) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shoff = offsetof(Unsized, sections);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 5;
    header.e_shstrndx = 3;
    Put(1, SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, 0, 0x100);
    Put(2, type, 0, 0, offsetof(Unsized, symbols), sizeof(symbols));
    sections[2].sh_link = 3;
    Put(3, SHT_STRTAB, 0, 0, offsetof(Unsized, strings), sizeof(strings));
    Put(4, SHT_PROGBITS, SHF_ALLOC, 0x4000, offsetof(Unsized, starts), sizeof(starts));
    sections[4].sh_name = 9;
  }
  void Put(int index, uint32_t type, uint64_t flags, uint64_t address, uint64_t offset, uint64_t size) {
    sections[index].sh_type = type;
    sections[index].sh_flags = flags;
    sections[index].sh_addr = address;
    sections[index].sh_offset = offset;
    sections[index].sh_size = size;
  }
  std::string Bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  // The last address that the symbol names, 0 if it names none.
  uint64_t Last() const {
    std::vector<uint64_t> addresses;
    for (uint64_t address = 0x1000; address < 0x1110; ++address) addresses.push_back(address);
    const std::vector<std::string> names = NamesOf(Bytes(), addresses).names;
    uint64_t last = 0;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!names[i].empty()) last = addresses[i];
    }
    return last;
  }
};

TEST(ElfSymbolsTest, ASymbolWithoutASizeEndsWhereAFunctionBegins) {
  Unsized elf(SHT_SYMTAB);
  EXPECT_EQ(elf.Last(), 0x103fu);
  elf.symbols[1].st_shndx = 1;
  EXPECT_EQ(elf.Last(), 0x101fu) << "whatever begins there";
  elf.symbols[1].st_shndx = SHN_UNDEF;
  elf.starts[2] = 1;
  EXPECT_EQ(elf.Last(), 0x10ffu) << "with its section";
}

TEST(ElfSymbolsTest, ASymbolWithoutASizeInAFileThatHasNotAll) {
  Unsized elf(SHT_DYNSYM);
  EXPECT_EQ(elf.Last(), 0x103fu) << "a function that begins with it";
  elf.starts[3] -= 8;
  EXPECT_EQ(elf.Last(), 0u) << "something else may have begun meanwhile";
}

TEST(FunctionStartsTest, AreThoseOfTheSearchTable) {
  Unsized file(SHT_SYMTAB);
  const auto before = [&file](uint64_t address) -> std::optional<uint64_t> {
    const std::string bytes = file.Bytes();
    const SpanMemory memory = MemoryOf(bytes);
    const auto elf = ElfFile::Parse(memory);
    return elf.ok() ? FunctionStarts(*elf).Before(address) : 0;
  };
  EXPECT_EQ(before(0x100f), std::nullopt);
  EXPECT_EQ(before(0x1010), 0x1010u);
  EXPECT_EQ(before(0x103f), 0x1010u);
  EXPECT_EQ(before(0x1040), 0x1040u);
  EXPECT_EQ(before(UINT64_MAX), 0x1040u);
  file.sections[4].sh_size -= 4;
  EXPECT_EQ(before(0x1040), 0x1010u) << "half an entry is none";
  for (const uint64_t size : {11, 12}) {
    file.sections[4].sh_size = size;
    EXPECT_EQ(before(0x1040), std::nullopt) << size;
  }
  file.sections[4].sh_size = sizeof(file.starts);
  file.starts[0] = 0x3a031b01;
  EXPECT_EQ(before(0x1040), std::nullopt) << "another form";
}

TEST(ElfSymbolsTest, HalfASymbolIsNone) {
  OneSymbol elf;
  elf.sections[2].sh_size = sizeof(Elf64_Sym) - 1;
  EXPECT_EQ(elf.Find(0x1010), "-");
  elf.sections[2].sh_size = sizeof(Elf64_Sym) + 1;
  EXPECT_EQ(elf.Find(0x1010), "name");
}

// Tables are searched a piece at a time, whatever their size. This one has 65 MiB of nothing in front of its symbols.
TEST(ElfSymbolsTest, LargeTableOfSymbolsIsSearched) {
  constexpr uint64_t kHole = (65 << 20) / sizeof(Elf64_Sym) * sizeof(Elf64_Sym);
  Unsized elf(SHT_SYMTAB);
  elf.sections[2].sh_size += kHole;
  for (const int behind : {3, 4}) elf.sections[behind].sh_offset += kHole;
  const FileWithAHole memory(elf.Bytes(), offsetof(Unsized, symbols), kHole);
  const auto file = ElfFile::Parse(memory);
  ASSERT_TRUE(file.ok());
  const std::vector<uint64_t> addresses = {0x1010};
  const ModuleNames found = ReadElfSymbols(*file, addresses, FunctionStarts(*file));
  EXPECT_EQ(found.names[0], "name");
  EXPECT_FALSE(found.unread);
}

TEST(ElfSymbolsTest, TableBeyondTheLimitIsUnread) {
  Unsized elf(SHT_SYMTAB);
  elf.sections[2].sh_size = kMaxSymbolTableBytes + 1;
  const ModuleNames found = NamesOf(elf.Bytes(), {0x1010});
  EXPECT_EQ(found.names[0], "");
  EXPECT_TRUE(found.unread);
  EXPECT_FALSE(found.full);
}

}  // namespace
}  // namespace offcpu
