// An ELF file, mapped as a whole, read as a load of it and as a file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "process/elf/file_image.h"
#include "process/elf/image.h"
#include "process/elf/table_sections.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  constexpr uint64_t kBase = 0x7f0000000000;
  const uint64_t end = kBase + (size + 0xfff) / 0x1000 * 0x1000;
  if (end == kBase) return 0;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const FileMapping whole[] = {{kBase, end, 0, true}};
  auto image = ReadElfImage(SpanMemory(kBase, bytes), whole, whole[0]);
  if (image.ok() && (image->head.begin >= image->head.end || image->module.eh_frame.bytes.size() > size ||
                     image->module.sframe.bytes.size() > size)) {
    std::abort();
  }
  (void)ReadFileImage(SpanMemory(0, bytes));
  if (ReadTableSection(SpanMemory(0, bytes), ".eh_frame").bytes.size() > size) std::abort();
  return 0;
}
