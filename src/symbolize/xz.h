// Decompresses an xz stream, such as .gnu_debugdata. Takes no more memory than a fixed limit beside the result.
#ifndef OFFCPU_SYMBOLIZE_XZ_H_
#define OFFCPU_SYMBOLIZE_XZ_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace offcpu {

// ResourceExhausted if the result would be longer than `max_bytes`.
absl::StatusOr<std::string> DecompressXz(std::string_view compressed, size_t max_bytes);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_XZ_H_
