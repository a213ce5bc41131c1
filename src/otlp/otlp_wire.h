// The frames of protobuf's wire format around messages that are serialized already: a message is the same as its fields
// one after the other, so a large one is put together of parts whose sizes are known. Pure functions.
#ifndef OFFCPU_OTLP_OTLP_WIRE_H_
#define OFFCPU_OTLP_OTLP_WIRE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace offcpu {

// Seven bits a byte.
inline size_t VarintSize(uint64_t value) { return value == 0 ? 1 : (std::bit_width(value) + 6u) / 7u; }

inline void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

// A field of a number below 16 that holds `bytes` bytes: tag, length, content.
inline size_t FramedSize(size_t bytes) { return 1 + VarintSize(bytes) + bytes; }

// The frame alone; the content follows.
inline void AppendFrame(int field, size_t bytes, std::string* out) {
  out->push_back(static_cast<char>(field << 3 | 2));
  AppendVarint(bytes, out);
}

inline void AppendFramed(int field, std::string_view content, std::string* out) {
  AppendFrame(field, content.size(), out);
  out->append(content);
}

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_WIRE_H_
