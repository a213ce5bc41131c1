#include "bytes/name_numbers.h"

#include "absl/strings/ascii.h"

namespace offcpu {
namespace {

std::string Folded(std::string_view name, bool keeps_behind_letters) {
  std::string text;
  bool is_kept = false;  // the next digit
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_digit = absl::ascii_isdigit(byte);
    if (!is_digit) is_kept = keeps_behind_letters && (absl::ascii_isalpha(byte) || !absl::ascii_isascii(byte));
    if (!is_digit || is_kept) text += c;
    if (is_digit && !is_kept && !text.ends_with('*')) text += '*';
  }
  return text;
}

}  // namespace

std::string WithoutDigits(std::string_view name) { return Folded(name, false); }

std::string WithoutNumbers(std::string_view name) { return Folded(name, true); }

}  // namespace offcpu
