// Bytes of anyone as valid UTF-8, for formats that allow nothing else. Pure functions.
#ifndef OFFCPU_OUTPUT_UTF8_H_
#define OFFCPU_OUTPUT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace offcpu {

inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

// The length of the UTF-8 sequence at the front of `text`, or 0 if there is no valid one.
size_t Utf8SequenceLength(std::string_view text);

// `text` with U+FFFD for each byte that is not part of a valid sequence.
std::string ValidUtf8(std::string_view text);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_UTF8_H_
