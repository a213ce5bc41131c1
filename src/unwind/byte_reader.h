// Takes values from the front of bytes that nobody vouches for. A read that does not fit fails, and fails all that
// follow.
#ifndef OFFCPU_UNWIND_BYTE_READER_H_
#define OFFCPU_UNWIND_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace offcpu {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  bool empty() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  std::span<const std::byte> rest() const { return bytes_.subspan(position_); }

  // 0 if it failed.
  template <typename T>
  T Take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (!Fits(sizeof(T))) return value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  void Skip(uint64_t size) {
    if (Fits(size)) position_ += size;
  }

  // DWARF's variable-length number. Nine bytes hold 63 bits: more is damage here.
  uint64_t TakeUleb() {
    constexpr int kMaxBytes = 9;
    uint64_t value = 0;
    for (int i = 0; i < kMaxBytes; ++i) {
      const uint8_t byte = Take<uint8_t>();
      value |= uint64_t{byte & 0x7fu} << (7 * i);
      if ((byte & 0x80) == 0) return value;
    }
    ok_ = false;
    return 0;
  }

 private:
  bool Fits(uint64_t size) {
    ok_ = ok_ && size <= bytes_.size() - position_;
    return ok_;
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_BYTE_READER_H_
