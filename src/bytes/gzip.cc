#include "bytes/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr int kWindowBits = 15;
constexpr int kGzipOnly = 16;  // added to the above
constexpr int kMemoryLevel = 8;
constexpr size_t kMostToOne = 1032;  // no byte of deflate can stand for more

// zlib wants its input not to be const, and does not change it.
Bytef* Input(std::string_view bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); }

uInt Chunk(size_t bytes) { return static_cast<uInt>(std::min<size_t>(bytes, std::numeric_limits<uInt>::max())); }

// What the last four bytes say, modulo 2^32: enough for what may be unpacked here.
size_t SizeAtEnd(std::string_view bytes) {
  uint32_t size = 0;
  if (bytes.size() >= sizeof(size)) std::memcpy(&size, bytes.data() + bytes.size() - sizeof(size), sizeof(size));
  return size;
}

class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : rest_(bytes) {
    // As with `new`, there is nothing to be done without memory.
    if (inflateInit2(&stream_, kWindowBits + kGzipOnly) != Z_OK) std::abort();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // The next piece, valid until the next call: Z_OK, Z_STREAM_END, or another code of zlib's.
  int Next(std::string_view* piece) {
    const uInt given = Chunk(rest_.size());
    stream_.next_in = Input(rest_);
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_out = Chunk(buffer_.size());
    const int code = inflate(&stream_, Z_NO_FLUSH);
    rest_.remove_prefix(given - stream_.avail_in);
    *piece = std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out);
    return code;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  z_stream stream_ = {};
  std::array<char, 1 << 16> buffer_;
};

}  // namespace

GzipWriter::GzipWriter(ByteSink sink) : sink_(sink), stream_(std::make_unique<z_stream>()) {
  const int code = deflateInit2(stream_.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWindowBits + kGzipOnly, kMemoryLevel,
                                Z_DEFAULT_STRATEGY);
  if (code != Z_OK) std::abort();  // no memory, as above
}

GzipWriter::~GzipWriter() { deflateEnd(stream_.get()); }

void GzipWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const uInt given = Chunk(bytes.size());
    stream_->next_in = Input(bytes);
    stream_->avail_in = given;
    Deflate(Z_NO_FLUSH);
    bytes.remove_prefix(given);
  }
}

void GzipWriter::Finish() { Deflate(Z_FINISH); }

// Until all that was given is taken, and all that is due has been put out.
void GzipWriter::Deflate(int flush) {
  do {
    stream_->next_out = reinterpret_cast<Bytef*>(buffer_.data());
    stream_->avail_out = Chunk(buffer_.size());
    deflate(stream_.get(), flush);
    sink_(std::string_view(buffer_.data(), buffer_.size() - stream_->avail_out));
  } while (stream_->avail_out == 0);
}

bool IsGzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_bytes) {
  Inflater inflater(bytes);
  const size_t size = SizeAtEnd(bytes);
  std::string out;
  out.reserve(std::min({size, max_bytes, bytes.size() * kMostToOne}));
  for (;;) {
    std::string_view piece;
    const int code = inflater.Next(&piece);
    if (piece.size() > max_bytes - out.size()) {
      return absl::ResourceExhaustedError(absl::StrCat("holds more than ", max_bytes >> 20, " MiB"));
    }
    if (piece.size() > out.capacity() - out.size())
      return absl::DataLossError("is truncated or damaged: not valid gzip");
    out += piece;
    if (code == Z_STREAM_END) break;
    if (code == Z_BUF_ERROR) return absl::DataLossError("is truncated");
    if (code != Z_OK) return absl::DataLossError("is damaged: not valid gzip");
  }
  if (!inflater.at_end()) return absl::DataLossError("is damaged: there are bytes after its end");
  return out;
}

}  // namespace offcpu
