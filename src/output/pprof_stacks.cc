#include "output/pprof_stacks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "output/pprof_labels.h"
#include "output/stack_labels.h"

namespace offcpu {
namespace {

absl::Status Damaged(std::string_view what) {
  return absl::DataLossError(absl::StrCat("is damaged: a sample with ", std::string(what)));
}

// Of a frame without a name, the symbolizer makes one out of file and address.
bool IsNamed(const PprofLocation& location) {
  return location.module != nullptr &&
         !(location.name.starts_with(location.file) && location.name.substr(location.file.size()).starts_with("+0x"));
}

// No code: what stands for frames that are not known, or the value of a label (-tagroot, -tagleaf).
bool IsWord(const PprofLocation& location) {
  return location.module == nullptr && !location.kernel && location.address == 0;
}

// What an entry says instead of frames or beside them; nothing if it is no such word.
std::optional<UserStackEntry> EntryOf(std::string_view no_user_stack, std::string_view user_end) {
  UserStackEntry entry;
  if (no_user_stack.empty() && user_end.empty()) {
    entry.filtered = true;
    return entry;
  }
  if (no_user_stack == kOtherStack) {
    entry.overflow = true;
    return entry;
  }
  if (!no_user_stack.empty()) {
    const std::optional<NoUserStack> reason = ByName<NoUserStack>(no_user_stack, kNoUserStackCount);
    if (!reason.has_value() || *reason == NoUserStack::kNone) return std::nullopt;
    entry.missing = *reason;
    return entry;
  }
  const std::optional<EndReason> end = ByName<EndReason>(user_end, kEndReasonCount);
  if (!end.has_value()) return std::nullopt;
  entry.stack.end = *end;
  return entry;
}

std::string MadeName(const PprofLocation& location) {
  const std::string address = absl::StrCat("0x", absl::Hex(location.address));
  if (location.kernel) return absl::StrCat("[kernel] ", address);
  if (location.module != nullptr) return absl::StrCat(std::string(location.file), "+", address);
  return location.address == 0 ? "[unknown]" : absl::StrCat("[unknown] ", address);
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> PprofStacks::Find(std::span<const uint64_t> location_ids) const {
  std::vector<uint32_t> locations;
  for (const uint64_t id : location_ids) {
    const absl::StatusOr<uint32_t> location = tables_.FindLocation(id);
    if (!location.ok()) return location.status();
    locations.push_back(*location);
  }
  return locations;
}

bool PprofStacks::IsMark(uint32_t index) const {
  const PprofLocation& location = tables_.location(index);
  return IsWord(location) && location.name == kWakerMark;
}

absl::StatusOr<std::vector<PprofStacks::Locations>> PprofStacks::Split(std::span<const uint64_t> location_ids,
                                                                       size_t wakers, bool* marked) const {
  const size_t max_locations = (max_frames_ + 1) * (1 + kMaxLinks);
  if (location_ids.size() > max_locations) {
    return absl::ResourceExhaustedError(absl::StrCat("is too large: stacks of more than ", max_locations, " frames"));
  }
  const absl::StatusOr<std::vector<uint32_t>> all = Find(location_ids);
  if (!all.ok()) return all.status();
  std::vector<Locations> stacks;
  auto begin = all->begin();
  // The mark is never the outermost one: that is a word that pprof has put there.
  for (auto it = begin; it != all->end() && it + 1 != all->end(); ++it) {
    if (!IsMark(*it)) continue;
    stacks.emplace_back(std::make_reverse_iterator(it), std::make_reverse_iterator(begin));
    begin = it + 1;
  }
  *marked = !stacks.empty();
  stacks.emplace_back(begin, all->end());
  std::reverse(stacks.begin(), stacks.end());
  if (stacks.size() == 1 && wakers != 0) stacks[0].clear();  // whose is which is not known any more
  if (stacks.size() != 1 + wakers) stacks.resize(1);
  for (const Locations& stack : stacks) {
    if (stack.size() <= max_frames_) continue;
    return absl::ResourceExhaustedError(absl::StrCat("is too large: a stack of more than ", max_frames_, " frames"));
  }
  return stacks;
}

absl::StatusOr<PprofStacks::Stacks> PprofStacks::Intern(const Locations& locations, const PprofStackLabels& labels) {
  const auto is_kernel = [this](uint32_t index) { return tables_.location(index).kernel; };
  const auto is_word = [this](uint32_t index) { return IsWord(tables_.location(index)); };
  const auto kernel = std::find_if(locations.begin(), locations.end(), is_kernel);
  const auto user =
      kernel == locations.end() ? locations.begin() : std::find_if_not(kernel, locations.end(), is_kernel);
  // Words at the leaf go with the kernel stack, if there is one.
  if (std::any_of(user, locations.end(), is_kernel) ||
      (user != locations.begin() && !std::all_of(locations.begin(), kernel, is_word))) {
    return Damaged("a kernel frame that user code called");
  }
  const absl::StatusOr<uint32_t> kernel_stack = InternKernel({locations.begin(), user}, labels.no_kernel_stack);
  if (!kernel_stack.ok()) return kernel_stack.status();
  // Ours have at least the word for a stack that is not known, unless there is none.
  const bool cut = user == locations.begin() && labels.no_kernel_stack != kUserModeStack;
  const absl::StatusOr<uint32_t> user_stack = InternUser({user, locations.end()}, labels, cut);
  if (!user_stack.ok()) return user_stack.status();
  return Stacks{.kernel = *kernel_stack, .user = *user_stack, .bytes = Bytes(locations)};
}

absl::StatusOr<PprofStacks::Stacks> PprofStacks::InternInterrupt(const Locations& locations,
                                                                 const PprofStackLabels& labels) {
  Locations kernel = locations;
  std::erase_if(kernel, [this](uint32_t index) { return !tables_.location(index).kernel; });
  const absl::StatusOr<uint32_t> kernel_stack = InternKernel(kernel, labels.no_kernel_stack);
  if (!kernel_stack.ok()) return kernel_stack.status();
  const auto next = static_cast<uint32_t>(profile_.user_stacks.size());
  if (!no_user_of_interrupts_.has_value()) {
    no_user_of_interrupts_ = next;
    profile_.user_stacks.push_back({.stack = {}, .missing = NoUserStack::kKernelThread});
    symbols_.user_stacks.emplace_back();
  }
  return Stacks{.kernel = *kernel_stack, .user = *no_user_of_interrupts_, .bytes = Bytes(kernel)};
}

uint64_t PprofStacks::Bytes(LocationSpan locations) const {
  uint64_t bytes = 0;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    bytes += PprofFrameBytes(location.name, location.file);
  }
  return bytes;
}

SymbolizedFrame PprofStacks::Symbol(const PprofLocation& location) {
  if (location.name.empty()) return {.name = symbols_.names->emplace_back(MadeName(location)), .module = location.file};
  return {.name = location.name, .module = location.file, .named = IsNamed(location)};
}

absl::StatusOr<uint32_t> PprofStacks::InternKernel(LocationSpan locations, std::string_view label) {
  bool overflow = locations.empty() && label == kOtherStack;
  const bool user_mode = locations.empty() && label == kUserModeStack;
  if (locations.size() == 1 && tables_.location(locations[0]).address == 0) {
    overflow = tables_.location(locations[0]).name == EndLabel({.overflow = true});
    locations = {};
  }
  std::vector<uint32_t> key(locations.begin(), locations.end());
  key.push_back((overflow ? 1 : 0) + (user_mode ? 2 : 0));
  const auto [it, inserted] =
      kernel_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.kernel_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = held_.Take(Bytes(locations)); !status.ok()) return status;
  KernelStack& stack = profile_.kernel_stacks.emplace_back();
  std::vector<std::string_view>& names = symbols_.kernel_stacks.emplace_back();
  stack.overflow = overflow;
  stack.user_mode = user_mode;
  for (const uint32_t index : locations) {
    stack.addresses.push_back(tables_.location(index).address + 1);  // the address to return to
    names.push_back(Symbol(tables_.location(index)).name);
  }
  return it->second;
}

// Takes the word for what the entry lacks off the outer end. False if the frames are not those of such an entry.
bool PprofStacks::TakeMarker(const UserStackEntry& entry, LocationSpan* locations) const {
  const std::string label = EndLabel(entry);
  const PprofLocation* last = locations->empty() ? nullptr : &tables_.location(locations->back());
  if (label.empty()) return last != nullptr && !IsWord(*last);
  if (last == nullptr || !IsWord(*last) || last->name != label) return false;
  *locations = locations->first(locations->size() - 1);
  return locations->empty() || (entry.missing == NoUserStack::kNone && !entry.overflow);
}

// False if the sources are those of other frames.
bool PprofStacks::FillFrames(LocationSpan locations, std::string_view sources, UserStackEntry* entry) const {
  std::vector<Frame>& frames = entry->stack.frames;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    frames.push_back({.module = location.module, .address = location.address});
  }
  if (entry->filtered) return true;
  if (!ReadSources(sources, frames)) return false;
  for (Frame& frame : frames) {
    if (!frame.exact) ++frame.address;  // back to the return address
  }
  return true;
}

