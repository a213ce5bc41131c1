#include "runtimes/go/go.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "process/memory.h"

namespace offcpu {
namespace {

// An ELF file of sections that are mapped, with their names behind one another in the last one.
std::string FileOf(const std::vector<std::pair<std::string, std::string>>& contents) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_shentsize = sizeof(Elf64_Shdr);
  std::vector<Elf64_Shdr> sections(1);
  std::string names(1, '\0');
  std::string bytes(sizeof(header), '\0');
  const auto add = [&](uint32_t type, const std::string& name, const std::string& content) {
    sections.push_back({.sh_name = static_cast<uint32_t>(names.size()),
                        .sh_type = type,
                        .sh_flags = type == SHT_STRTAB ? 0u : SHF_ALLOC,
                        .sh_addr = 0x400000 + bytes.size(),
                        .sh_offset = bytes.size(),
                        .sh_size = content.size()});
    bytes += content;
    names += name + '\0';
  };
  for (const auto& [name, content] : contents) add(SHT_PROGBITS, name, content);
  add(SHT_STRTAB, "", names);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);
  header.e_shoff = bytes.size();
  bytes.append(reinterpret_cast<const char*>(sections.data()), sections.size() * sizeof(Elf64_Shdr));
  std::memcpy(bytes.data(), &header, sizeof(header));
  return bytes;
}

template <typename T>
void Put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// runtime.goexit, of 0x20 bytes at 0x401000, which never has a frame; as Go 1.18 and later write it.
std::string Table() {
  std::string bytes;
  Put<uint32_t>(bytes, 0xfffffff1);
  Put<uint16_t>(bytes, 0);  // padding
  Put<uint8_t>(bytes, 1);   // instructions are of whole bytes
  Put<uint8_t>(bytes, 8);   // bytes of a pointer
  Put<uint64_t>(bytes, 1);  // functions
  Put<uint64_t>(bytes, 0);  // files
  Put<uint64_t>(bytes, 0x401000);
  Put<uint64_t>(bytes, 0x48);  // where names begin
  Put<uint64_t>(bytes, 0);     // compilation units
  Put<uint64_t>(bytes, 0);     // file names
  Put<uint64_t>(bytes, 0x58);  // where pc tables begin
  Put<uint64_t>(bytes, 0x60);  // where the functions begin
  bytes += std::string("runtime.goexit\0\0", 16);
  bytes += std::string("\0\x02\x20\0\0\0\0\0", 8);                              // at 1: a depth of 0 for 0x20 bytes
  for (const uint32_t word : {0u, 12u, 0x20u}) Put<uint32_t>(bytes, word);      // entry, record; the end
  for (const uint32_t word : {0u, 0u, 0u, 0u, 1u}) Put<uint32_t>(bytes, word);  // entry, name, ..., the pc table
  return bytes;
}

class GoTest : public ::testing::Test {
 protected:
  bool Read(const std::vector<std::pair<std::string, std::string>>& sections) {
    const std::string bytes = FileOf(sections);
    const SpanMemory memory(0, std::as_bytes(std::span(bytes)));
    return ReadGoModule(*ElfFile::Parse(memory), &module_);
  }

  Module module_;
};

TEST_F(GoTest, ItsTableSaysWhereThereIsNoFrameAndWhereStacksBegin) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
    module_ = Module();
    EXPECT_TRUE(Read({{".note.go.buildid", "an id"}, {".text", "code"}, {name, Table()}}));
    EXPECT_EQ(module_.language, "go");
    EXPECT_TRUE(module_.keeps_frame_pointer);
    EXPECT_EQ(module_.without_frames, (std::vector<CodeRange>{{0x401000, 0x401020}})) << name;
    EXPECT_EQ(module_.landmarks, (std::vector<StackLandmark>{{.code = {0x401000, 0x401020}}}));
    EXPECT_EQ(module_.memory.bytes(), sizeof(CodeRange));
  }
}

TEST_F(GoTest, WithoutTheNoteOfItsLinkerItIsAnotherLanguages) {
  EXPECT_FALSE(Read({{".note.go.builds", "an id"}, {".text", "code"}, {".gopclntab", Table()}}));
  EXPECT_EQ(module_.language, "native");
  EXPECT_FALSE(module_.keeps_frame_pointer);
  EXPECT_TRUE(module_.without_frames.empty());
}

TEST_F(GoTest, WithoutATableItsCodeKeepsAFramePointerAllTheSame) {
  EXPECT_TRUE(Read({{".note.go.buildid", "an id"}, {".text", "code"}}));
  EXPECT_TRUE(module_.keeps_frame_pointer);
  EXPECT_TRUE(module_.without_frames.empty());
  EXPECT_TRUE(module_.landmarks.empty());
}

TEST_F(GoTest, ItsTableIsReadOnlyIfThereIsRoom) {
  const size_t most = Table().size() + 2 * sizeof(CodeRange);
  for (const size_t room : {Table().size() - 1, most * 8}) {
    module_ = Module();
    constexpr size_t kShare = MemoryBudget::kShare;
    module_.memory = MemoryLease(std::make_shared<MemoryBudget>(room + room / kShare + 1), 1000);
    EXPECT_TRUE(Read({{".note.go.buildid", "an id"}, {".text", "code"}, {".gopclntab", Table()}}));
    EXPECT_EQ(module_.over_budget, room < most);
    EXPECT_EQ(module_.without_frames.empty(), room < most);
  }
}

}  // namespace
}  // namespace offcpu
