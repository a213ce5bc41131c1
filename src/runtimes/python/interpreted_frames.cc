#include "runtimes/python/interpreted_frames.h"

namespace offcpu {
namespace {

// Owners of frames: beside generators (and coroutines), threads and frame objects.
constexpr uint8_t kGenerator = 1;
constexpr uint8_t kFirstOfC = 3;

constexpr uint64_t kTags = 7;  // bits of a pointer to a code object

struct FoundFrame {
  PythonFrame frame;
  uint64_t previous = 0;
  bool is_of_c = false;   // it stands for a caller in C
  bool is_entry = false;  // the outermost one of its run
};

std::optional<FoundFrame> ReadFrame(const PythonLayout& layout, const Memory& memory, uint64_t address) {
  const std::optional<uint64_t> code = memory.ReadValue<uint64_t>(address + layout.frame_code);
  const std::optional<uint64_t> previous = memory.ReadValue<uint64_t>(address + layout.frame_previous);
  const std::optional<uint64_t> instruction = memory.ReadValue<uint64_t>(address + layout.frame_instruction);
  const std::optional<uint8_t> owner = memory.ReadValue<uint8_t>(address + layout.frame_owner);
  if (!code || !previous || !instruction || !owner) return std::nullopt;
  FoundFrame frame = {
      .frame = {.code = *code & ~kTags, .instruction = *instruction, .is_generator = *owner == kGenerator},
      .previous = *previous,
      .is_of_c = *owner >= kFirstOfC,
  };
  if (!layout.has_entry) return frame;
  const std::optional<uint8_t> entry = memory.ReadValue<uint8_t>(address + layout.frame_entry);
  if (!entry || frame.is_of_c) return std::nullopt;
  frame.is_entry = *entry != 0;
  return frame;
}

// 3.11: the C frames form a chain of their own, each with the innermost frame that it runs.
std::optional<PythonFrames> ReadByCFrames(const PythonLayout& layout, const Memory& memory, uint64_t thread_state) {
  PythonFrames found;
  const uint64_t root = thread_state + layout.root_c_frame;
  std::optional<uint64_t> c_frame = memory.ReadValue<uint64_t>(thread_state + layout.current);
  while (c_frame && *c_frame != root) {
    InterpretedRun run = {.at = *c_frame};
    std::optional<uint64_t> address = memory.ReadValue<uint64_t>(*c_frame + layout.c_frame_current);
    for (bool is_entry = false; !is_entry; ++run.frames) {
      if (!address || found.frames.size() == kMaxPythonFrames) return std::nullopt;
      const std::optional<FoundFrame> frame = ReadFrame(layout, memory, *address);
      if (!frame) return std::nullopt;
      found.frames.push_back(frame->frame);
      address = frame->previous;
      is_entry = frame->is_entry;
    }
    found.runs.push_back(run);
    c_frame = memory.ReadValue<uint64_t>(*c_frame + layout.c_frame_previous);
    // The run was entered from the one before.
    if (!c_frame || memory.ReadValue<uint64_t>(*c_frame + layout.c_frame_current) != address) return std::nullopt;
  }
  if (!c_frame) return std::nullopt;
  return found;
}

std::optional<uint64_t> InnermostFrame(const PythonLayout& layout, const Memory& memory, uint64_t thread_state) {
  const std::optional<uint64_t> current = memory.ReadValue<uint64_t>(thread_state + layout.current);
  if (!layout.has_c_frames || !current) return current;
  return memory.ReadValue<uint64_t>(*current + layout.c_frame_current);
}

}  // namespace

std::optional<PythonFrames> ReadPythonFrames(const PythonLayout& layout, const Memory& memory, uint64_t thread_state) {
  if (layout.has_entry) return ReadByCFrames(layout, memory, thread_state);
  PythonFrames found;
  size_t in_run = 0;
  std::optional<uint64_t> address = InnermostFrame(layout, memory, thread_state);
  while (address && *address != 0) {
    const std::optional<FoundFrame> frame = ReadFrame(layout, memory, *address);
    if (!frame || found.frames.size() + found.runs.size() == kMaxPythonFrames) return std::nullopt;
    if (frame->is_of_c) {
      found.runs.push_back({.at = *address, .frames = in_run});
      in_run = 0;
    } else {
      found.frames.push_back(frame->frame);
      ++in_run;
    }
    address = frame->previous;
  }
  if (!address || in_run != 0) return std::nullopt;
  return found;
}

}  // namespace offcpu
