#include "output/json_writer.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace offcpu {
namespace {

// The length of the UTF-8 sequence at the front of `text`, or 0 if there is no valid one.
size_t SequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  auto continues = [&](size_t i, unsigned low, unsigned high) { return byte(i) >= low && byte(i) <= high; };
  unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    // No second form of a shorter sequence, no surrogates.
    unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return continues(1, low, high) && continues(2, 0x80, 0xbf) && continues(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
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
    size_t length = SequenceLength(text);
    char c = text[0];
    if (length == 0) {
      out += "\xef\xbf\xbd";
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
