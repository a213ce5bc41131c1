#include "symbolize/perf_map_names.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "symbolize/symbol_search.h"

namespace offcpu {
namespace {

// As much of a line as its numbers and the beginning of its name take.
constexpr size_t kHeadBytes = 64;

// The number at the front of `line`, taken off it with the blank behind it.
std::optional<uint64_t> TakeHex(std::string_view* line) {
  if (line->starts_with("0x")) line->remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number, 16);
  const auto digits = static_cast<size_t>(end - line->data());
  if (error != std::errc() || digits >= line->size() || (*line)[digits] != ' ') return std::nullopt;
  line->remove_prefix(digits + 1);
  return number;
}

// Adds lines as they come, in pieces of any size.
class Lines {
 public:
  Lines(NameSource* names, SymbolSearch* search) : names_(names), search_(search) {}

  void Take(std::string_view piece) {
    while (!piece.empty()) {
      const size_t newline = piece.find('\n');
      const std::string_view part = piece.substr(0, newline);
      head_ += part.substr(0, kHeadBytes - head_.size());
      length_ += part.size();
      if (newline == std::string_view::npos) return;
      End();
      piece.remove_prefix(newline + 1);
    }
  }

 private:
  void End() {
    std::string_view line = head_;
    const std::optional<uint64_t> begin = TakeHex(&line);
    const std::optional<uint64_t> size = begin.has_value() ? TakeHex(&line) : std::nullopt;
    if (size.has_value() && *size != 0 && *size <= UINT64_MAX - *begin && !line.empty()) {
      search_->Add({.begin = *begin,
                    .end = *begin + *size,
                    .sized = true,
                    .key = at_,
                    .names = names_,
                    .name = at_ + (head_.size() - line.size())});
    }
    at_ += length_ + 1;
    length_ = 0;
    head_.clear();
  }

  NameSource* const names_;
  SymbolSearch* const search_;
  uint64_t at_ = 0;      // where the line begins
  uint64_t length_ = 0;  // of what has come of it
  std::string head_;
};

}  // namespace

ModuleNames ReadPerfMap(const Memory& map, uint64_t bytes, std::span<const uint64_t> addresses) {
  constexpr uint64_t kPiece = 256 << 10;
  NameSource names(map, 0, bytes, "\n");
  SymbolSearch search(addresses);
  Lines lines(&names, &search);
  std::string piece;
  for (uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(std::min(kPiece, bytes - at));
    if (!map.Read(at, std::as_writable_bytes(std::span(piece)))) break;
    lines.Take(piece);
  }
  ModuleNames found = {.full = true};
  found.names = search.Names(kMaxModuleNameBytes, &found.left_out);
  return found;
}

}  // namespace offcpu
