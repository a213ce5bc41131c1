#include "html/stack_tree.h"

#include "bytes/utf8.h"
#include "labels/stack_labels.h"
#include "process/code_object.h"

namespace offcpu {
namespace {

// `text` is valid UTF-8.
std::string Cut(std::string text) {
  constexpr std::string_view kMark = "\xe2\x80\xa6";  // an ellipsis
  if (text.size() <= PageStrings::kMaxBytes) return text;
  size_t size = PageStrings::kMaxBytes - kMark.size();
  while ((static_cast<uint8_t>(text[size]) & 0xc0) == 0x80) --size;  // not the first byte of a character
  text.resize(size);
  return text += kMark;
}

FrameClass ClassOf(const NamedFrame& frame) {
  switch (frame.kind) {
    case FrameKind::kKernel:
      return FrameClass::kKernel;
    case FrameKind::kInterpreted:
      return FrameClass::kInterpreted;
    case FrameKind::kNative:
    case FrameKind::kGenerated:
    case FrameKind::kMarker:
      break;
  }
  return FrameClass::kUser;
}

}  // namespace

uint32_t PageStrings::Of(std::string_view text) {
  const auto [it, is_new] = index_.try_emplace(std::string(text), 0);
  if (!is_new) return it->second;
  std::string printable = Cut(Printable(text));
  const auto [same, is_first] =
      index_of_printable_.try_emplace(printable, static_cast<uint32_t>(index_of_printable_.size()));
  if (is_first) all_.push_back(std::move(printable));
  it->second = same->second;
  return it->second;
}

uint32_t StackTree::FrameOf(std::string_view name, std::string_view module, FrameClass kind) {
  const Frame frame = {strings_.Of(name), strings_.Of(module), kind};
  const auto [it, is_new] =
      frame_index_.try_emplace({frame.name, frame.module, kind}, static_cast<uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(frame);
  return it->second;
}

uint32_t StackTree::PlaceOf(const FrameLine& line) {
  if (line.file.empty()) return 0;
  const Place place = {strings_.Of(line.file), line.line, line.start_line};
  const auto [it, is_new] =
      place_index_.try_emplace({place.file, place.line, place.start_line}, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  return it->second;
}

StackTree::Spot StackTree::Below(Spot parent, const Stack& stack) {
  Spot at = parent;
  for (const Entry& entry : stack) {
    const auto [node, is_new] = node_index_.try_emplace({at.node, entry.frame}, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({at.node, entry.frame, entry.inlined});
    at.node = node->second;
    nodes_[at.node].inlined &= entry.inlined;
    if (at.step == 0 && entry.place == 0) continue;
    const auto [step, is_new_step] =
        step_index_.try_emplace({at.step, entry.place}, static_cast<uint32_t>(steps_.size()));
    if (is_new_step) steps_.push_back({at.step, entry.place});
    at.step = step->second;
  }
  return at;
}

StackPlacer::StackPlacer(const NamedProfile& profile, bool is_comparing, StackTree& tree)
    : profile_(profile),
      is_comparing_(is_comparing),
      tree_(tree),
      user_spots_(profile.user_stacks.size()),
      waker_nodes_(profile.wakers.size()),
      kernel_frames_(profile.kernel_stacks.size()) {}

// Appends the functions of the frame, outermost first.
void StackPlacer::AppendFrame(const NamedFrame& frame, Stack* frames) {
  // One function of several processes, or of two recordings, is one.
  const bool is_in_perf_map = frame.code != nullptr && frame.code->kind() == CodeKind::kPerfMap;
  const std::string_view module = is_in_perf_map ? "perf map" : frame.module_name;
  for (auto line = frame.lines.rbegin(); line != frame.lines.rend(); ++line) {
    StackTree::Entry entry = {.frame = tree_.FrameOf(line->function, module, ClassOf(frame))};
    if (!is_comparing_) {
      entry.place = tree_.PlaceOf(*line);
      entry.inlined = line != frame.lines.rbegin();
    }
    frames->push_back(entry);
  }
}

StackPlacer::Stack StackPlacer::UserFrames(const NamedUserStack& stack) {
  Stack frames;
  if (const std::string end = EndLabel(stack); !end.empty()) {
    frames.push_back({tree_.FrameOf(end, "", FrameClass::kMissing)});
  }
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) AppendFrame(*frame, &frames);
  return frames;
}

StackPlacer::Stack StackPlacer::KernelFrames(const NamedKernelStack& stack) {
  Stack frames;
  for (auto frame = stack.frames.rbegin(); frame != stack.frames.rend(); ++frame) AppendFrame(*frame, &frames);
  if (!frames.empty()) return frames;
  for (const std::string& label : KernelLabels(stack))
    frames.push_back({tree_.FrameOf(label, "", FrameClass::kMissing)});
  return frames;
}

StackPlacer::Stack StackPlacer::WakerFrames(const Waker& waker) {
  Stack frames = {{tree_.FrameOf("woken by", "", FrameClass::kWaker)}};
  const auto append_reversed = [&frames](const Stack& stack) {
    frames.insert(frames.end(), stack.rbegin(), stack.rend());
  };
  append_reversed(KernelFrames(profile_.kernel_stacks[waker.kernel_stack]));
  if (waker.interrupt) {
    frames.push_back({tree_.FrameOf(kInterrupt, "", FrameClass::kThread)});
    return frames;
  }
  append_reversed(UserFrames(profile_.user_stacks[waker.user_stack]));
  const ProcessInfo& process = profile_.processes[waker.process];
  frames.push_back({tree_.FrameOf(ThreadLabel(profile_.comms[waker.comm]), "", FrameClass::kThread)});
  frames.push_back(
      {tree_.FrameOf(is_comparing_ ? ProgramLabel(process) : ProcessLabel(process), "", FrameClass::kThread)});
  return frames;
}

StackTree::Spot StackPlacer::StackOf(uint32_t user_stack, uint32_t kernel_stack) {
  StackTree::Spot& user = user_spots_[user_stack];
  if (user.node == 0) user = tree_.Below({}, UserFrames(profile_.user_stacks[user_stack]));
  std::unique_ptr<Stack>& kernel = kernel_frames_[kernel_stack];
  if (kernel == nullptr) kernel = std::make_unique<Stack>(KernelFrames(profile_.kernel_stacks[kernel_stack]));
  return tree_.Below(user, *kernel);
}

uint32_t StackPlacer::WakersOf(uint32_t chain_index) {
  if (chain_index == 0) return 0;
  uint32_t& node = waker_nodes_[chain_index - 1];
  if (node != 0) return node;
  const WakerChain& chain = profile_.wakers[chain_index - 1];
  for (const Waker& waker : chain) node = tree_.Below({.node = node}, WakerFrames(waker)).node;
  if (!chain.empty()) return node;
  const Stack other = {{tree_.FrameOf("woken by", "", FrameClass::kWaker)},
                       {tree_.FrameOf("[other]", "", FrameClass::kMissing)}};
  node = tree_.Below({}, other).node;
  return node;
}

uint32_t StackPlacer::Pruned() { return tree_.Below({}, {{tree_.FrameOf("[pruned]", "", FrameClass::kMissing)}}).node; }

}  // namespace offcpu
