// At every single instruction of a program, of its libraries and of the dynamic linker, the walk is held against what
// calls and returns have made of the stack (stepper.h). No caller may be wrong. Where a walk ends early, the reason is
// one of docs/unwinding.md, and rare.
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "process/address_space.h"
#include "tests/integration/stepper.h"
#include "unwind/walk.h"

namespace offcpu::integration {
namespace {

constexpr size_t kWindowBytes = 64 << 10;  // what is captured at most

// The section of a file that holds a link-time address.
std::string SectionAt(const std::string& path, uint64_t address) {
  std::string name = "?";
  elf_version(EV_CURRENT);
  const OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf* elf = elf_begin(file.get(), ELF_C_READ, nullptr);
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) == 0) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
      GElf_Shdr header;
      if (gelf_getshdr(section, &header) == nullptr || address - header.sh_addr >= header.sh_size) continue;
      if ((header.sh_flags & SHF_EXECINSTR) != 0) name = elf_strptr(elf, names, header.sh_name);
    }
  }
  elf_end(elf);
  return name;
}

// One way to walk, held against the truth.
class Check {
 public:
  explicit Check(const std::string& order) : name_(order), walker_(*ParseUnwindOrder(order)) {}

  void At(const Stepper& stepper, const AddressSpace& space, const StackWindow& window,
          const std::vector<uint64_t>& truth) {
    std::vector<uint64_t> pcs;
    UserStack stack;
    walker_.Walk(space, stepper.registers(), /*in_syscall=*/false, window, &stack, &pcs);
    ++instructions_;
    const bool whole = stack.end == EndReason::kComplete;
    const bool right = pcs.size() <= truth.size() && std::equal(pcs.begin(), pcs.end(), truth.begin()) &&
                       (!whole || pcs.size() == truth.size());
    const size_t agreed =
        static_cast<size_t>(std::mismatch(pcs.begin(), pcs.end(), truth.begin(), truth.end()).first - pcs.begin());
    if (!right && agreed >= stepper.Untouched()) {
      ++rewritten_;
    } else if (!right) {
      doubtful_.push_back({std::move(pcs), truth, stack.end});
    } else if (!whole) {
      ++missing_[{stack.end, pcs.empty() ? "" : Place(space, pcs.back(), stack.frames.back())}];
      if (getenv("DBG")) {
        printf("MISS %s", std::string(Name(stack.end)).c_str());
        for (auto& f : stack.frames)
          printf(" %s+%lx", f.module ? f.module->path.substr(f.module->path.rfind('/') + 1).c_str() : "?", f.address);
        printf(" truth %s\n", Hex(truth).c_str());
      }
    }
  }

  // Frames were left by a jump to `truth`. The instructions right before it belong to either side.
  void Left(const std::vector<uint64_t>& truth) {
    std::erase_if(doubtful_, [&](const Doubt& doubt) {
      return doubt.end == EndReason::kComplete && doubt.pcs.size() == truth.size() + 1 &&
             std::equal(truth.begin(), truth.end(), doubt.pcs.begin() + 1);
    });
    Settle();
  }
  // A call or a return: what was doubtful before it is wrong.
  void Settle() {
    for (const Doubt& doubt : doubtful_) {
      if (++wrong_ > 2) continue;
      ADD_FAILURE() << name_ << ": walked " << Hex(doubt.pcs) << " (" << Name(doubt.end) << "), but it is "
                    << Hex(doubt.truth);
    }
    doubtful_.clear();
  }

  uint64_t instructions() const { return instructions_; }
  uint64_t wrong() const { return wrong_; }
  // Where the return addresses that are walked are not those that were pushed.
  uint64_t rewritten() const { return rewritten_; }
  using MissingAt = std::pair<EndReason, std::string>;
  const std::map<MissingAt, uint64_t>& missing() const { return missing_; }
  const std::string& name() const { return name_; }

 private:
  struct Doubt {
    std::vector<uint64_t> pcs;
    std::vector<uint64_t> truth;
    EndReason end;
  };

  static std::string Hex(const std::vector<uint64_t>& pcs) {
    return absl::StrJoin(pcs, " ", [](std::string* out, uint64_t pc) { absl::StrAppendFormat(out, "%x", pc); });
  }

