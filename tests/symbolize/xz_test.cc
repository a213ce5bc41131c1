#include "symbolize/xz.h"

#include <lzma.h>

#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

std::string Compress(const std::string& bytes) {
  std::string out(lzma_stream_buffer_bound(bytes.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(bytes.data()),
                                    bytes.size(), reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

TEST(XzTest, GivesTheBytesBack) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{256} << 10, (size_t{256} << 10) + 1, size_t{1} << 20}) {
    std::string bytes(size, 'x');
    if (size > 10) bytes[size / 2] = 'y';
    auto got = DecompressXz(Compress(bytes), size + 1);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(*got, bytes);
  }
}

TEST(XzTest, TheLimitIsExact) {
  std::string compressed = Compress(std::string(1000, 'x'));
  EXPECT_TRUE(DecompressXz(compressed, 1000).ok());
  EXPECT_EQ(DecompressXz(compressed, 999).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(XzTest, ABombStopsAtTheLimit) {
  std::string bomb = Compress(std::string(size_t{64} << 20, '\0'));
  EXPECT_LT(bomb.size(), 20000u);
  EXPECT_EQ(DecompressXz(bomb, 1u << 20).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(XzTest, EveryPrefixIsAnError) {
  std::string compressed = Compress("hello, hello, hello");
  for (size_t size = 0; size < compressed.size(); ++size) {
    EXPECT_EQ(DecompressXz(compressed.substr(0, size), 100).status().code(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST(XzTest, DamageIsAnError) {
  std::string compressed = Compress("hello, hello, hello");
  compressed[compressed.size() / 2] ^= 1;
  EXPECT_EQ(DecompressXz(compressed, 100).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace offcpu
