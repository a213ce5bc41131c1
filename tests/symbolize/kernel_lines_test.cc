#include "symbolize/kernel_lines.h"

#include <elf.h>
#include <sys/utsname.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profile/losses.h"
#include "symbolize/symbolizer.h"
#include "tests/source_lines/fixtures.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kBegin = 0xffff'ffff'9b00'0000;  // of the kernel's code

std::string NotesWith(const std::string& build_id) {
  const std::string bytes = absl::HexStringToBytes(build_id);
  const Elf64_Nhdr header = {.n_namesz = 4, .n_descsz = static_cast<uint32_t>(bytes.size()), .n_type = NT_GNU_BUILD_ID};
  std::string note(sizeof(header), '\0');
  std::memcpy(note.data(), &header, sizeof(header));
  return note + std::string("GNU\0", 4) + bytes;
}

std::string Kallsyms(uint64_t begin, uint64_t end) {
  return absl::StrCat(absl::Hex(begin, absl::kZeroPad16), " T _text\n", absl::Hex(begin, absl::kZeroPad16),
                      " T _stext\n", absl::Hex(begin + 1, absl::kZeroPad16), " t kernel_run\n",
                      absl::Hex(end, absl::kZeroPad16), " T _etext\nffffffffc0000000 t of_module\t[module]\n");
}

// fixture.cc of source_lines as the kernel, which has moved its code to kBegin.
class KernelLinesTest : public ::testing::Test {
 protected:
  KernelLinesTest() {
    const std::string bytes = LinesFixture("gcc-5.so");
    const SpanMemory memory = MemoryOf(bytes);
    const auto elf = ElfFile::Parse(memory);
    EXPECT_TRUE(elf.ok());
    const ElfSection* text = elf->Find(".text");
    text_ = text->address;
    end_ = kBegin + text->size;
    directory_.Write("kallsyms", Kallsyms(kBegin, end_));
    directory_.Write("notes", NotesWith(id_));
    struct utsname system = {};
    EXPECT_EQ(uname(&system), 0);
    release_ = system.release;
  }

  uint64_t AddressInMemory(const std::string& symbol) const { return AddressOf("gcc-5.so", symbol) - text_ + kBegin; }

  SymbolizerOptions Options() const {
    return {.kallsyms_path = directory_.path() + "/kallsyms",
            .kernel_notes_path = directory_.path() + "/notes",
            .debug_directory = directory_.path() + "/debug",
            .lines = true};
  }

  // "FUNCTION LINE", innermost first, of the frame whose call is at `address`.
  std::vector<std::string> LinesAt(uint64_t address, const SymbolizerOptions& options) {
    Profile profile;
    profile.kernel_stacks.push_back({.id = 1, .addresses = {address + 1}});
    NamedProfile named = Symbolize(std::move(profile), options);
    losses_ = named.stats.losses;
    std::vector<std::string> texts;
    for (const FrameLine& line : named.kernel_stacks[0].frames[0].lines) {
      EXPECT_TRUE(line.file.empty() || line.file == LINES_SOURCE) << line.file;
      texts.push_back(absl::StrCat(std::string(line.function), " ", line.line));
    }
    return texts;
  }
  std::vector<std::string> LinesOfPop() { return LinesAt(AddressInMemory("place_pop"), Options()); }

  // The function of the frame has the kernel's name for it.
  std::vector<std::string> All() const {
    return {absl::StrCat("fixture::Queue::Pop ", LineWith("place_pop")),
            absl::StrCat("fixture::Handle ", LineWith("call of Pop")),
            absl::StrCat("kernel_run ", LineWith("call of Handle"))};
  }

  const std::string id_ = BuildIdOf(FixturePath("gcc-5.so"));
  TemporaryDirectory directory_;
  uint64_t text_ = 0;
  uint64_t end_ = 0;
  std::string release_;
  std::vector<Loss> losses_;
};

TEST_F(KernelLinesTest, WithoutADebugFileThereAreNamesOnlyAndNothingIsLost) {
  EXPECT_THAT(LinesOfPop(), ElementsAre("kernel_run 0"));
  EXPECT_THAT(losses_, IsEmpty());
}

TEST_F(KernelLinesTest, ADebugFileIsFoundWhereDistributionsPutIt) {
  for (const std::string& place :
       {absl::StrCat(".build-id/", id_.substr(0, 2), "/", id_.substr(2), ".debug"),
        absl::StrCat("lib/modules/", release_, "/vmlinux"), absl::StrCat("boot/vmlinux-", release_)}) {
    directory_.Write("debug/" + place, LinesFixture("gcc-5.so"));
    EXPECT_EQ(LinesOfPop(), All()) << place;
    std::filesystem::remove(directory_.path() + "/debug/" + place);
    EXPECT_THAT(LinesOfPop(), SizeIs(1)) << place;
  }
}

