#include "tables/top_keys.h"

#include <algorithm>
#include <optional>

#include "bytes/utf8.h"

namespace offcpu {
namespace {

using Kind = TopKey::Kind;

// The kind of a sequence by its last character, or by its number if that is '~'.
std::optional<Kind> KindOf(std::string_view number, char last) {
  if (last == '~') {
    if (number == "1" || number == "7") return Kind::kHome;
    if (number == "4" || number == "8") return Kind::kEnd;
    if (number == "5") return Kind::kPageUp;
    if (number == "6") return Kind::kPageDown;
    return std::nullopt;
  }
  switch (last) {
    case 'A':
      return Kind::kUp;
    case 'B':
      return Kind::kDown;
    case 'H':
      return Kind::kHome;
    case 'F':
      return Kind::kEnd;
    default:
      return std::nullopt;
  }
}

std::optional<Kind> KindOf(char control) {
  switch (control) {
    case '\t':
      return Kind::kTab;
    case '\r':
    case '\n':
      return Kind::kEnter;
    case '\b':
    case '\x7f':
      return Kind::kBackspace;
    default:
      return std::nullopt;
  }
}

// At the front: ESC, '[' or 'O', a number, a character that ends it. Takes it off.
std::optional<Kind> TakeSequence(std::string_view* typed) {
  typed->remove_prefix(2);
  const auto end = std::find_if(typed->begin(), typed->end(), [](char c) { return c >= 0x40 && c < 0x7f; });
  if (end == typed->end()) {
    *typed = {};
    return std::nullopt;
  }
  const std::string_view number = typed->substr(0, static_cast<size_t>(end - typed->begin()));
  typed->remove_prefix(number.size() + 1);
  return KindOf(number, *end);
}

std::optional<TopKey> TakeKey(std::string_view* typed) {
  if (typed->starts_with("\033[") || typed->starts_with("\033O")) {
    const std::optional<Kind> kind = TakeSequence(typed);
    return kind.has_value() ? std::optional(TopKey{*kind}) : std::nullopt;
  }
  const std::string_view character = typed->substr(0, std::max<size_t>(Utf8SequenceLength(*typed), 1));
  typed->remove_prefix(character.size());
  if (character == "\033") return TopKey{Kind::kEscape};
  if (const std::optional<Kind> kind = KindOf(character.front()); kind.has_value()) return TopKey{*kind};
  if (Printable(character) != character) return std::nullopt;
  return TopKey{Kind::kText, std::string(character)};
}

}  // namespace

std::vector<TopKey> TopKeys(std::string_view typed) {
  std::vector<TopKey> keys;
  while (!typed.empty()) {
    if (std::optional<TopKey> key = TakeKey(&typed); key.has_value()) keys.push_back(*std::move(key));
  }
  return keys;
}

}  // namespace offcpu
