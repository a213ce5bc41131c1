#include "tests/deep/single_step.h"

#include <fcntl.h>
#include <gelf.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "process/address_space.h"
#include "runtimes/known_runtimes.h"
#include "tests/deep/stepper.h"
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

}  // namespace

// One way to walk, held against the truth.
class HeldWalk {
 public:
  explicit HeldWalk(const std::string& order) : name_(order), walker_(*ParseUnwindOrder(order)) {}

  void At(const Stepper& stepper, const AddressSpace& space, const StackCopy& copy,
          const std::vector<uint64_t>& truth) {
    walker_.Walk(space, stepper.registers(), /*in_syscall=*/false, copy, &stack_, &trace_);
    pcs_ = trace_.pcs;
    ++instructions_;
    const bool whole = stack_.end == EndReason::kComplete;
    const auto agreed =
        static_cast<size_t>(std::mismatch(pcs_.begin(), pcs_.end(), truth.begin(), truth.end()).first - pcs_.begin());
    const bool right = agreed == pcs_.size() && (!whole || agreed == truth.size());
    if (!right && agreed >= stepper.Untouched()) {
      ++rewritten_;
    } else if (!right) {
      doubtful_.push_back({pcs_, truth, stack_.end});
    } else if (!whole) {
      ++missing_[{stack_.end, pcs_.empty() ? "" : Place(space, pcs_.back(), stack_.frames.back())}];
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
      if (++wrong_ > 5) continue;
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
    std::string& place = places_[{frame.code, frame.lookup_address()}];
    if (place.empty()) {
      const std::string& path = code->module->path;
      place = absl::StrCat(path.substr(path.rfind('/') + 1), " ", SectionAt(path, frame.lookup_address()));
    }
    return place;
  }

  std::string name_;
  Walker walker_{kX86_64};
  UserStack stack_;
  WalkTrace trace_;
  std::vector<uint64_t> pcs_;
  uint64_t instructions_ = 0;
  uint64_t wrong_ = 0;
  uint64_t rewritten_ = 0;
  std::vector<Doubt> doubtful_;
  std::map<MissingAt, uint64_t> missing_;
  std::map<std::pair<const CodeObject*, uint64_t>, std::string> places_;
};

namespace {

class Session {
 public:
  Session(Stepper& stepper, std::vector<HeldWalk>& held) : stepper_(stepper), held_(held) {}

  void ToTheEnd() {
    LookAgain();
    std::vector<uint64_t> truth = stepper_.Stack();
    CheckHere(truth);
    while (stepper_.Step()) {
      if (stepper_.changed_code()) LookAgain();
      std::vector<uint64_t> now = stepper_.Stack();
      const bool repeats = now == truth;  // a string instruction, or nothing but a signal
      const bool moved = now.size() != truth.size() || !std::equal(now.begin() + 1, now.end(), truth.begin() + 1);
      for (HeldWalk& one : held_) {
        if (stepper_.left_frames()) one.Left(now);
        if (moved) one.Settle();
      }
      truth = std::move(now);
      if (!repeats) CheckHere(truth);
    }
    for (HeldWalk& one : held_) one.Settle();
  }

 private:
  void LookAgain() {
    auto space = LoadAddressSpace(stepper_.pid(), space_.get(), modules_, RuntimesReader());
    if (space.ok()) space_ = *std::move(space);
  }

  void CheckHere(const std::vector<uint64_t>& truth) {
    const uint64_t begin = kX86_64.SpOf(stepper_.registers()) - kX86_64.red_zone_bytes;
    const size_t size = ProcessMemory(stepper_.pid()).ReadSome(begin, stack_);
    const SpanMemory memory(begin, std::span(stack_).first(size));
    const StackCopy copy = {memory, begin, begin + size, size == stack_.size()};
    for (HeldWalk& one : held_) one.At(stepper_, *space_, copy, truth);
  }

