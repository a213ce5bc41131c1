#include "pprof/pprof_stacks.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classify/interpreted.h"
#include "labels/stack_labels.h"
#include "pprof/pprof_labels.h"
#include "profile/left_out_name.h"

namespace offcpu {
namespace {

absl::Status DamagedStack(std::string_view what) {
  return absl::DataLossError(absl::StrCat("is damaged: a sample with ", std::string(what)));
}

// False for names that the symbolizer has made out of file and address.
bool IsNamed(const NamedFrame& frame) {
  const std::string_view name = frame.name();
  if (frame.kind == FrameKind::kKernel) return !name.starts_with("[kernel] 0x");
  const std::string_view file = frame.module_name;
  return frame.code != nullptr && !(name.starts_with(file) && name.substr(file.size()).starts_with("+0x"));
}

// Files do not say which mappings are no ELF objects, so frames in such a one are native here.
FrameKind KindOf(const PprofLocation& location) {
  if (location.code == nullptr) return IsLeftOutName(location.name()) ? FrameKind::kMarker : FrameKind::kGenerated;
  if (location.code->kind() == CodeKind::kElf) return FrameKind::kNative;
  return IsInterpretedName(location.name()) ? FrameKind::kInterpreted : FrameKind::kGenerated;
}

// No code: what stands for frames that are not known.
bool IsWord(const PprofLocation& location) {
  return location.code == nullptr && !location.kernel && location.address == 0;
}

// A stack without its frames, as the words for what it lacks have it; nothing if there are no such words.
std::optional<NamedUserStack> StackOf(std::string_view no_user_stack, std::string_view user_end) {
  NamedUserStack stack;
  if (no_user_stack == kOtherStack) {
    stack.overflow = true;
    return stack;
  }
  if (!no_user_stack.empty()) {
    const std::optional<NoUserStack> reason = ByName<NoUserStack>(no_user_stack, kNoUserStackCount);
    if (!reason.has_value() || *reason == NoUserStack::kNone) return std::nullopt;
    stack.missing = *reason;
    return stack;
  }
  const std::optional<EndReason> end = ByName<EndReason>(NameToday(user_end), kEndReasonCount);
  if (!end.has_value()) return std::nullopt;
  stack.end = *end;
  return stack;
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> PprofStacks::Find(std::span<const uint64_t> location_ids) const {
  std::vector<uint32_t> locations;
  for (const uint64_t id : location_ids) {
    const absl::StatusOr<uint32_t> location = tables_.FindLocation(id);
    if (!location.ok()) return location.status();
    if (tables_.location(*location).lines.empty()) return DamagedStack("a frame without a function");
    locations.push_back(*location);
  }
  return locations;
}

size_t PprofStacks::Functions(LocationSpan locations) const {
  size_t functions = 0;
  for (const uint32_t index : locations) functions += tables_.location(index).lines.size();
  return functions;
}

bool PprofStacks::IsMark(uint32_t index) const {
  const PprofLocation& location = tables_.location(index);
  return IsWord(location) && location.name() == kWakerMark;
}

absl::StatusOr<std::vector<PprofStacks::Locations>> PprofStacks::Split(std::span<const uint64_t> location_ids,
                                                                       size_t wakers) const {
  const size_t max_locations = (max_frames_ + 1) * (1 + kMaxWakers);
  if (location_ids.size() > max_locations) {
    return absl::ResourceExhaustedError(absl::StrCat("is too large: stacks of more than ", max_locations, " frames"));
  }
  const absl::StatusOr<std::vector<uint32_t>> all = Find(location_ids);
  if (!all.ok()) return all.status();
  std::vector<Locations> stacks;
  auto begin = all->begin();
  for (auto it = begin; it != all->end(); ++it) {
    if (!IsMark(*it)) continue;
    stacks.emplace_back(std::make_reverse_iterator(it), std::make_reverse_iterator(begin));
    begin = it + 1;
  }
  stacks.emplace_back(begin, all->end());
  if (stacks.size() != 1 + wakers) return DamagedStack("other wakers than its labels name");
  std::reverse(stacks.begin(), stacks.end());
  for (const Locations& stack : stacks) {
    if (Functions(stack) <= max_frames_) continue;
    return absl::ResourceExhaustedError(absl::StrCat("is too large: a stack of more than ", max_frames_, " functions"));
  }
  return stacks;
}

absl::StatusOr<PprofStacks::Stacks> PprofStacks::Intern(const Locations& locations, const PprofStackLabels& labels) {
  const auto is_kernel = [this](uint32_t index) { return tables_.location(index).kernel; };
  const auto user = std::find_if_not(locations.begin(), locations.end(), is_kernel);
  if (std::any_of(user, locations.end(), is_kernel)) return DamagedStack("a kernel frame that user code called");
  if ((user == locations.begin()) != (labels.no_kernel_stack == kUserModeStack))
    return DamagedStack("another kernel stack than its labels say");
  const absl::StatusOr<uint32_t> kernel_stack = InternKernel({locations.begin(), user}, labels.no_kernel_stack);
  if (!kernel_stack.ok()) return kernel_stack.status();
  const absl::StatusOr<uint32_t> user_stack = InternUser({user, locations.end()}, labels);
  if (!user_stack.ok()) return user_stack.status();
  return Stacks{.kernel = *kernel_stack, .user = *user_stack, .bytes = Bytes(locations)};
}

absl::StatusOr<PprofStacks::Stacks> PprofStacks::InternInterrupt(const Locations& locations,
                                                                 const PprofStackLabels& labels) {
  Locations kernel = locations;
  std::erase_if(kernel, [this](uint32_t index) { return !tables_.location(index).kernel; });
  if (locations.size() != kernel.size() + 1) return DamagedStack("an interrupt with a user stack");  // but for its word
  const absl::StatusOr<uint32_t> kernel_stack = InternKernel(kernel, labels.no_kernel_stack);
  if (!kernel_stack.ok()) return kernel_stack.status();
  const auto next = static_cast<uint32_t>(profile_.user_stacks.size());
  if (!no_user_of_interrupts_.has_value()) {
    no_user_of_interrupts_ = next;
    profile_.user_stacks.push_back({.missing = NoUserStack::kKernelThread});
  }
  return Stacks{.kernel = *kernel_stack, .user = *no_user_of_interrupts_, .bytes = Bytes(kernel)};
}

uint64_t PprofStacks::Bytes(LocationSpan locations) const {
  uint64_t bytes = 0;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    bytes += location.file.size();
    for (const FrameLine& line : location.lines) bytes += PprofFrameBytes(line.function, line.file);
  }
  return bytes;
}

void PprofStacks::SetName(const PprofLocation& location, NamedFrame* frame) {
  frame->lines = location.lines;
  frame->module_name = location.file;
  frame->named = IsNamed(*frame);
}

absl::StatusOr<uint32_t> PprofStacks::InternKernel(LocationSpan locations, std::string_view label) {
  const bool user_mode = label == kUserModeStack;
  bool overflow = false;
  if (locations.size() == 1 && tables_.location(locations[0]).address == 0) {
    overflow = tables_.location(locations[0]).name() == EndLabel(NamedUserStack{.overflow = true});
    locations = {};
  }
  std::vector<uint32_t> key(locations.begin(), locations.end());
  key.push_back((overflow ? 1 : 0) + (user_mode ? 2 : 0));
  const auto [it, inserted] =
      kernel_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.kernel_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = held_.Take(Bytes(locations)); !status.ok()) return status;
  NamedKernelStack& stack = profile_.kernel_stacks.emplace_back();
  stack.overflow = overflow;
  stack.user_mode = user_mode;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    // The address to return to.
    stack.frames.push_back({{.address = location.address + 1, .exact = false, .kind = FrameKind::kKernel}});
    SetName(location, &stack.frames.back());
  }
  return it->second;
}

