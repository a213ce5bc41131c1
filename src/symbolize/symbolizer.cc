#include "symbolize/symbolizer.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "classify/idle_match.h"
#include "classify/interpreted.h"
#include "os/proc_file.h"
#include "process/elf/notes.h"
#include "profile/left_out_name.h"
#include "profile/lost_stacks.h"
#include "runtimes/runtime.h"
#include "symbolize/frame_namer.h"
#include "symbolize/kernel_lines.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/name_pool.h"
#include "symbolize/symbol_table.h"

namespace offcpu {
namespace {

constexpr size_t kMaxModulesBytes = 1u << 20;
// The most functions that a stack has; where there are more, those that were inlined are left out: files with more are
// not read again.
constexpr size_t kMaxStackFunctions = 16384;

using NamesByCode = absl::flat_hash_map<const CodeObject*, FrameNames>;

std::string HexAddress(std::string_view prefix, uint64_t address) {
  return absl::StrCat(std::string(prefix), "0x", absl::Hex(address));
}

// All addresses of one code object are looked up together, so that its tables are read once.
NamesByCode CollectAddresses(const std::vector<UserStackEntry>& stacks) {
  NamesByCode names;
  for (const UserStackEntry& entry : stacks) {
    for (const Frame& frame : entry.stack.frames) {
      if (!frame.is_marker()) names[frame.code].try_emplace(frame.lookup_address());
    }
  }
  return names;
}

// Does the name, of a perf map, stand for a function that a runtime interprets?
bool IsInterpreted(const Frame& frame, std::string_view name) {
  return frame.code != nullptr && frame.code->kind() == CodeKind::kPerfMap && IsInterpretedName(name);
}

// Takes the frames from the entry.
NamedUserStack WithNames(UserStackEntry& entry, NamesByCode& names, NamePool& pool) {
  NamedUserStack stack = {.end = entry.stack.end, .missing = entry.missing, .overflow = entry.overflow};
  stack.frames.reserve(entry.stack.frames.size());
  size_t functions = 0;
  for (const Frame& frame : std::exchange(entry.stack.frames, {})) {
    if (frame.is_marker()) {
      const auto lines = pool.InternLine(LeftOutName(frame.address), kLeftOut);
      stack.frames.push_back({frame, /*named=*/false, lines, ""});
      continue;
    }
    const FrameName& name = names[frame.code][frame.lookup_address()];
    functions += name.lines.size();
    const bool has_room = functions <= kMaxStackFunctions;
    stack.frames.push_back({frame, name.named, has_room ? name.lines : name.lines.last(1), name.module});
    if (name.named && IsInterpreted(frame, name.lines.back().function))
      stack.frames.back().kind = FrameKind::kInterpreted;
  }
  return stack;
}

class Namer {
 public:
  Namer(const std::vector<std::shared_ptr<const CodeObject>>& objects, const SymbolizerOptions& options,
        NameCache* cache, NamePool& pool)
      : options_(options), cache_(cache), pool_(pool), frames_(objects, options, cache, pool) {}

  std::vector<NamedUserStack> NameUserStacks(std::vector<UserStackEntry>& stacks);
  std::vector<NamedKernelStack> NameKernelStacks(const std::vector<KernelStack>& stacks);
  std::vector<Loss> Losses() const { return frames_.Losses(); }

 private:
  struct Kernel {
    SymbolTable symbols;
    std::optional<KernelCode> code;  // nothing: not known, or not wanted
  };

  void NameRuntime(const RuntimeCode& code, FrameNames& frames);
  void NameAnonymous(FrameNames& frames);
  const Kernel& ReadKernel();
  void NameKernel(FrameNames& frames);
  // `address`: of a lookup. Nothing: no symbol covers it.
  std::optional<std::string> KernelName(uint64_t address);