absl::StatusOr<uint32_t> PprofStacks::InternUser(LocationSpan locations, const PprofStackLabels& labels, bool cut) {
  std::optional<UserStackEntry> entry = EntryOf(labels.no_user_stack, labels.user_end);
  if (!entry.has_value()) return Damaged("an unknown user stack");
  std::vector<uint32_t> key(locations.begin(), locations.end());
  key.push_back(sources_index_.try_emplace(labels.unwind, static_cast<uint32_t>(sources_index_.size())).first->second);
  key.push_back(static_cast<uint32_t>(entry->stack.end));
  key.push_back(static_cast<uint32_t>(entry->missing));
  key.push_back((entry->overflow ? 1 : 0) + (entry->filtered ? 2 : 0) + (cut ? 4 : 0));
  const auto [it, inserted] =
      user_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.user_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = held_.Take(Bytes(locations)); !status.ok()) return status;
  LocationSpan frames = locations;
  if (entry->filtered || cut || !TakeMarker(*entry, &frames) || !FillFrames(frames, labels.unwind, &*entry)) {
    frames = locations;
    *entry = {.stack = {}, .filtered = true};
    FillFrames(frames, "", &*entry);
  }
  profile_.user_stacks.push_back(*std::move(entry));
  std::vector<SymbolizedFrame>& symbols = symbols_.user_stacks.emplace_back();
  for (const uint32_t index : frames) symbols.push_back(Symbol(tables_.location(index)));
  return it->second;
}

}  // namespace offcpu
