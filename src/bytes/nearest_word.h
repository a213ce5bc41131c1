// The word that was probably meant where another one was typed. Pure functions.
#ifndef OFFCPU_BYTES_NEAREST_WORD_H_
#define OFFCPU_BYTES_NEAREST_WORD_H_

#include <span>
#include <string>
#include <string_view>

namespace offcpu {

// The first of the words that takes the fewest mistakes to become `typed`: a letter that is missing, is too many, is
// another one, or has changed places with the next one. "" if each takes more than one for three of its letters, and
// more than one in all, or if `typed` is one of the words or longer than 64 bytes.
std::string NearestWord(std::string_view typed, std::span<const std::string> words);

// " (did you mean WORD?)", to follow what says that `typed` is not known; "" without such a word.
std::string DidYouMean(std::string_view typed, std::span<const std::string> words);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_NEAREST_WORD_H_
