// Just enough of JSON to read what the page is given. What is not JSON fails the test.
#ifndef OFFCPU_TESTS_HTML_JSON_VALUE_H_
#define OFFCPU_TESTS_HTML_JSON_VALUE_H_

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {

struct JsonValue {
  std::string text;  // of a string; of numbers and words as they stand there
  std::vector<JsonValue> list;
  std::map<std::string, JsonValue> fields;

  size_t number() const { return std::strtoull(text.c_str(), nullptr, 10); }
};

class JsonReader {
 public:
  static JsonValue Read(std::string_view text) {
    JsonReader reader(text);
    JsonValue value = reader.Value();
    EXPECT_TRUE(reader.rest_.empty()) << reader.rest_.substr(0, 40);
    return value;
  }

 private:
  explicit JsonReader(std::string_view text) : rest_(text) {}

  bool Take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  JsonValue Value() {
    JsonValue value;
    if (Take('{')) {
      while (!rest_.empty() && !Take('}')) {
        Take(',');
        const std::string key = String();
        EXPECT_TRUE(Take(':')) << rest_.substr(0, 40);
        value.fields[key] = Value();
      }
    } else if (Take('[')) {
      while (!rest_.empty() && !Take(']')) {
        Take(',');
        value.list.push_back(Value());
      }
    } else if (rest_.substr(0, 1) == "\"") {
      value.text = String();
    } else {
      value.text = rest_.substr(0, rest_.find_first_of(",]}"));
      rest_.remove_prefix(value.text.size());
    }
    return value;
  }
  // Texts of the page are printable, but for the ends of lines: no other escape is written as a number.
  std::string String() {
    EXPECT_TRUE(Take('"')) << rest_.substr(0, 40);
    std::string text;
    while (!rest_.empty() && !Take('"')) {
      if (rest_.substr(0, 6) == "\\u000a") {
        text += '\n';
        rest_.remove_prefix(6);
        continue;
      }
      if (Take('\\')) {
        EXPECT_TRUE(rest_.starts_with('"') || rest_.starts_with('\\')) << rest_.substr(0, 40);
      }
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    return text;
  }

  std::string_view rest_;
};

}  // namespace offcpu

#endif  // OFFCPU_TESTS_HTML_JSON_VALUE_H_
