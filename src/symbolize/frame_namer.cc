#include "symbolize/frame_namer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "process/module.h"
#include "profile/losses.h"
#include "symbolize/debug_files.h"
#include "symbolize/demangle.h"
#include "symbolize/module_symbols.h"

namespace offcpu {
namespace {

// That were not read in time: then none of its user's is waited for any more.
constexpr int kMaxLate = 2;

constexpr uid_t kRoot = 0;

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool FrameNamer::IsRead(const CodeObject& code, const std::function<void()>& read) {
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

std::chrono::milliseconds FrameNamer::TimeForLines() const {
  if (!options_.lines) return std::chrono::milliseconds(0);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(kAllLinesTime - lines_time_);
  return std::clamp(left, std::chrono::milliseconds(0), kLinesTime);
}

// It owns all that the reading touches, which may go on after who asked for it has ended.
struct FrameNamer::Reading {
  std::shared_ptr<const CodeObject> code;
  std::string debug_directory;
  std::vector<uint64_t> addresses;
  std::chrono::milliseconds time_for_lines{0};
  ModuleNames names;
  SourceLines lines;
  std::chrono::nanoseconds lines_time{0};

  template <typename Read>
  void ReadLines(const Read& read) {
    const auto start = std::chrono::steady_clock::now();
    lines = read();
    lines_time += std::chrono::steady_clock::now() - start;
  }
};

bool FrameNamer::Read(const CodeObject& code, const FrameNames& frames, Found* found) {
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
  reading->time_for_lines = TimeForLines();
  const auto read = [reading] {
    if (reading->code == nullptr) return;
    reading->names = ReadNames(*reading->code, reading->addresses, reading->debug_directory);
    if (reading->time_for_lines.count() == 0) return;
    reading->ReadLines([&reading] {
      return ReadModuleLines(*reading->code, reading->addresses, reading->debug_directory, reading->time_for_lines);
    });
  };
  if (!IsRead(code, read)) {
    ++not_read_;
    return false;
  }
  if (options_.fetch && reading->code != nullptr) Fetch(*reading);
  Take(reading->addresses, std::move(reading->names), std::move(reading->lines), found);
  lines_time_ += reading->lines_time;
  if (options_.lines && reading->time_for_lines.count() == 0 && AsModule(&code) != nullptr) ++lines_cut_;
  return true;
}

void FrameNamer::Fetch(Reading& reading) {
  const Module* module = AsModule(reading.code.get());
  if (module == nullptr || module->build_id.empty() || module->path.starts_with('[')) return;
  const std::vector<std::string>& names = reading.names.names;
  const bool lacks_names =
      std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.empty(); });
  const bool lacks_lines = reading.time_for_lines.count() != 0 && reading.lines.chains.empty();
  if (!lacks_names && !lacks_lines) return;
  const std::string_view name = FileName(module->path);
  const std::optional<OwnedFd> file = Fetched(module->build_id, name);
  if (!file.has_value()) return;
  if (lacks_names) {
    ModuleNames fetched = ReadDebugFile(*file, *module, reading.addresses);
    if (fetched.full) reading.names = std::move(fetched);
  }
  if (!lacks_lines) return;
  const std::string supplementary_id = SupplementaryId(file->get());
  OwnedFd supplementary = OpenDebugFileByBuildId(reading.debug_directory, supplementary_id);
  if (!supplementary && !supplementary_id.empty()) supplementary = Fetched(supplementary_id, name).value_or(OwnedFd());
  reading.ReadLines([&] {
    return ReadSourceLines({.file = file->get(), .supplementary = supplementary.get()}, reading.addresses,
                           {.time = reading.time_for_lines});
  });
}

std::optional<OwnedFd> FrameNamer::Fetched(const std::string& build_id, std::string_view name) {
  absl::StatusOr<OwnedFd> file = options_.fetch(build_id, name);
  if (file.ok()) return *std::move(file);
  if (!absl::IsNotFound(file.status())) ++not_fetched_;
  return std::nullopt;
}

void FrameNamer::CountLost(const SourceLines& lines) {
  if (lines.is_cut) ++lines_cut_;
  if (lines.is_without_split) ++without_split_;
}

void FrameNamer::Take(std::span<const uint64_t> addresses, ModuleNames names, SourceLines lines, Found* found) {
  left_out_ += names.left_out;
  const bool is_missing =
      std::any_of(names.names.begin(), names.names.end(), [](const std::string& name) { return name.empty(); });
  if (names.unread && is_missing) ++unreadable_;
  CountLost(lines);
  for (size_t i = 0; i < names.names.size(); ++i) {
    if (!names.names[i].empty()) found->names.emplace(addresses[i], std::move(names.names[i]));
  }
  for (size_t i = 0; i < lines.chains.size(); ++i) {
    if (!lines.chains[i].empty()) found->lines.emplace(addresses[i], std::move(lines.chains[i]));
  }
  found->source = std::move(lines);
}

std::span<const FrameLine> FrameNamer::Keep(uid_t owner, std::string_view name, std::string_view coarse) {
  MemoryLease& held = held_.try_emplace(owner, MemoryLease(room_, owner)).first->second;
  if (held.Grow(name.size())) return pool_.InternLine(name, coarse);
  ++left_out_;
  return pool_.InternLine(coarse, coarse);
}

void FrameNamer::Name(const CodeObject& code, FrameNames& frames) {
  std::string_view file = FileName(code.path);
  file = pool_.Intern(file, file);
  // A perf map says nothing about an address that it does not name.
  const bool is_made = code.kind() == CodeKind::kPerfMap;
  const std::string prefix = is_made ? "[unknown] " : absl::StrCat(std::string(file), "+");
  const std::string_view other = is_made ? "[unknown]" : file;
  Found found;
  const bool is_read = Read(code, frames, &found);
  const auto owner = owners_.find(&code);
  for (auto& [address, frame] : frames) {
    const CachedName* cached = cache_ != nullptr ? cache_->Find(code, address) : nullptr;
    CachedName name;
    const auto chain = found.lines.find(address);
    if (cached != nullptr) {
      name = *cached;
    } else {
      const auto symbol = found.names.find(address);
      std::string_view whole = symbol != found.names.end() ? std::string_view(symbol->second) : std::string_view();
      if (whole.empty() && chain != found.lines.end()) whole = chain->second.back().function;
      name.named = !whole.empty();
      name.name = name.named ? Demangle(whole) : absl::StrCat(prefix, "0x", absl::Hex(address));
      // What could not be read today may be read tomorrow.
      if (cache_ != nullptr && owner != owners_.end() && is_read) cache_->Add(*owner->second, address, name);
    }
    frame.module = file;
    frame.named = name.named;
    frame.lines = chain == found.lines.end() ? Keep(code.memory.owner(), name.name, other)
                                             : KeepChain(code.memory.owner(), chain->second, name.name);
  }
}

void FrameNamer::AddKernelLines(const KernelCode& kernel, FrameNames& frames) {
  Reading reading = {.time_for_lines = TimeForLines()};
  for (const auto& [address, frame] : frames) {
    if (address >= kernel.begin && address < kernel.end) reading.addresses.push_back(address);
  }
  if (reading.addresses.empty() || !options_.lines) return;
  OwnedFd file = OpenKernelDebugFile(kernel, options_.debug_directory);
  if (!file && options_.fetch) file = Fetched(kernel.build_id, "vmlinux").value_or(OwnedFd());
  const std::optional<uint64_t> offset = file ? KernelOffset(kernel, file) : std::nullopt;
  if (!offset.has_value()) return;
  std::sort(reading.addresses.begin(), reading.addresses.end());
  std::vector<uint64_t> in_file;
  for (const uint64_t address : reading.addresses) in_file.push_back(address - *offset);
  reading.ReadLines([&] { return ReadSourceLines({.file = file.get()}, in_file, {.time = reading.time_for_lines}); });
  lines_time_ += reading.lines_time;
  CountLost(reading.lines);
  for (size_t i = 0; i < reading.lines.chains.size(); ++i) {
    FrameName& frame = frames[reading.addresses[i]];
    const LineChain& chain = reading.lines.chains[i];
    if (!chain.empty() && frame.named) frame.lines = KeepChain(kRoot, chain, frame.lines.back().function);
  }
}

// The function of the frame has the name that its symbol has, as without lines.
std::span<const FrameLine> FrameNamer::KeepChain(uid_t owner, const LineChain& chain, std::string_view name) {
  std::deque<std::string> names;
  std::vector<FrameLine> lines;
  for (const SourceLine& line : chain) {
    const bool is_last = &line == &chain.back();
    lines.push_back({.function = is_last ? name : names.emplace_back(Demangle(line.function)),
                     .file = line.file,
                     .line = line.line,
                     .column = line.column,
                     .start_line = line.start_line});
    if (lines.back().function.empty()) lines.back().function = "[no name]";
  }
  return KeepLines(owner, std::move(lines));
}

std::span<const FrameLine> FrameNamer::KeepLines(uid_t owner, std::vector<FrameLine> lines) {
  size_t bytes = 0;
  for (const FrameLine& line : lines) bytes += sizeof(FrameLine) + line.function.size() + line.file.size();
  MemoryLease& held = held_.try_emplace(owner, MemoryLease(room_, owner)).first->second;
  if (!held.Grow(bytes)) {
    ++left_out_;
    return pool_.InternLine(kLeftOut, kLeftOut);
  }
  for (FrameLine& line : lines) {
    line.function = pool_.Intern(line.function, kLeftOut);
    line.file = pool_.Intern(line.file, "");
  }
  return pool_.AddLines(std::move(lines));
}

std::vector<Loss> FrameNamer::Losses() const {
  std::vector<Loss> losses;
  if (not_read_ != 0) losses.push_back(LossOf(LossId::kNamesNotRead, not_read_));
  if (unreadable_ != 0) losses.push_back(LossOf(LossId::kSymbolsUnreadable, unreadable_));
  if (left_out_ != 0) losses.push_back(LossOf(LossId::kNameMemoryShare, left_out_));
  if (lines_cut_ != 0) losses.push_back(LossOf(LossId::kLinesCut, lines_cut_));
  if (without_split_ != 0) losses.push_back(LossOf(LossId::kSplitUnitsNotRead, without_split_));
  if (not_fetched_ != 0) losses.push_back(LossOf(LossId::kDebugFileNotFetched, not_fetched_));
  return losses;
}

}  // namespace offcpu
