#include "symbolize/symbolizer.h"

#include <algorithm>
#include <cstdint>
#include <functional>
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
#include "process/memory_budget.h"
#include "profile/left_out_name.h"
#include "profile/losses.h"
#include "profile/lost_stacks.h"
#include "runtimes/runtime.h"
#include "symbolize/demangle.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/module_symbols.h"
#include "symbolize/name_pool.h"
#include "symbolize/symbol_table.h"

namespace offcpu {
namespace {

constexpr size_t kMaxNameBytes = 32u << 20;  // of one profile
// That were not read in time: then none of its user's is waited for any more.
constexpr int kMaxLate = 2;
constexpr size_t kMaxModulesBytes = 1u << 20;

struct FrameName {
  std::span<const FrameLine> lines;
  std::string_view module;  // file name
  bool named = false;
};

using FrameNames = absl::flat_hash_map<uint64_t, FrameName>;  // by lookup address
using NamesByCode = absl::flat_hash_map<const CodeObject*, FrameNames>;

std::string HexAddress(std::string_view prefix, uint64_t address) {
  return absl::StrCat(std::string(prefix), "0x", absl::Hex(address));
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

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

constexpr std::string_view kLeftOut = "[frames left out]";  // where there is no room for the name

// Takes the frames from the entry.
NamedUserStack WithNames(UserStackEntry& entry, NamesByCode& names, NamePool& pool) {
  NamedUserStack stack = {.end = entry.stack.end, .missing = entry.missing, .overflow = entry.overflow};
  stack.frames.reserve(entry.stack.frames.size());
  for (const Frame& frame : std::exchange(entry.stack.frames, {})) {
    if (frame.is_marker()) {
      const auto lines = pool.InternLine(LeftOutName(frame.address), kLeftOut);
      stack.frames.push_back({frame, /*named=*/false, lines, ""});
      continue;
    }
    const FrameName& name = names[frame.code][frame.lookup_address()];
    stack.frames.push_back({frame, name.named, name.lines, name.module});
    if (name.named && IsInterpreted(frame, name.lines.back().function))
      stack.frames.back().kind = FrameKind::kInterpreted;
  }
  return stack;
}

// Whose tables are read only for what is not cached.
class Namer {
 public:
  Namer(const std::vector<std::shared_ptr<const CodeObject>>& objects, const SymbolizerOptions& options,
        NameCache* cache, NamePool& pool)
      : options_(options), cache_(cache), pool_(pool) {
    for (const std::shared_ptr<const CodeObject>& code : objects) owners_.try_emplace(code.get(), &code);
  }

  std::vector<NamedUserStack> NameUserStacks(std::vector<UserStackEntry>& stacks);
  std::vector<NamedKernelStack> NameKernelStacks(const std::vector<KernelStack>& stacks);
  std::vector<Loss> Losses() const;

 private:
  using Names = absl::flat_hash_map<uint64_t, std::string>;  // by lookup address

  void NameFrames(const CodeObject& code, FrameNames& frames);
  void NameRuntime(const RuntimeCode& code, FrameNames& frames);
  void NameAnonymous(FrameNames& frames);
  // Reads the names of those addresses that are not cached. False: they could not be read in time.
  bool Read(const CodeObject& code, const FrameNames& frames, Names* names);
  bool IsRead(const CodeObject& code, const std::function<void()>& read);
  std::span<const FrameLine> Keep(uid_t owner, std::string_view name, std::string_view coarse);
  std::span<const FrameLine> KeepLines(uid_t owner, const std::vector<CodeLine>& found);
  NamedFrame KernelFrame(uint64_t address, std::optional<SymbolTable>& symbols);
  // Nothing: no symbol covers it.
  std::optional<std::string> KernelName(const NamedFrame& frame, std::optional<SymbolTable>& symbols);

  const SymbolizerOptions& options_;
  NameCache* const cache_;
  NamePool& pool_;
  absl::flat_hash_map<const CodeObject*, const std::shared_ptr<const CodeObject>*> owners_;
  const std::shared_ptr<MemoryBudget> room_ = std::make_shared<MemoryBudget>(kMaxNameBytes);
  absl::flat_hash_map<uid_t, MemoryLease> held_;
  absl::flat_hash_map<uid_t, int> late_;
  uint64_t not_read_ = 0;    // modules
  uint64_t unreadable_ = 0;  // likewise
  uint64_t left_out_ = 0;    // names
};

bool Namer::IsRead(const CodeObject& code, const std::function<void()>& read) {
  if (!options_.timed_read) {
    read();
    return true;
  }
  const uid_t owner = code.memory.owner();
  const auto late = late_.find(owner);
  if (late != late_.end() && late->second >= kMaxLate) return false;
  if (options_.timed_read({.owner = owner, .id = reinterpret_cast<uintptr_t>(&code)}, read)) return true;
  ++late_[owner];
  return false;
}

bool Namer::Read(const CodeObject& code, const FrameNames& frames, Names* names) {
  // It owns all that the reading touches, which may go on after this has ended.
  struct Reading {
    std::shared_ptr<const CodeObject> code;
    std::string debug_directory;
    std::vector<uint64_t> addresses;
    ModuleNames found;
  };
  auto reading = std::make_shared<Reading>();
  for (const auto& [address, frame] : frames) {
    const CachedName* cached = cache_ != nullptr ? cache_->Find(code, address) : nullptr;
    if (cached == nullptr) reading->addresses.push_back(address);
  }
  if (reading->addresses.empty()) return true;
  std::sort(reading->addresses.begin(), reading->addresses.end());
  const auto owner = owners_.find(&code);
  reading->code = owner != owners_.end() ? *owner->second : nullptr;
  reading->debug_directory = options_.debug_directory;
  const auto read = [reading] {
    if (reading->code == nullptr) return;
    reading->found = ReadNames(*reading->code, reading->addresses, reading->debug_directory);
  };
  if (!IsRead(code, read)) {
    ++not_read_;
    return false;
  }
  left_out_ += reading->found.left_out;
  const std::vector<std::string>& found = reading->found.names;
  const bool is_missing = std::any_of(found.begin(), found.end(), [](const std::string& name) { return name.empty(); });
  if (reading->found.unread && is_missing) ++unreadable_;
  for (size_t i = 0; i < reading->found.names.size(); ++i) {
    if (!reading->found.names[i].empty()) names->emplace(reading->addresses[i], std::move(reading->found.names[i]));
  }
  return true;
}

std::span<const FrameLine> Namer::Keep(uid_t owner, std::string_view name, std::string_view coarse) {
  MemoryLease& held = held_.try_emplace(owner, MemoryLease(room_, owner)).first->second;
  if (held.Grow(name.size())) return pool_.InternLine(name, coarse);
  ++left_out_;
  return pool_.InternLine(coarse, coarse);
}

void Namer::NameFrames(const CodeObject& code, FrameNames& frames) {
  std::string_view file = FileName(code.path);
  file = pool_.Intern(file, file);
  // A perf map says nothing about an address that it does not name.
  const bool is_made = code.kind() == CodeKind::kPerfMap;
  const std::string prefix = is_made ? "[unknown] " : absl::StrCat(std::string(file), "+");
  const std::string_view other = is_made ? "[unknown]" : file;
  Names names;
  const bool is_read = Read(code, frames, &names);
  const auto owner = owners_.find(&code);
  for (auto& [address, frame] : frames) {
    const CachedName* cached = cache_ != nullptr ? cache_->Find(code, address) : nullptr;
    CachedName name;
    if (cached != nullptr) {
      name = *cached;
    } else {
      const auto found = names.find(address);
      name.named = found != names.end();
      name.name = name.named ? Demangle(found->second) : HexAddress(prefix, address);
      // What could not be read today may be read tomorrow.
      if (cache_ != nullptr && owner != owners_.end() && is_read) cache_->Add(*owner->second, address, name);
    }
    frame.module = file;
    frame.named = name.named;
    frame.lines = Keep(code.memory.owner(), name.name, other);
  }
}

// All of them, or one that says that there is no room: a frame may have many, and their texts may all be the same.
std::span<const FrameLine> Namer::KeepLines(uid_t owner, const std::vector<CodeLine>& found) {
  size_t bytes = 0;
  for (const CodeLine& line : found) bytes += sizeof(FrameLine) + line.function.size() + line.file.size();
  MemoryLease& held = held_.try_emplace(owner, MemoryLease(room_, owner)).first->second;
  if (!held.Grow(bytes)) {
    ++left_out_;
    return pool_.InternLine(kLeftOut, kLeftOut);
  }
  std::vector<FrameLine> lines;
  for (const CodeLine& line : found) {
    lines.push_back(
        {.function = pool_.Intern(line.function, kLeftOut), .file = pool_.Intern(line.file, ""), .line = line.line});
  }
  return pool_.AddLines(std::move(lines));
}

// A runtime has read its names when the stacks were captured.
void Namer::NameRuntime(const RuntimeCode& code, FrameNames& frames) {
  constexpr std::string_view kNotRead = "[name not read]";
  const std::string_view module = pool_.Intern(code.path, code.path);
  const uid_t owner = code.memory.owner();
  for (auto& [number, frame] : frames) {
    const std::vector<CodeLine> found = code.LinesAt(number);
    frame.module = module;
    frame.named = !found.empty();
    if (found.empty()) ++not_read_;
    frame.lines = found.empty() ? pool_.InternLine(kNotRead, kNotRead) : KeepLines(owner, found);
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
      NameFrames(*code, frames);
    }
  }
  std::vector<NamedUserStack> named;
  named.reserve(stacks.size());
  for (UserStackEntry& entry : stacks) named.push_back(WithNames(entry, names, pool_));
  return named;
}

std::vector<Loss> Namer::Losses() const {
  std::vector<Loss> losses;
  if (not_read_ != 0) losses.push_back(LossOf(LossId::kNamesNotRead, not_read_));
  if (unreadable_ != 0) losses.push_back(LossOf(LossId::kSymbolsUnreadable, unreadable_));
  if (left_out_ != 0) losses.push_back(LossOf(LossId::kNameMemoryShare, left_out_));
  return losses;
}

std::optional<std::string> Namer::KernelName(const NamedFrame& frame, std::optional<SymbolTable>& symbols) {
  const std::string* cached = cache_ != nullptr ? cache_->FindKernel(frame.address) : nullptr;
  if (cached != nullptr) return *cached;
  if (!symbols.has_value()) {
    auto kallsyms = ReadProcFile(options_.kallsyms_path, kMaxKallsymsBytes);
    symbols = kallsyms.ok() ? ParseKallsyms(std::move(*kallsyms)) : SymbolTable();
  }
  const auto symbol = symbols->Find(frame.lookup_address());
  if (!symbol.has_value()) return std::nullopt;
  std::string name(*symbol);
  if (cache_ != nullptr) cache_->AddKernel(frame.address, name);
  return name;
}

NamedFrame Namer::KernelFrame(uint64_t address, std::optional<SymbolTable>& symbols) {
  NamedFrame frame = {{.address = address, .exact = false, .kind = FrameKind::kKernel}};
  const std::optional<std::string> name = KernelName(frame, symbols);
  frame.named = name.has_value();
  frame.lines = pool_.InternLine(frame.named ? *name : HexAddress("[kernel] ", address), "[kernel]");
  return frame;
}

std::vector<NamedKernelStack> Namer::NameKernelStacks(const std::vector<KernelStack>& stacks) {
  std::optional<SymbolTable> symbols;
  absl::flat_hash_map<uint64_t, NamedFrame> frames;  // by address
  std::vector<NamedKernelStack> named;
  named.reserve(stacks.size());
  for (const KernelStack& stack : stacks) {
    NamedKernelStack& to = named.emplace_back();
    to.id = stack.id;
    to.overflow = stack.overflow;
    to.user_mode = stack.user_mode;
    to.frames.reserve(stack.addresses.size());
    for (const uint64_t address : stack.addresses) {
      auto [it, inserted] = frames.try_emplace(address);
      if (inserted) it->second = KernelFrame(address, symbols);
      to.frames.push_back(it->second);
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