  Stepper& stepper_;
  std::vector<HeldWalk>& held_;
  ModuleCache modules_;
  std::shared_ptr<const AddressSpace> space_;
  std::vector<std::byte> stack_ = std::vector<std::byte>(kWindowBytes);
};

// Sections of what is not made by a compiler and has no table: the first and last instructions of every object, and the
// linker's stubs for functions that are chosen at run time, in static programs.
bool IsAssembler(const std::string& place) {
  return place.ends_with(" .init") || place.ends_with(" .fini") || place.ends_with(" .plt");
}

// The closed list of docs/unwinding.md: how many instructions of an object's section may end a walk so. Static programs
// hold libc themselves.
uint64_t Allowed(const SteppedProgram& program, EndReason reason, const std::string& place) {
  constexpr uint64_t kStartUpCode = 45;    // all of it
  constexpr uint64_t kEndOfLongjmp = 10;   // one longjmp
  constexpr uint64_t kOtherStacks = 1000;  // as long as handlers run
  const bool in_text = place.ends_with(" .text");
  const bool has_libc = program.name.find("static") != std::string::npos && place.starts_with(program.name);
  if (reason == EndReason::kNoRow && IsAssembler(place)) return UINT64_MAX;
  if (reason == EndReason::kNoRow && in_text) return kStartUpCode;
  if (reason == EndReason::kBadCfa && in_text && (has_libc || place.starts_with("libc.so"))) return kEndOfLongjmp;
  return reason == EndReason::kOtherStack ? kOtherStacks : 0;
}

// Calls `each` with the numbers below `count`, in a thread on each CPU.
template <typename Each>
void SideBySide(size_t count, Each each) {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  sched_getaffinity(0, sizeof(ours), &ours);
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &ours)) continue;
    threads.emplace_back([&next, count, each, cpu] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof(one), &one);
      for (size_t i = next++; i < count; i = next++) each(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

void SingleStep::Check(const std::vector<SteppedProgram>& programs, const std::vector<std::string>& orders) {
  SideBySide(programs.size(), [&](size_t i) { CheckOne(programs[i], orders); });
}

void SingleStep::CheckOne(const SteppedProgram& program, const std::vector<std::string>& orders) {
  const std::string path = absl::StrCat(OFFCPU_BIN_DIR "/targets/", program.name);
  ASSERT_EQ(access(path.c_str(), X_OK), 0) << path << " is not built";
  const auto began = std::chrono::steady_clock::now();
  const std::unique_ptr<Stepper> stepper = Stepper::Start({path, program.argument}, program.from_loader);
  ASSERT_NE(stepper, nullptr) << program.name;
  std::vector<HeldWalk> held;
  for (const std::string& order : orders) held.emplace_back(order);
  Session(*stepper, held).ToTheEnd();
  EXPECT_EQ(stepper->error(), "") << program.name;
  EXPECT_EQ(stepper->exit_code(), 0) << program.name;
  const std::lock_guard lock(mutex_);
  std::printf("%s, %.1f s\n", program.name.c_str(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  for (const HeldWalk& one : held) Report(program, one);
}

void SingleStep::Report(const SteppedProgram& program, const HeldWalk& held) {
  EXPECT_EQ(held.wrong(), 0u) << program.name << " by " << held.name();
  EXPECT_GT(held.instructions(), 0u) << program.name;
  std::printf(" by %s: %lu instructions, %lu wrong; %lu where the program has written over return addresses\n",
              held.name().c_str(), held.instructions(), held.wrong(), held.rewritten());
  for (const auto& [at, count] : held.missing()) {
    std::printf("  %s in %s: %lu\n", std::string(Name(at.first)).c_str(), at.second.c_str(), count);
  }
  if (held.name() != kDefaultOrder) return;
  tally_.instructions += held.instructions();
  tally_.rewritten += held.rewritten();
  for (const auto& [at, count] : held.missing()) {
    EXPECT_LE(count, Allowed(program, at.first, at.second))
        << program.name << ": " << Name(at.first) << " in " << at.second;
    (at.first == EndReason::kNoRow && IsAssembler(at.second) ? tally_.without_rows : tally_.missing[at.first]) += count;
  }
}

void SingleStep::ExpectRare() const {
  uint64_t missing = 0;
  const auto share = [this](uint64_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(tally_.instructions);
  };
  std::printf("%lu instructions\n", tally_.instructions);
  for (const auto& [reason, count] : tally_.missing) {
    std::printf("  %.4f %% %s: %lu\n", share(count), std::string(Name(reason)).c_str(), count);
    missing += count;
  }
  std::printf("  %.4f %% no row in assembler code: %lu\n", share(tally_.without_rows), tally_.without_rows);
  std::printf("  %.4f %% the program has written over return addresses: %lu\n", share(tally_.rewritten),
              tally_.rewritten);
  std::printf("%.4f %% of what a compiler has made is not walked to the end\n", share(missing));
  EXPECT_LE(share(missing), 0.1);
}

}  // namespace offcpu::integration
