// gzip in both directions. One thread.
#ifndef OFFCPU_BYTES_GZIP_H_
#define OFFCPU_BYTES_GZIP_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bytes/byte_sink.h"

struct z_stream_s;  // zlib's

namespace offcpu {

// Compresses what is appended. The same bytes give the same file: its header has neither a time nor a name.
class GzipWriter {
 public:
  // `sink` must outlive the writer.
  explicit GzipWriter(ByteSink sink);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void Append(std::string_view bytes);
  // Once, at the end.
  void Finish();

 private:
  void Deflate(int flush);

  ByteSink sink_;
  std::unique_ptr<z_stream_s> stream_;
  std::array<char, 1 << 15> buffer_;
};

bool IsGzip(std::string_view bytes);

// What one gzip member holds. DataLoss if it is damaged, cut off or followed by more; ResourceExhausted if it holds
// more than `max_bytes`, as soon as it is seen. Takes the memory that the result needs, once.
absl::StatusOr<std::string> Gunzip(std::string_view bytes, size_t max_bytes);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_GZIP_H_
