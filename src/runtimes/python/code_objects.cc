#include "runtimes/python/code_objects.h"

#include <algorithm>
#include <span>
#include <vector>

#include "runtimes/python/line_table.h"

namespace offcpu {
namespace {

constexpr uint64_t kUnitBytes = 2;  // of code
constexpr uint64_t kMaxUnits = 1u << 28;
// In the code object of every known version an int lies so far before the instructions, with a pointer in between.
constexpr uint64_t kFirstTracedBefore = 16;

bool HasType(const PythonLayout& layout, const Memory& memory, uint64_t object, uint64_t type) {
  return memory.ReadValue<uint64_t>(object + layout.type) == type;
}

void AppendUtf8(uint32_t character, std::string* text) {
  constexpr uint32_t kReplacement = 0xfffd;
  if ((character >= 0xd800 && character < 0xe000) || character > 0x10ffff) character = kReplacement;
  const auto more = [&](unsigned shift) { *text += static_cast<char>(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    *text += static_cast<char>(character);
  } else if (character < 0x800) {
    *text += static_cast<char>(0xc0 | character >> 6);
    more(0);
  } else if (character < 0x10000) {
    *text += static_cast<char>(0xe0 | character >> 12);
    more(6);
    more(0);
  } else {
    *text += static_cast<char>(0xf0 | character >> 18);
    more(12);
    more(6);
    more(0);
  }
}

// A text in UTF-8, cut at kMaxPythonNameBytes characters; nothing: it is none.
std::optional<std::string> TextAt(const PythonLayout& layout, const Memory& memory, uint64_t object) {
  if (!HasType(layout, memory, object, layout.text_type)) return std::nullopt;
  const std::optional<uint64_t> length = memory.ReadValue<uint64_t>(object + layout.text_length);
  const std::optional<uint32_t> state = memory.ReadValue<uint32_t>(object + layout.text_state);
  if (!length || !state) return std::nullopt;
  // Two bits of something else, three for the bytes of a character, then: in the object itself, and ASCII.
  const uint32_t width = *state >> 2 & 7;
  const bool is_inside = (*state >> 5 & 1) != 0;
  const bool is_ascii = (*state >> 6 & 1) != 0;
  if (!is_inside || (width != 1 && width != 2 && width != 4)) return std::nullopt;
  const size_t characters = std::min<uint64_t>(*length, kMaxPythonNameBytes);
  std::vector<std::byte> bytes(characters * width);
  if (!memory.Read(object + (is_ascii ? layout.ascii_text : layout.other_text), bytes)) return std::nullopt;
  std::string text;
  for (size_t at = 0; at < bytes.size() && text.size() < kMaxPythonNameBytes; at += width) {
    uint32_t character = 0;
    for (size_t i = 0; i < width; ++i) character |= static_cast<uint32_t>(bytes[at + i]) << 8 * i;
    AppendUtf8(character, &text);
  }
  return text;
}

std::optional<std::string> TextOf(const PythonLayout& layout, const Memory& memory, uint64_t pointer) {
  const std::optional<uint64_t> object = memory.ReadValue<uint64_t>(pointer);
  return object ? TextAt(layout, memory, *object) : std::nullopt;
}

// Nothing: it is none, or too large.
std::optional<std::vector<std::byte>> LineTable(const PythonLayout& layout, const Memory& memory, uint64_t code) {
  const std::optional<uint64_t> object = memory.ReadValue<uint64_t>(code + layout.code_lines);
  if (!object || !HasType(layout, memory, *object, layout.bytes_type)) return std::nullopt;
  const std::optional<uint64_t> size = memory.ReadValue<uint64_t>(*object + layout.bytes_size);
  if (!size || *size > kMaxLineTableBytes) return std::nullopt;
  std::vector<std::byte> table(*size);
  if (!memory.Read(*object + layout.bytes_begin, table)) return std::nullopt;
  return table;
}

}  // namespace

std::optional<PythonCode> ReadPythonCode(const PythonLayout& layout, const Memory& memory, uint64_t address) {
  if (!HasType(layout, memory, address, layout.code_type)) return std::nullopt;
  const std::optional<uint64_t> units = memory.ReadValue<uint64_t>(address + layout.bytes_size);
  const uint64_t begin = address + layout.code_instructions;
  const std::optional<uint32_t> first_traced = memory.ReadValue<uint32_t>(begin - kFirstTracedBefore);
  if (!units || !first_traced || *units > kMaxUnits || *first_traced > *units) return std::nullopt;
  return PythonCode{.address = address,
                    .begin = begin,
                    .end = begin + *units * kUnitBytes,
                    .first_traced = begin + *first_traced * kUnitBytes};
}

std::optional<CodeLine> ReadPythonLine(const PythonLayout& layout, const Memory& memory, const PythonCode& code,
                                       uint64_t instruction) {
  std::optional<std::string> name = TextOf(layout, memory, code.address + layout.code_name);
  std::optional<std::string> file = TextOf(layout, memory, code.address + layout.code_file);
  const std::optional<int32_t> first_line = memory.ReadValue<int32_t>(code.address + layout.code_first_line);
  const std::optional<std::vector<std::byte>> table = LineTable(layout, memory, code.address);
  if (!name || !file || !first_line || !table || instruction >= code.end) return std::nullopt;
  CodeLine line = {.function = *std::move(name), .file = *std::move(file)};
  if (instruction < code.begin) {
    line.line = static_cast<uint32_t>(std::max(0, *first_line));
  } else {
    line.line = LineOf(*table, *first_line, (instruction - code.begin) / kUnitBytes).value_or(0);
  }
  return line;
}

}  // namespace offcpu
