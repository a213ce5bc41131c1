#include "output/json_writer.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "output/utf8.h"

namespace offcpu {
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
    size_t length = Utf8SequenceLength(text);
    char c = text[0];
    if (length == 0) {
      out += kReplacementCharacter;
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += absl::StrFormat("\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
  sink_(out);
}

}  // namespace offcpu