// Takes the word for what the stack lacks off the outer end. False if the frames are not those of such a stack.
bool PprofStacks::TakeMarker(const NamedUserStack& stack, LocationSpan* locations) const {
  const std::string label = EndLabel(stack);
  const PprofLocation* last = locations->empty() ? nullptr : &tables_.location(locations->back());
  if (label.empty()) return last != nullptr && !IsWord(*last);
  if (last == nullptr || !IsWord(*last) || NameToday(last->name()) != label) return false;
  *locations = locations->first(locations->size() - 1);
  return locations->empty() || (stack.missing == NoUserStack::kNone && !stack.overflow);
}

// False if the sources are those of other frames.
bool PprofStacks::FillFrames(LocationSpan locations, std::string_view sources, NamedUserStack* stack) const {
  std::vector<NamedFrame>& frames = stack->frames;
  for (const uint32_t index : locations) {
    const PprofLocation& location = tables_.location(index);
    frames.push_back({{.code = location.code, .address = location.address, .kind = KindOf(location)}});
  }
  if (!ReadSources(sources, frames)) return false;
  for (NamedFrame& frame : frames) {
    if (!frame.exact) ++frame.address;  // back to the return address
  }
  return true;
}

absl::StatusOr<uint32_t> PprofStacks::InternUser(LocationSpan locations, const PprofStackLabels& labels) {
  std::optional<NamedUserStack> stack = StackOf(labels.no_user_stack, labels.user_end);
  if (!stack.has_value()) return DamagedStack("an unknown user stack");
  std::vector<uint32_t> key(locations.begin(), locations.end());
  key.push_back(sources_index_.try_emplace(labels.unwind, static_cast<uint32_t>(sources_index_.size())).first->second);
  key.push_back(static_cast<uint32_t>(stack->end));
  key.push_back(static_cast<uint32_t>(stack->missing));
  key.push_back(stack->overflow ? 1 : 0);
  const auto [it, inserted] =
      user_index_.try_emplace(std::move(key), static_cast<uint32_t>(profile_.user_stacks.size()));
  if (!inserted) return it->second;
  if (absl::Status status = held_.Take(Bytes(locations)); !status.ok()) return status;
  if (!TakeMarker(*stack, &locations) || !FillFrames(locations, labels.unwind, &*stack))
    return DamagedStack("another user stack than its labels say");
  for (size_t i = 0; i < locations.size(); ++i) SetName(tables_.location(locations[i]), &stack->frames[i]);
  profile_.user_stacks.push_back(*std::move(stack));
  return it->second;
}

}  // namespace offcpu
