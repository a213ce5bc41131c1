// Texts in a process that end in a byte of 0. In pieces, as each read of a process has its price; a piece is of one
// page, so that what lies behind the text does not matter. Reads as the memory does; safe from any thread.
#ifndef OFFCPU_RUNTIMES_READ_TEXT_H_
#define OFFCPU_RUNTIMES_READ_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "process/memory.h"

namespace offcpu {

// The first `max_bytes` of a text that is longer. Nothing: it cannot be read.
std::optional<std::string> ReadText(const Memory& memory, uint64_t address, size_t max_bytes);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_READ_TEXT_H_
