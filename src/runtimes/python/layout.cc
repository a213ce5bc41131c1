#include "runtimes/python/layout.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "absl/status/status.h"

namespace offcpu {
namespace {

// "xdebugpy", with which an interpreter begins that says where things are.
constexpr uint64_t kCookie = 0x7970677562656478;
// Larger offsets are none.
constexpr uint64_t kMaxOffset = 1 << 20;
// At least a final release: others may be of any form.
constexpr uint32_t kFinal = 0xf0;

constexpr PythonLayout kPython311 = {.interpreters = 40,
                                     .interpreter_next = 0,
                                     .threads = 16,
                                     .thread_previous = 0,
                                     .thread_next = 8,
                                     .thread_interpreter = 16,
                                     .thread_number = 160,
                                     .current = 56,
                                     .has_c_frames = true,
                                     .c_frame_current = 8,
                                     .c_frame_previous = 16,
                                     .root_c_frame = 336,
                                     .frame_code = 32,
                                     .frame_previous = 48,
                                     .frame_instruction = 56,
                                     .frame_owner = 69,
                                     .has_entry = true,
                                     .frame_entry = 68,
                                     .code_file = 112,
                                     .code_name = 128,
                                     .code_lines = 136,
                                     .code_first_line = 72,
                                     .code_instructions = 184,
                                     .type = 8,
                                     .bytes_size = 16,
                                     .bytes_begin = 32,
                                     .text_length = 16,
                                     .text_state = 32,
                                     .ascii_text = 48,
                                     .other_text = 72};

constexpr PythonLayout kPython312 = {.interpreters = 40,
                                     .interpreter_next = 0,
                                     .threads = 72,
                                     .thread_previous = 0,
                                     .thread_next = 8,
                                     .thread_interpreter = 16,
                                     .thread_number = 144,
                                     .current = 56,
                                     .has_c_frames = true,
                                     .c_frame_current = 0,
                                     .c_frame_previous = 8,
                                     .root_c_frame = 272,
                                     .frame_code = 0,
                                     .frame_previous = 8,
                                     .frame_instruction = 56,
                                     .frame_owner = 70,
                                     .code_file = 112,
                                     .code_name = 128,
                                     .code_lines = 136,
                                     .code_first_line = 68,
                                     .code_instructions = 192,
                                     .type = 8,
                                     .bytes_size = 16,
                                     .bytes_begin = 32,
                                     .text_length = 16,
                                     .text_state = 32,
                                     .ascii_text = 40,
                                     .other_text = 56};

// Which words of an interpreter say what.
struct DebugWord {
  uint32_t PythonLayout::*offset;
  size_t in_313;
  size_t in_314;
};
constexpr DebugWord kWords[] = {
    {&PythonLayout::interpreters, 5, 5},
    {&PythonLayout::interpreter_next, 8, 8},
    {&PythonLayout::threads, 9, 9},
    {&PythonLayout::thread_previous, 20, 23},
    {&PythonLayout::thread_next, 21, 24},
    {&PythonLayout::thread_interpreter, 22, 25},
    {&PythonLayout::current, 23, 26},
    {&PythonLayout::thread_number, 25, 28},
    {&PythonLayout::frame_previous, 29, 32},
    {&PythonLayout::frame_code, 30, 33},
    {&PythonLayout::frame_instruction, 31, 34},
    {&PythonLayout::frame_owner, 33, 36},
    {&PythonLayout::code_file, 35, 40},
    {&PythonLayout::code_name, 37, 42},
    {&PythonLayout::code_lines, 38, 43},
    {&PythonLayout::code_first_line, 39, 44},
    {&PythonLayout::code_instructions, 43, 48},
    {&PythonLayout::type, 45, 51},
    {&PythonLayout::bytes_size, 65, 75},
    {&PythonLayout::bytes_begin, 66, 76},
    {&PythonLayout::text_state, 68, 78},
    {&PythonLayout::text_length, 69, 79},
    {&PythonLayout::ascii_text, 70, 80},
};
constexpr size_t kWordCount = 81;

absl::Status Unknown(const char* what) { return absl::UnimplementedError(what); }

absl::StatusOr<PythonLayout> ReadWords(const Memory& memory, uint64_t runtime, uint64_t version, bool is_314) {
  std::array<uint64_t, kWordCount> words = {};
  if (!memory.Read(runtime, std::as_writable_bytes(std::span(words)))) return absl::DataLossError("not readable");
  if (words[0] != kCookie || words[1] != version) return Unknown("without its offsets");
  if (words[2] != 0) return Unknown("free-threaded");
  PythonLayout layout;
  for (const DebugWord& word : kWords) {
    const uint64_t offset = words[is_314 ? word.in_314 : word.in_313];
    if (offset > kMaxOffset) return Unknown("offsets of an unknown form");
    layout.*word.offset = static_cast<uint32_t>(offset);
  }
  layout.other_text = layout.ascii_text + 2 * sizeof(uint64_t);
  return layout;
}

absl::StatusOr<PythonLayout> OffsetsOf(const Memory& memory, uint64_t runtime, uint64_t version) {
  if ((version & 0xffff) < kFinal) return Unknown("no final release");
  switch (version >> 16) {
    case 0x30b:
      return kPython311;
    case 0x30c:
      return kPython312;
    case 0x30d:
      return ReadWords(memory, runtime, version, false);
    case 0x30e:
      return ReadWords(memory, runtime, version, true);
    default:
      return Unknown("another version");
  }
}

}  // namespace

absl::StatusOr<PythonLayout> ReadPythonLayout(const Memory& memory,
                                              const std::map<std::string, uint64_t, std::less<>>& symbols) {
  for (const std::string_view name : kPythonSymbols) {
    if (!symbols.contains(name)) return Unknown("symbols are not exported");
  }
  const auto address = [&symbols](std::string_view name) { return symbols.find(name)->second; };
  const std::optional<uint64_t> version = memory.ReadValue<uint64_t>(address("Py_Version"));
  if (!version) return absl::DataLossError("not readable");
  absl::StatusOr<PythonLayout> layout = OffsetsOf(memory, address("_PyRuntime"), *version);
  if (!layout.ok()) return layout;
  layout->runtime = address("_PyRuntime");
  layout->code_type = address("PyCode_Type");
  layout->text_type = address("PyUnicode_Type");
  layout->bytes_type = address("PyBytes_Type");
  return layout;
}

}  // namespace offcpu
