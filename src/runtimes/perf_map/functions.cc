#include "runtimes/perf_map/functions.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

// Lists the functions of lines as these come, in pieces of any size.
class Lines {
 public:
  explicit Lines(absl::FunctionRef<void(const ListedFunction&)> use) : use_(use) {}

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
      use_({.begin = *begin, .end = *begin + *size, .order = at_, .name = at_ + (head_.size() - line.size())});
    }
    at_ += length_ + 1;
    length_ = 0;
    head_.clear();
  }

  const absl::FunctionRef<void(const ListedFunction&)> use_;
  uint64_t at_ = 0;      // where the line begins
  uint64_t length_ = 0;  // of what has come of it
  std::string head_;
};

}  // namespace

void PerfMapFunctions::ForEach(absl::FunctionRef<void(const ListedFunction&)> use) const {
  constexpr uint64_t kPiece = 256 << 10;
  Lines lines(use);
  std::string piece;
  for (uint64_t at = 0; at < bytes_; at += piece.size()) {
    piece.resize(std::min(kPiece, bytes_ - at));
    if (!map_->Read(at, std::as_writable_bytes(std::span(piece)))) break;
    lines.Take(piece);
  }
}

std::unique_ptr<FunctionList> FunctionsOfPerfMap(const CodeObject& code) {
  struct stat st;
  if (fstat(code.file.get(), &st) != 0 || st.st_size <= 0) return nullptr;
  return std::make_unique<PerfMapFunctions>(std::make_unique<FileMemory>(code.file.get()),
                                            std::min<uint64_t>(static_cast<uint64_t>(st.st_size), kMaxPerfMapBytes));
}

}  // namespace offcpu
