// The head of an HTTP request, as anybody on the host may send it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/http_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t length = offcpu::HttpHeadLength(bytes);
  if (length > size) std::abort();
  const auto request = offcpu::ParseHttpRequest(bytes.substr(0, length));
  if (request.ok() && (request->method.empty() || !request->path.starts_with('/'))) std::abort();
  return 0;
}
