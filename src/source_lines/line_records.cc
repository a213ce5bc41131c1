#include "source_lines/line_records.h"

#include <cstring>
#include <utility>

namespace offcpu {
namespace {

constexpr uint32_t kText = 1;
constexpr uint32_t kChain = 2;
constexpr uint32_t kEnd = 3;

class Reader {
 public:
  Reader(std::span<const char> bytes, size_t addresses) : bytes_(bytes) { records_.chains.resize(addresses); }

  LineRecords Read() {
    while (!records_.end.has_value() && ReadRecord()) {
    }
    return std::move(records_);
  }

 private:
  std::optional<uint32_t> Number() {
    uint32_t number = 0;
    if (bytes_.size() < sizeof(number)) return std::nullopt;
    std::memcpy(&number, bytes_.data(), sizeof(number));
    bytes_ = bytes_.subspan(sizeof(number));
    return number;
  }

  // False if there is none, or it is damaged.
  bool ReadRecord() {
    const std::optional<uint32_t> kind = Number();
    if (kind == kText) return ReadText();
    if (kind == kChain) return ReadChain();
    if (kind != kEnd) return false;
    const std::optional<uint32_t> end = Number();
    if (end.has_value() && *end <= static_cast<uint32_t>(DwarfEnd::kSplit)) records_.end = static_cast<DwarfEnd>(*end);
    return records_.end.has_value();
  }

  bool ReadText() {
    const std::optional<uint32_t> length = Number();
    if (!length.has_value() || *length > kMaxLineTextBytes || *length > bytes_.size()) return false;
    texts_.emplace_back(bytes_.data(), *length);
    bytes_ = bytes_.subspan(*length);
    return true;
  }

  bool ReadLine(SourceLine* line) {
    const std::optional<uint32_t> function = Number();
    const std::optional<uint32_t> file = Number();
    if (!function.has_value() || !file.has_value() || *function >= texts_.size() || *file >= texts_.size())
      return false;
    line->function = texts_[*function];
    line->file = texts_[*file];
    for (uint32_t* number : {&line->line, &line->column, &line->start_line}) {
      const std::optional<uint32_t> read = Number();
      if (!read.has_value()) return false;
      *number = *read;
    }
    return true;
  }

  bool ReadChain() {
    const std::optional<uint32_t> index = Number();
    const std::optional<uint32_t> count = Number();
    if (!index.has_value() || !count.has_value() || *index >= records_.chains.size()) return false;
    if (*count == 0 || *count > kMaxInlined || !records_.chains[*index].empty()) return false;
    LineChain chain(*count);
    for (SourceLine& line : chain) {
      if (!ReadLine(&line)) return false;
    }
    records_.chains[*index] = std::move(chain);
    return true;
  }

  std::span<const char> bytes_;
  std::vector<std::string_view> texts_;
  LineRecords records_;
};

}  // namespace

void LineRecordWriter::Number(uint64_t number) {
  const auto value = static_cast<uint32_t>(number);
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

uint32_t LineRecordWriter::Text(std::string_view text) {
  if (text.size() > kMaxLineTextBytes) text = {};
  const auto [it, is_new] = texts_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) {
    Number(kText);
    Number(text.size());
    bytes_ += text;
  }
  return it->second;
}

void LineRecordWriter::Add(size_t index, const LineChain& chain) {
  std::vector<std::pair<uint32_t, uint32_t>> texts;  // they come before the chain
  texts.reserve(chain.size());
  for (const SourceLine& line : chain) {
    const uint32_t function = Text(line.function);
    texts.emplace_back(function, Text(line.file));
  }
  Number(kChain);
  Number(index);
  Number(chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    for (const uint32_t number : {texts[i].first, texts[i].second, chain[i].line, chain[i].column, chain[i].start_line})
      Number(number);
  }
}

void LineRecordWriter::End(DwarfEnd end) {
  Number(kEnd);
  Number(static_cast<uint64_t>(end));
}

LineRecords ReadLineRecords(std::span<const char> bytes, size_t addresses) { return Reader(bytes, addresses).Read(); }

}  // namespace offcpu
