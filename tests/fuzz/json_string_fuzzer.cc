// A string in JSON: no byte of it ends the string early, and control characters do not come out as they are.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/json_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text;
  auto sink = [&](std::string_view bytes) { text += bytes; };
  offcpu::JsonWriter(sink).String({reinterpret_cast<const char*>(data), size});
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') std::abort();
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < 0x20 || text[i] == '"') std::abort();
    if (text[i] == '\\' && ++i + 1 >= text.size()) std::abort();
  }
  return 0;
}
