// Ring records come from our own programs; a fuzzer over them keeps a mistake there from becoming a crash here.
#include <cstddef>
#include <cstdint>
#include <span>

#include "bpf_programs/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  offcpu::Decode(std::as_bytes(std::span(data, size)));
  return 0;
}
