#include "tests/unwind/sframe_object.h"

#include <fcntl.h>
#include <gelf.h>

#include <string_view>

namespace offcpu {
namespace {

constexpr uint32_t kShtGnuSFrame = 0x6ffffff4;

void ReadSections(Elf* elf, SFrameObject* object) {
  size_t names = 0;
  elf_getshdrstrndx(elf, &names);
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    const bool is_eh_frame = name != nullptr && std::string_view(name) == ".eh_frame";
    if (header.sh_type != kShtGnuSFrame && !is_eh_frame) continue;
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const std::byte* bytes = static_cast<const std::byte*>(data->d_buf);
    ModuleTable& table = is_eh_frame ? object->eh_frame : object->table;
    table.address = header.sh_addr;
    table.bytes.assign(bytes, bytes + data->d_size);
  }
}

void ReadSegments(Elf* elf, SFrameObject* object) {
  size_t count = 0;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    object->code.push_back({header.p_vaddr, header.p_vaddr + header.p_memsz});
  }
}

}  // namespace

SFrameObject ReadSFrameObject(const std::string& path) {
  SFrameObject object;
  elf_version(EV_CURRENT);
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf* elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  GElf_Ehdr header;
  if (gelf_getehdr(elf, &header) == nullptr) return object;
  object.relocatable = header.e_type == ET_REL;
  ReadSections(elf, &object);
  ReadSegments(elf, &object);
  elf_end(elf);
  return object;
}

std::string SFrameFixture(const std::string& name) { return OFFCPU_SOURCE_DIR "/tests/unwind/fixtures/sframe/" + name; }

std::string SFrameProgram(const std::string& name) {
  return OFFCPU_SOURCE_DIR "/tests/targets/sframe_fixtures/" + name;
}

}  // namespace offcpu
