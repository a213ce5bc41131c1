// Reads a page as a browser would: what is between its tags, and the profile out of it.
#ifndef OFFCPU_TESTS_HTML_PAGE_READER_H_
#define OFFCPU_TESTS_HTML_PAGE_READER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "html/html.h"
#include "tests/html/json_value.h"

namespace offcpu {

inline std::string HtmlOf(const NamedProfile& profile, const PageOptions& options = {}) {
  std::string page;
  WriteHtml(profile, options, [&page](std::string_view piece) { page += piece; });
  return page;
}

inline std::string HtmlOfBoth(const NamedProfile& before, const NamedProfile& after) {
  std::string page;
  WriteHtmlOfBoth(before, after, {}, [&page](std::string_view piece) { page += piece; });
  return page;
}

// What is between two texts, of which the first is there once.
inline std::string Between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  EXPECT_NE(from, std::string::npos) << begin;
  EXPECT_EQ(text.find(begin, from + 1), std::string::npos) << begin << " is there twice";
  const size_t to = text.find(end, from + begin.size());
  EXPECT_NE(to, std::string::npos) << end;
  return text.substr(from + begin.size(), to - from - begin.size());
}

// Reads the bytes that page_data.h describes. Columns by name; texts resolved.
class PageReader {
 public:
  explicit PageReader(const std::string& bytes) {
    EXPECT_EQ(bytes.substr(0, 8), "OFFCPU1\n");
    const size_t length = Number(bytes, 8, 4);
    header_ = JsonReader::Read(std::string_view(bytes).substr(12, length));
    for (const JsonValue& text : Field("strings").list) strings_.push_back(text.text);
    size_t at = 12 + length;
    for (const JsonValue& column : Field("columns").list) {
      const size_t width = column.fields.at("bytes").number();
      const size_t count = column.fields.at("count").number();
      std::vector<uint64_t>& numbers = columns_[column.fields.at("name").text];
      at = (at + 7) / 8 * 8;
      EXPECT_LE(at + width * count, bytes.size());
      for (size_t i = 0; i < count; ++i) numbers.push_back(Number(bytes, at + i * width, width));
      at += width * count;
    }
    EXPECT_EQ(at, bytes.size());
  }

  const JsonValue& Field(const std::string& name) const { return header_.fields.at(name); }
  const std::vector<uint64_t>& Column(const std::string& name) const { return columns_.at(name); }
  const std::map<std::string, std::vector<uint64_t>>& columns() const { return columns_; }
  const std::map<std::string, JsonValue>& fields() const { return header_.fields; }
  const std::vector<std::string>& strings() const { return strings_; }
  size_t rows() const { return Column("row.stack").size(); }

  uint64_t Sum(const std::string& name) const {
    uint64_t sum = 0;
    for (const uint64_t amount : Column("sum." + name)) sum += amount;
    return sum;
  }
  // Outermost first, each name with the number of its class: "main:0;schedule:1".
  std::string Path(uint64_t node) const {
    std::string path;
    while (node != 0) {
      const uint64_t frame = Column("node.frame")[node];
      const std::string name = strings_[Column("frame.name")[frame]];
      path = name + ":" + std::to_string(Column("frame.kind")[frame]) + (path.empty() ? "" : ";") + path;
      EXPECT_GT(Column("node.up")[node], 0u);
      node -= Column("node.up")[node];
    }
    return path;
  }
  std::string Stack(size_t row) const { return Path(Column("row.stack")[row]); }
  std::string Waker(size_t row) const { return Path(Column("row.waker")[row]); }
  std::string Label(size_t row, const std::string& name) const {
    for (const JsonValue& label : Field("labels").list) {
      if (label.fields.at("name").text != name) continue;
      return strings_[label.fields.at("values").list[Column("label." + name)[row]].number()];
    }
    return "no such label";
  }

 private:
  static uint64_t Number(const std::string& bytes, size_t at, size_t width) {
    uint64_t number = 0;
    for (size_t i = width; i > 0; --i) number = number << 8 | static_cast<uint8_t>(bytes[at + i - 1]);
    return number;
  }

  JsonValue header_;
  std::vector<std::string> strings_;
  std::map<std::string, std::vector<uint64_t>> columns_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_HTML_PAGE_READER_H_