  const SymbolizerOptions& options_;
  NameCache* const cache_;
  NamePool& pool_;
  FrameNamer frames_;
  std::optional<Kernel> kernel_;  // nothing: not read yet
};

// A runtime has read its names when the stacks were captured.
void Namer::NameRuntime(const RuntimeCode& code, FrameNames& frames) {
  constexpr std::string_view kNotRead = "[name not read]";
  const std::string_view module = pool_.Intern(code.path, code.path);
  const uid_t owner = code.memory.owner();
  for (auto& [number, frame] : frames) {
    const std::vector<CodeLine> found = code.LinesAt(number);
    frame.module = module;
    frame.named = !found.empty();
    if (found.empty()) frames_.CountNotRead();
    std::vector<FrameLine> lines;
    for (const CodeLine& line : found) lines.push_back({line.function, line.file, line.line});
    frame.lines = found.empty() ? pool_.InternLine(kNotRead, kNotRead) : frames_.KeepLines(owner, std::move(lines));
  }
}

void Namer::NameAnonymous(FrameNames& frames) {
  for (auto& [address, frame] : frames) frame.lines = pool_.InternLine(HexAddress("[unknown] ", address), "[unknown]");
}

std::vector<NamedUserStack> Namer::NameUserStacks(std::vector<UserStackEntry>& stacks) {
  NamesByCode names = CollectAddresses(stacks);
  for (auto& [code, frames] : names) {
    if (code == nullptr) {
      NameAnonymous(frames);
    } else if (const RuntimeCode* runtime = AsRuntimeCode(code)) {
      NameRuntime(*runtime, frames);
    } else {
      frames_.Name(*code, frames);
    }
  }
  std::vector<NamedUserStack> named;
  named.reserve(stacks.size());
  for (UserStackEntry& entry : stacks) named.push_back(WithNames(entry, names, pool_));
  return named;
}

const Namer::Kernel& Namer::ReadKernel() {
  if (kernel_.has_value()) return *kernel_;
  kernel_.emplace();
  absl::StatusOr<std::string> kallsyms = ReadProcFile(options_.kallsyms_path, kMaxKallsymsBytes);
  if (!kallsyms.ok()) return *kernel_;
  if (options_.lines)
    kernel_->code = RunningKernel(*kallsyms, ReadProcFile(options_.kernel_notes_path, kMaxNoteBytes).value_or(""));
  kernel_->symbols = ParseKallsyms(*std::move(kallsyms));
  return *kernel_;
}

std::optional<std::string> Namer::KernelName(uint64_t address) {
  const std::string* cached = cache_ != nullptr ? cache_->FindKernel(address) : nullptr;
  if (cached != nullptr) return *cached;
  const auto symbol = ReadKernel().symbols.Find(address);
  if (!symbol.has_value()) return std::nullopt;
  std::string name(*symbol);
  if (cache_ != nullptr) cache_->AddKernel(address, name);
  return name;
}

void Namer::NameKernel(FrameNames& frames) {
  for (auto& [address, frame] : frames) {
    const std::optional<std::string> name = KernelName(address);
    frame.named = name.has_value();
    frame.lines = pool_.InternLine(frame.named ? *name : HexAddress("[kernel] ", address + 1), "[kernel]");
  }
  if (!options_.lines || frames.empty()) return;
  if (const std::optional<KernelCode>& code = ReadKernel().code; code.has_value())
    frames_.AddKernelLines(*code, frames);
}

std::vector<NamedKernelStack> Namer::NameKernelStacks(const std::vector<KernelStack>& stacks) {
  const auto frame_at = [](uint64_t address) {
    return Frame{.address = address, .exact = false, .kind = FrameKind::kKernel};
  };
  FrameNames names;
  for (const KernelStack& stack : stacks) {
    for (const uint64_t address : stack.addresses) names.try_emplace(frame_at(address).lookup_address());
  }
  NameKernel(names);
  std::vector<NamedKernelStack> named;
  named.reserve(stacks.size());
  for (const KernelStack& stack : stacks) {
    NamedKernelStack& to = named.emplace_back();
    to.id = stack.id;
    to.overflow = stack.overflow;
    to.user_mode = stack.user_mode;
    to.frames.reserve(stack.addresses.size());
    for (const uint64_t address : stack.addresses) {
      const Frame frame = frame_at(address);
      const FrameName& name = names[frame.lookup_address()];
      to.frames.push_back({frame, name.named, name.lines, ""});
    }
  }
  return named;
}

}  // namespace

NamedProfile Symbolize(Profile profile, const SymbolizerOptions& options, NameCache* cache) {
  NamedProfile named;
  ProfileFacts& facts = profile;
  static_cast<ProfileFacts&>(named) = std::move(facts);
  named.rows.reserve(profile.rows.size());
  for (ProfileRow& row : profile.rows) named.rows.push_back({std::move(row)});
  profile.rows = {};
  if (cache != nullptr) cache->Begin(ReadProcFile(options.modules_path, kMaxModulesBytes).value_or(""));
  NamePool pool(*named.names, kMaxNameBytes);
  Namer namer(named.code, options, cache, pool);
  named.user_stacks = namer.NameUserStacks(profile.user_stacks);
  named.kernel_stacks = namer.NameKernelStacks(profile.kernel_stacks);
  for (Loss& loss : namer.Losses()) named.stats.losses.push_back(std::move(loss));
  JoinLostStacks(named);
  if (options.idle != nullptr) MarkIdle(*options.idle, &named);
  return named;
}

}  // namespace offcpu
