#include "recorder/own_vdso.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kKind = 0x99;  // which of the kernel's vDSOs
constexpr uint64_t kElsewhere = 0x7ffd'1234'0000;

// Where the kernel has mapped ours.
uint64_t OwnVdso() { return getauxval(AT_SYSINFO_EHDR); }

CodeMapping VdsoAt(uint64_t begin) {
  return {.begin = begin, .end = begin + 0x1000, .offset = kKind, .device = kVdsoDevice};
}

// What is learned if the kernel says this of our own process.
void Learn(const std::vector<CodeMapping>& mappings, SharedFiles& files) {
  ModuleCache modules;
  const auto describe = [&mappings](pid_t tid) {
    EXPECT_EQ(tid, getpid());
    return ProcessVersion{.process = {.pid = tid}, .code = {.sequence = 2, .hash = 11}, .mappings = mappings};
  };
  LearnOwnVdso(describe, modules, files);
}

TEST(OwnVdso, IsThatOfTargets) {
  ASSERT_NE(OwnVdso(), 0u);
  SharedFiles files(10);
  EXPECT_FALSE(files.Compose({VdsoAt(kElsewhere)}, nullptr).whole);
  Learn({{.begin = 0x1000, .end = 0x2000, .inode = 5, .device = 6, .changed_ns = 7}, VdsoAt(OwnVdso())}, files);
  EXPECT_EQ(files.pieces(), 1u) << "nothing else is learned";

  const ComposedCode composed = files.Compose({VdsoAt(kElsewhere)}, nullptr);
  ASSERT_TRUE(composed.whole);
  const MappedCode& code = composed.code.front();
  EXPECT_EQ(code.begin, kElsewhere);
  EXPECT_EQ(code.end, kElsewhere + 0x1000);
  EXPECT_EQ(code.bias, kElsewhere) << "it is linked at 0";
  ASSERT_NE(code.module, nullptr);
  EXPECT_EQ(code.module->path, "[vdso]");

  CodeMapping other_kind = VdsoAt(kElsewhere);
  other_kind.offset += 1;
  EXPECT_FALSE(files.Compose({other_kind}, nullptr).whole);
}

// By what the kernel has mapped, read as our own memory.
TEST(OwnVdso, HasItsTable) {
  SharedFiles files(10);
  Learn({VdsoAt(OwnVdso())}, files);
  const std::optional<MappedCode> code = files.Find(VdsoAt(kElsewhere));
  ASSERT_TRUE(code.has_value());
  const auto* base = reinterpret_cast<const std::byte*>(OwnVdso());
  const auto* elf = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const std::span headers(reinterpret_cast<const ElfW(Phdr)*>(base + elf->e_phoff), elf->e_phnum);
  const auto header =
      std::find_if(headers.begin(), headers.end(), [](const auto& h) { return h.p_type == PT_GNU_EH_FRAME; });
  ASSERT_NE(header, headers.end());
  // Its second word tells where .eh_frame is, from that word on.
  const uint64_t word = header->p_vaddr + 4;
  const uint64_t eh_frame = word + static_cast<uint64_t>(int64_t{*reinterpret_cast<const int32_t*>(base + word)});
  const ModuleTable& table = code->module->tables().eh_frame;
  EXPECT_EQ(table.address, eh_frame);
  ASSERT_FALSE(table.bytes.empty());
  EXPECT_EQ(std::memcmp(table.bytes.data(), base + eh_frame, table.bytes.size()), 0);
}

TEST(OwnVdso, IsNotLearnedWhereTheKernelDoesNotTellIt) {
  CodeMapping without_kind = VdsoAt(OwnVdso());
  without_kind.device = 0;
  for (const std::vector<CodeMapping>& mappings :
       {std::vector<CodeMapping>{}, {without_kind}, {VdsoAt(OwnVdso() - 0x100'0000)}}) {
    SharedFiles files(10);
    Learn(mappings, files);
    EXPECT_EQ(files.pieces(), 0u);
  }
  SharedFiles files(10);
  ModuleCache modules;
  LearnOwnVdso([](pid_t) { return std::nullopt; }, modules, files);
  EXPECT_EQ(files.pieces(), 0u);
}

}  // namespace
}  // namespace offcpu
