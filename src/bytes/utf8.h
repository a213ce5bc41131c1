// Bytes of anyone, for formats and terminals: valid UTF-8, and nothing in it that a terminal obeys or that hides or
// turns round what stands beside it. Whatever names reach people goes through here. Pure functions.
#ifndef OFFCPU_BYTES_UTF8_H_
#define OFFCPU_BYTES_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpu {

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

// The length of the UTF-8 sequence at the front of `text`, or 0 if there is no valid one.
size_t Utf8SequenceLength(std::string_view text);

// `text` with U+FFFD for each byte that is not part of a valid sequence, and '?' for each character that is not to be
// shown: controls (C0, C1, DEL), those that set the direction of text, separators of lines and paragraphs, and those
// that show nothing.
std::string Printable(std::string_view text);

// Whether a character is one of them.
bool IsUnprintable(char32_t character);

// The sequence must be valid: Utf8SequenceLength(sequence) == sequence.size().
char32_t DecodeUtf8(std::string_view sequence);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_UTF8_H_