TEST_F(KernelLinesTest, ADebugFileWithoutCodeServesAsWell) {
  directory_.Write("debug/boot/vmlinux-" + release_, LinesFixture("separate.debug"));
  EXPECT_EQ(LinesOfPop(), All());
}

TEST_F(KernelLinesTest, ADebugFileOfAnotherKernelIsNotUsed) {
  directory_.Write("debug/boot/vmlinux-" + release_, LinesFixture("clang-5.so"));
  EXPECT_THAT(LinesOfPop(), ElementsAre("kernel_run 0"));
}

TEST_F(KernelLinesTest, AKernelThatHidesItselfHasNoLines) {
  directory_.Write("debug/boot/vmlinux-" + release_, LinesFixture("gcc-5.so"));
  directory_.Write("kallsyms", Kallsyms(0, 0));
  EXPECT_THAT(LinesOfPop(), SizeIs(1));
  directory_.Write("kallsyms", Kallsyms(kBegin, end_));
  directory_.Write("notes", "");
  EXPECT_THAT(LinesOfPop(), ElementsAre("kernel_run 0"));
}

TEST_F(KernelLinesTest, ModulesAndWhatHasNoNameAreLeftAsTheyAre) {
  directory_.Write("debug/boot/vmlinux-" + release_, LinesFixture("gcc-5.so"));
  EXPECT_THAT(LinesAt(0xffff'ffff'c000'0010, Options()), ElementsAre("of_module 0"));
  EXPECT_THAT(LinesAt(0x1000, Options()), ElementsAre("[kernel] 0x1001 0"));
}

TEST_F(KernelLinesTest, LinesThatAreNotWantedAreNotRead) {
  directory_.Write("debug/boot/vmlinux-" + release_, LinesFixture("gcc-5.so"));
  SymbolizerOptions options = Options();
  options.lines = false;
  EXPECT_THAT(LinesAt(AddressInMemory("place_pop"), options), ElementsAre("kernel_run 0"));
}

TEST_F(KernelLinesTest, ADebugFileCanBeFetched) {
  SymbolizerOptions options = Options();
  options.fetch = [this](const std::string& build_id, std::string_view name) -> absl::StatusOr<OwnedFd> {
    EXPECT_EQ(build_id, id_);
    EXPECT_EQ(name, "vmlinux");
    return OpenLinesFixture("gcc-5.so");
  };
  EXPECT_EQ(LinesAt(AddressInMemory("place_pop"), options), All());
  options.fetch = [](const std::string&, std::string_view) { return absl::UnavailableError("gone"); };
  EXPECT_THAT(LinesAt(AddressInMemory("place_pop"), options), ElementsAre("kernel_run 0"));
  EXPECT_THAT(losses_, ElementsAre(testing::Field(&Loss::reason, InfoOf(LossId::kDebugFileNotFetched).name)));
}

TEST_F(KernelLinesTest, ADamagedDebugFileIsALoss) {
  std::string bytes = LinesFixture("gcc-5.so");
  const SpanMemory memory = MemoryOf(bytes);
  const auto elf = ElfFile::Parse(memory);
  ASSERT_TRUE(elf.ok());
  bytes.replace(elf->Find(".debug_info")->offset + 4, 1, "\x63");  // DWARF 99
  directory_.Write("debug/boot/vmlinux-" + release_, bytes);
  EXPECT_THAT(LinesOfPop(), ElementsAre("kernel_run 0"));
  EXPECT_THAT(losses_, ElementsAre(testing::Field(&Loss::reason, InfoOf(LossId::kLinesCut).name)));
}

// Every line but the whole one: a number that is none, a symbol that only ends with the name, no end, no kernel.
TEST(RunningKernelTest, IsNotKnownFromDamagedTexts) {
  const std::string notes = NotesWith("0123456789abcdef");
  const std::string whole = Kallsyms(0x1000, 0x2000);
  ASSERT_TRUE(RunningKernel(whole, notes).has_value());
  EXPECT_EQ(RunningKernel(whole, notes)->begin, 0x1000);
  EXPECT_EQ(RunningKernel(whole, notes)->end, 0x2000);
  EXPECT_EQ(RunningKernel(whole, notes)->build_id, "0123456789abcdef");
  for (const std::string& text : std::vector<std::string>{
           "", "x000 T _stext\n2000 T _etext\n", "1000 T my_stext\n2000 T _etext\n", "1000 T _stext\n2000 T _etext",
           "1000 T _stext\n1000 T _etext\n", "3000 T _stext\n2000 T _etext\n", " T _stext\n T _etext\n",
           "11111111111111111 T _stext\n2000 T _etext\n", "1000 x T _stext\n2000 T _etext\n"}) {
    EXPECT_FALSE(RunningKernel(text, notes).has_value()) << text;
  }
  for (size_t size = 0; size < notes.size(); ++size)
    EXPECT_FALSE(RunningKernel(whole, notes.substr(0, size)).has_value()) << size;
}

}  // namespace
}  // namespace offcpu
