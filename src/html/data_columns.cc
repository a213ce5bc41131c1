#include "html/data_columns.h"

namespace offcpu {

std::string& Columns::Open(std::string_view name, size_t bytes_of_one, size_t count) {
  Column& column = columns_.emplace_back();
  column.name = std::string(name);
  column.bytes_of_one = bytes_of_one;
  column.count = count;
  column.bytes.reserve(bytes_of_one * count);
  return column.bytes;
}

void Columns::AppendNumber(uint64_t number, size_t bytes_of_one, std::string& bytes) {
  for (size_t i = 0; i < bytes_of_one; ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

void Columns::WriteNames(JsonWriter& json) const {
  WriteArray("columns", columns_, json, [&json](const Column& column) {
    json.BeginObject();
    json.Field("name", column.name);
    json.Field("bytes", column.bytes_of_one);
    json.Field("count", column.count);
    json.EndObject();
  });
}

void Columns::AppendTo(std::string& bytes) const {
  for (const Column& column : columns_) {
    Align(bytes);
    bytes += column.bytes;
  }
}

}  // namespace offcpu