  // "libc.so.6 .text", of the frame at which the walk ended.
  std::string Place(const AddressSpace& space, uint64_t pc, const Frame& frame) {
    const MappedCode* code = space.Find(frame.exact ? pc : pc - 1);
    if (code == nullptr || code->module == nullptr) return "no file";
    std::string& place = places_[{frame.module, frame.lookup_address()}];
    if (place.empty()) {
      const std::string& path = code->module->path;
      place = absl::StrCat(path.substr(path.rfind('/') + 1), " ", SectionAt(path, frame.lookup_address()));
    }
    return place;
  }

  std::string name_;
  Walker walker_;
  uint64_t instructions_ = 0;
  uint64_t wrong_ = 0;
  uint64_t rewritten_ = 0;
  std::vector<Doubt> doubtful_;
  std::map<MissingAt, uint64_t> missing_;
  std::map<std::pair<const Module*, uint64_t>, std::string> places_;
};

class Session {
 public:
  Session(Stepper& stepper, std::vector<Check>& checks) : stepper_(stepper), checks_(checks) {}

  void ToTheEnd() {
    LookAgain();
    std::vector<uint64_t> truth = stepper_.Stack();
    CheckHere(truth);
    while (stepper_.Step()) {
      if (stepper_.changed_code()) LookAgain();
      std::vector<uint64_t> now = stepper_.Stack();
      const bool repeats = now == truth;  // a string instruction, or nothing but a signal
      const bool moved = now.size() != truth.size() || !std::equal(now.begin() + 1, now.end(), truth.begin() + 1);
      for (Check& check : checks_) {
        if (stepper_.left_frames()) check.Left(now);
        if (moved) check.Settle();
      }
      truth = std::move(now);
      if (!repeats) CheckHere(truth);
    }
    for (Check& check : checks_) check.Settle();
  }

 private:
  void LookAgain() {
    auto space = LoadAddressSpace(stepper_.pid(), space_.get(), modules_);
    if (space.ok()) space_ = *std::move(space);
  }

  void CheckHere(const std::vector<uint64_t>& truth) {
    const uint64_t sp = stepper_.registers().sp();
    const size_t size = ProcessMemory(stepper_.pid()).ReadSome(sp, stack_);
    const SpanMemory memory(sp, std::span(stack_).first(size));
    const StackWindow window = {memory, sp, sp + size, size == stack_.size()};
    for (Check& check : checks_) check.At(stepper_, *space_, window, truth);
  }

  Stepper& stepper_;
  std::vector<Check>& checks_;
  ModuleCache modules_;
  std::shared_ptr<const AddressSpace> space_;
  std::vector<std::byte> stack_ = std::vector<std::byte>(kWindowBytes);
};

struct Program {
  std::string name;  // in the directory of the targets
  bool from_loader = false;
  std::vector<std::string> orders = {"sframe,eh_frame,fp"};
};

class SingleStep : public testing::TestWithParam<Program> {};

TEST_P(SingleStep, EveryCallerIsRight) {
  const auto began = std::chrono::steady_clock::now();
  const std::string path = absl::StrCat(OFFCPU_BIN_DIR "/targets/", GetParam().name);
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) GTEST_SKIP() << GetParam().name << " is not built here";
  const std::unique_ptr<Stepper> stepper = Stepper::Start({path}, GetParam().from_loader);
  ASSERT_NE(stepper, nullptr);
  std::vector<Check> checks;
  for (const std::string& order : GetParam().orders) checks.emplace_back(order);
  Session(*stepper, checks).ToTheEnd();
  EXPECT_EQ(stepper->error(), "");
  EXPECT_EQ(stepper->exit_code(), 0);
  for (const Check& check : checks) {
    std::printf("%s by %s: %lu instructions, %lu wrong, %lu rewritten\n", GetParam().name.c_str(), check.name().c_str(),
                check.instructions(), check.wrong(), check.rewritten());
    for (const auto& [at, count] : check.missing()) {
      std::printf("  %s in %s: %lu\n", std::string(Name(at.first)).c_str(), at.second.c_str(), count);
    }
    EXPECT_EQ(check.wrong(), 0u);
  }
  std::printf("  %.1f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}

INSTANTIATE_TEST_SUITE_P(Programs, SingleStep,
                         testing::Values(Program{"stepped", true}, Program{"stepped_O0"}, Program{"stepped_O3"},
                                         Program{"stepped_clang"}, Program{"stepped_no_plt"}, Program{"stepped_static"},
                                         Program{"stepped_static_pie"}, Program{"stepped_cxx"}),
                         [](const auto& program) { return program.param.name; });

}  // namespace
}  // namespace offcpu::integration
