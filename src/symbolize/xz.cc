#include "symbolize/xz.h"

#include <lzma.h>

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr uint64_t kMaxDecoderBytes = 128u << 20;  // the strongest preset takes 65 MiB
constexpr size_t kStep = 256u << 10;

struct Stream {
  lzma_stream lzma = LZMA_STREAM_INIT;
  ~Stream() { lzma_end(&lzma); }
};

}  // namespace

absl::StatusOr<std::string> DecompressXz(std::string_view compressed, size_t max_bytes) {
  Stream stream;
  if (lzma_stream_decoder(&stream.lzma, kMaxDecoderBytes, 0) != LZMA_OK) return absl::InternalError("no xz decoder");
  stream.lzma.next_in = reinterpret_cast<const uint8_t*>(compressed.data());
  stream.lzma.avail_in = compressed.size();
  std::string bytes;
  for (;;) {
    size_t done = bytes.size();
    // One byte more than allowed, to tell a full result from a longer one.
    bytes.resize(std::min(done + kStep, max_bytes + 1));
    stream.lzma.next_out = reinterpret_cast<uint8_t*>(bytes.data()) + done;
    stream.lzma.avail_out = bytes.size() - done;
    lzma_ret result = lzma_code(&stream.lzma, LZMA_FINISH);
    bytes.resize(bytes.size() - stream.lzma.avail_out);
    if (bytes.size() > max_bytes) return absl::ResourceExhaustedError("decompressed data too long");
    if (result == LZMA_STREAM_END) return bytes;
    if (result != LZMA_OK) return absl::DataLossError(absl::StrCat("xz data damaged, error ", result));
  }
}

}  // namespace offcpu
