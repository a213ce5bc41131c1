#include "bytes/utf8.h"

#include <algorithm>
#include <iterator>

namespace offcpu {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr Range kUnprintable[] = {
    {0x0000, 0x001f},    // C0: escape, newline, ...
    {0x007f, 0x009f},    // DEL; C1: U+009B begins a control sequence as ESC [ does, U+0085 is a newline
    {0x00ad, 0x00ad},    // soft hyphen
    {0x061c, 0x061c},    // Arabic letter mark
    {0x180e, 0x180e},    // Mongolian vowel separator
    {0x200b, 0x200f},    // zero widths; left-to-right and right-to-left marks
    {0x2028, 0x202e},    // line and paragraph separators; embeddings and overrides
    {0x2060, 0x206f},    // word joiner, invisible operators; isolates; what was for these once
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotations
    {0xe0000, 0xe007f},  // tags
};

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f; }

}  // namespace

size_t Utf8SequenceLength(std::string_view text) {
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

char32_t DecodeUtf8(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence.front());
  if (sequence.size() == 1) return lead;
  char32_t character = lead & (0x7fu >> sequence.size());
  for (const char c : sequence.substr(1)) character = character << 6 | (static_cast<unsigned char>(c) & 0x3fu);
  return character;
}

bool IsUnprintable(char32_t character) {
  const Range* range = std::lower_bound(std::begin(kUnprintable), std::end(kUnprintable), character,
                                        [](const Range& a, char32_t c) { return a.last < c; });
  return range != std::end(kUnprintable) && range->first <= character;
}

std::string Printable(std::string_view text) {
  if (std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8SequenceLength(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0) {
      printable += kReplacementCharacter;
    } else if (IsUnprintable(DecodeUtf8(sequence))) {
      printable += '?';
    } else {
      printable += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return printable;
}

}  // namespace offcpu
