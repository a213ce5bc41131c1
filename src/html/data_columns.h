// Columns of numbers, each with a name, as page_data.h describes them.
#ifndef OFFCPU_HTML_DATA_COLUMNS_H_
#define OFFCPU_HTML_DATA_COLUMNS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/json_writer.h"

namespace offcpu {

class Columns {
 public:
  // `number(i)` of each i below `count`, cut to the width.
  template <typename Number>
  void Add(std::string_view name, size_t bytes_of_one, size_t count, const Number& number) {
    std::string& bytes = Open(name, bytes_of_one, count);
    for (size_t i = 0; i < count; ++i) AppendNumber(static_cast<uint64_t>(number(i)), bytes_of_one, bytes);
  }

  void WriteNames(JsonWriter& json) const;
  // All columns, each filled up to a multiple of 8 bytes.
  void AppendTo(std::string& bytes) const;

  static void AppendNumber(uint64_t number, size_t bytes_of_one, std::string& bytes);
  static void Align(std::string& bytes) { bytes.resize((bytes.size() + 7) / 8 * 8); }

 private:
  struct Column {
    std::string name;
    size_t bytes_of_one = 0;
    size_t count = 0;
    std::string bytes;
  };
  std::string& Open(std::string_view name, size_t bytes_of_one, size_t count);

  std::vector<Column> columns_;
};

}  // namespace offcpu

#endif  // OFFCPU_HTML_DATA_COLUMNS_H_
