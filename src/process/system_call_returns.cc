#include "process/system_call_returns.h"

#include <algorithm>
#include <array>

namespace offcpu {

std::vector<CodeRange> SystemCallReturns(std::span<const std::byte> code, uint64_t address) {
  constexpr std::array kCallAndReturn = {std::byte{0x0f}, std::byte{0x05}, std::byte{0xc3}};
  std::vector<CodeRange> returns;
  for (auto at = code.begin();; ++at) {
    at = std::search(at, code.end(), kCallAndReturn.begin(), kCallAndReturn.end());
    if (at == code.end()) return returns;
    if (returns.size() == kMaxSystemCallReturns) return {};
    const uint64_t ret = address + static_cast<uint64_t>(at - code.begin()) + 2;
    returns.push_back({ret, ret + 1});
  }
}

}  // namespace offcpu
