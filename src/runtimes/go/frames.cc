#include "runtimes/go/frames.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "runtimes/go/table.h"

namespace offcpu {
namespace {

// The variable-length numbers of a pc table. A read that does not fit yields 0, which ends a table.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}

  uint32_t Take() {
    uint32_t value = 0;
    for (int shift = 0; shift < 32 && !bytes_.empty(); shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint32_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    bytes_ = {};
    return 0;
  }

 private:
  std::string_view bytes_;
};

// A pc table is pairs of differences, of the depth and of the address up to which it holds, from -1 and the function's
// begin on. The difference of the depth has its sign in the lowest bit; 0 ends the table, but not at its front. Each
// depth takes one of the steps; without any left it stops.
template <typename Use>
void ForEachDepth(std::string_view table, const GoTable::Function& function, uint64_t* steps, Use use) {
  Numbers numbers(table);
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
    {"runtime.goexit", StackLandmark::Kind::kBase},          // goroutines return to it
    {"runtime.rt0_go", StackLandmark::Kind::kBaseOfCallee},  // what it calls at last never returns
    {"runtime.clone", StackLandmark::Kind::kBaseOfCallee},   // only the child calls anything
    {"runtime.mcall", StackLandmark::Kind::kBaseOfCallee},   // has left the goroutine, and is not returned to
    {"runtime.mstart", StackLandmark::Kind::kWithoutFrame},  // the first function of a thread
    {"runtime.systemstack", StackLandmark::Kind::kSwitch},   // to the thread's own stack
    {"runtime.morestack", StackLandmark::Kind::kSwitch},    {"runtime.asmcgocall", StackLandmark::Kind::kSwitch},
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

std::vector<CodeRange> GoCodeWithoutFrames(std::string_view gopclntab, uint64_t text_address) {
  std::vector<CodeRange> ranges;
  const auto keep = [&ranges](const CodeRange& range, uint32_t depth) {
    if (depth == 0 && ranges.size() <= kMaxGoRanges) ranges.push_back(range);
  };
  // Functions whose pc tables are the same share one, so a damaged table may have them all read a long one. Real tables
  // cannot come near the limit: they have about 30 to 50 bytes for each step, since a function takes some hundreds of
  // bytes, its record alone 40, and has a few steps.
  uint64_t steps = gopclntab.size();
  uint64_t last_end = 0;
  const std::optional<GoTable> table = GoTable::Open(gopclntab, text_address);
  for (uint64_t i = 0; table && i < table->functions(); ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function || function->depths == 0 || function->depths >= gopclntab.size()) continue;
    if (function->begin < last_end) continue;  // not in order: damaged
    last_end = function->end;
    ForEachDepth(gopclntab.substr(function->depths), *function, &steps, keep);
    if (steps == 0 || ranges.size() > kMaxGoRanges) return {};
  }
  return ranges;
}

std::vector<StackLandmark> GoLandmarks(std::string_view gopclntab, uint64_t text_address) {
  constexpr size_t kMostLandmarks = 2 * std::size(kLandmarks);
  constexpr size_t kMaxNameBytes = 32;
  std::vector<StackLandmark> landmarks;
  const std::optional<GoTable> table = GoTable::Open(gopclntab, text_address);
  for (uint64_t i = 0; table && i < table->functions() && landmarks.size() < kMostLandmarks; ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function || function->name >= gopclntab.size()) continue;
    const std::string_view rest = gopclntab.substr(function->name, kMaxNameBytes);
    const auto kind = LandmarkOf(rest.substr(0, rest.find('\0')));
    if (kind) landmarks.push_back({.code = {.begin = function->begin, .end = function->end}, .kind = *kind});
  }
  return landmarks;
}

}  // namespace offcpu
