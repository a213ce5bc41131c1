#include "json/json_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

// As JSON has it, in UTF-16.
std::string Escaped(char32_t character) {
  if (character < 0x10000) return absl::StrFormat("\\u%04x", static_cast<uint32_t>(character));
  const uint32_t rest = static_cast<uint32_t>(character) - 0x10000;
  return absl::StrFormat("\\u%04x\\u%04x", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

}  // namespace

void JsonWriter::Separate() {
  if (comma_) sink_(",");
  comma_ = true;
}

void JsonWriter::Open(std::string_view bracket) {
  Separate();
  sink_(bracket);
  comma_ = false;
}

void JsonWriter::Close(std::string_view bracket) {
  sink_(bracket);
  comma_ = true;
}

void JsonWriter::Key(std::string_view key) {
  Separate();
  Quoted(key);
  sink_(":");
  comma_ = false;
}

void JsonWriter::String(std::string_view value) {
  Separate();
  Quoted(value);
}

void JsonWriter::Number(uint64_t value) {
  Separate();
  sink_(absl::StrCat(value));
}

void JsonWriter::Signed(int64_t value) {
  Separate();
  sink_(absl::StrCat(value));
}

void JsonWriter::Hex(uint64_t value) {
  Separate();
  Quoted(absl::StrCat("0x", absl::Hex(value)));
}

void JsonWriter::Quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0) {
      out += kReplacementCharacter;
    } else if (sequence == "\"" || sequence == "\\") {
      out += '\\';
      out += sequence;
    } else if (const char32_t character = DecodeUtf8(sequence); IsUnprintable(character)) {
      out += Escaped(character);
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  out += '"';
  sink_(out);
}

}  // namespace offcpu
