// Writes JSON piece by piece, commas and escapes included. The caller opens and closes in the right order. Strings come
// out as valid UTF-8: what is not, becomes U+FFFD.
#ifndef OFFCPU_JSON_JSON_WRITER_H_
#define OFFCPU_JSON_JSON_WRITER_H_

#include <cstdint>
#include <string_view>

#include "bytes/byte_sink.h"

namespace offcpu {

class JsonWriter {
 public:
  // `sink` must outlive the writer.
  explicit JsonWriter(ByteSink sink) : sink_(sink) {}

  void BeginObject() { Open("{"); }
  void EndObject() { Close("}"); }
  void BeginArray() { Open("["); }
  void EndArray() { Close("]"); }
  void Key(std::string_view key);
  void String(std::string_view value);
  void Number(uint64_t value);
  void Signed(int64_t value);
  void Bool(bool value) {
    Separate();
    sink_(value ? "true" : "false");
  }
  // Addresses do not fit the numbers of every reader.
  void Hex(uint64_t value);

  void Field(std::string_view key, std::string_view value) {
    Key(key);
    String(value);
  }
  void Field(std::string_view key, uint64_t value) {
    Key(key);
    Number(value);
  }

 private:
  void Separate();
  void Open(std::string_view bracket);
  void Close(std::string_view bracket);
  void Quoted(std::string_view text);

  ByteSink sink_;
  bool comma_ = false;  // a value stands before the place that is written next
};

// An array of what write(value) writes of each value.
template <typename Values, typename Write>
void WriteArray(std::string_view key, const Values& values, JsonWriter& json, const Write& write) {
  json.Key(key);
  json.BeginArray();
  for (const auto& value : values) write(value);
  json.EndArray();
}

// An object of those that are not 0, by the names of the enumeration that is their index.
template <typename Enum, typename Counts>
void WriteNonZero(std::string_view key, const Counts& counts, JsonWriter& json) {
  json.Key(key);
  json.BeginObject();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) json.Field(Name(static_cast<Enum>(i)), counts[i]);
  }
  json.EndObject();
}

}  // namespace offcpu

#endif  // OFFCPU_JSON_JSON_WRITER_H_
