#include "runtimes/go/frames.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtimes/go/table.h"

namespace offcpu {
namespace {

// The variable-length numbers of a pc table, which begins at `at`. A read that does not fit yields 0, which ends a
// table.
class Numbers {
 public:
  Numbers(const Memory& memory, uint64_t at) : memory_(memory), at_(at) {}

  uint32_t Take() {
    uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 7) {
      const std::optional<uint8_t> byte = memory_.ReadValue<uint8_t>(at_);
      if (!byte) return 0;
      ++at_;
      value |= static_cast<uint32_t>(*byte & 0x7f) << shift;
      if ((*byte & 0x80) == 0) return value;
    }
    at_ = UINT64_MAX;
    return 0;
  }

 private:
  const Memory& memory_;
  uint64_t at_;
};

// A pc table is pairs of differences, of the depth and of the address up to which it holds, from -1 and the function's
// begin on. The difference of the depth has its sign in the lowest bit; 0 ends the table, but not at its front. Each
// depth takes one of the steps; without any left it stops.
template <typename Use>
void ForEachDepth(const Memory& memory, const GoTable::Function& function, uint64_t* steps, Use use) {
  Numbers numbers(memory, function.depths);
  uint32_t depth = UINT32_MAX;
  uint64_t at = function.begin;
  for (bool first = true; *steps != 0 && at < function.end; first = false, --*steps) {
    const uint32_t change = numbers.Take();
    if (change == 0 && !first) return;
    depth += (change & 1) != 0 ? ~(change >> 1) : change >> 1;
    const uint64_t end = std::min(at + numbers.Take(), function.end);  // instructions are of whole bytes
    if (end <= at) return;
    use(CodeRange{.begin = at, .end = end}, depth);
    at = end;
  }
}

// See the runtime's asm_amd64.s and sys_linux_amd64.s. Its own tracebacks end at them, or change the stack there.
constexpr std::pair<std::string_view, StackLandmark::Kind> kLandmarks[] = {
    {"runtime.goexit", StackLandmark::Kind::kBase},           // goroutines return to it
    {"runtime.rt0_go", StackLandmark::Kind::kBaseOfCallee},   // what it calls at last never returns
    {"runtime.clone", StackLandmark::Kind::kBaseOfCallee},    // only the child calls anything
    {"runtime.mcall", StackLandmark::Kind::kBaseOfCallee},    // has left the goroutine, and is not returned to
    {"runtime.mstart", StackLandmark::Kind::kWithoutFrame},   // the first function of a thread
    {"crosscall_amd64", StackLandmark::Kind::kBaseOfCallee},  // with cgo it is called by that
    {"crosscall1", StackLandmark::Kind::kBaseOfCallee},       // likewise, in newer versions
    {"runtime.systemstack", StackLandmark::Kind::kSwitch},    // to the thread's own stack
    {"runtime.morestack", StackLandmark::Kind::kSwitch},     {"runtime.asmcgocall", StackLandmark::Kind::kSwitch},
};

std::optional<StackLandmark::Kind> LandmarkOf(std::string_view name) {
  constexpr std::string_view kSuffix = ".abi0";
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  for (const auto& [known, kind] : kLandmarks) {
    if (name == known) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::vector<CodeRange> GoCodeWithoutFrames(const Memory& gopclntab, uint64_t bytes, uint64_t text_address) {
  std::vector<CodeRange> ranges;
  const auto keep = [&ranges](const CodeRange& range, uint32_t depth) {
    if (depth == 0 && ranges.size() < kMaxGoRanges) ranges.push_back(range);
  };
  // Functions whose pc tables are the same share one, so a damaged table may have them all read a long one. Real tables
  // cannot come near the limit: they have about 30 to 50 bytes for each step, since a function takes some hundreds of
  // bytes, its record alone 40, and has a few steps.
  uint64_t steps = bytes;
  uint64_t last_end = 0;
  const std::optional<GoTable> table = GoTable::Open(gopclntab, bytes, text_address);
  for (uint64_t i = 0; table && i < table->functions() && ranges.size() < kMaxGoRanges; ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function || function->depths == 0 || function->depths >= bytes) continue;
    if (function->begin < last_end) continue;  // not in order: damaged
    last_end = function->end;
    ForEachDepth(gopclntab, *function, &steps, keep);
    if (steps == 0) return {};
  }
  return ranges;
}

std::vector<StackLandmark> GoLandmarks(const Memory& gopclntab, uint64_t bytes, uint64_t text_address) {
  constexpr size_t kMostLandmarks = 2 * std::size(kLandmarks);
  constexpr size_t kMaxNameBytes = 32;
  std::vector<StackLandmark> landmarks;
  const std::optional<GoTable> table = GoTable::Open(gopclntab, bytes, text_address);
  for (uint64_t i = 0; table && i < table->functions() && landmarks.size() < kMostLandmarks; ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function || function->name >= bytes) continue;
    std::array<char, kMaxNameBytes> name = {};
    const size_t name_bytes = std::min<uint64_t>(name.size(), bytes - function->name);
    if (!gopclntab.Read(function->name, std::as_writable_bytes(std::span(name).first(name_bytes)))) continue;
    const auto kind = LandmarkOf(std::string_view(name.data(), strnlen(name.data(), name_bytes)));
    if (kind) landmarks.push_back({.code = {.begin = function->begin, .end = function->end}, .kind = *kind});
  }
  return landmarks;
}

std::optional<StackLandmark> FindCgoThreadStart(std::span<const std::byte> code, uint64_t address) {
  constexpr std::array<uint8_t, 31> kCode = {0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57,  // push
                                             0x48, 0x89, 0xfb,        // mov rdi, rbx
                                             0x48, 0x89, 0xd7,        // mov rdx, rdi
                                             0xff, 0xd6, 0xff, 0xd3,  // call *rsi; call *rbx
                                             0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3};
  const auto begin = std::search(code.begin(), code.end(), kCode.begin(), kCode.end(),
                                 [](std::byte a, uint8_t b) { return std::to_integer<uint8_t>(a) == b; });
  if (begin == code.end()) return std::nullopt;
  const uint64_t at = address + static_cast<uint64_t>(begin - code.begin());
  return StackLandmark{.code = {.begin = at, .end = at + kCode.size()}, .kind = StackLandmark::Kind::kBaseOfCallee};
}

}  // namespace offcpu
