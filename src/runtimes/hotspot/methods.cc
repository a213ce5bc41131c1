#include "runtimes/hotspot/methods.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace offcpu {
namespace {

constexpr int64_t kAccNative = 0x100;
constexpr int64_t kHasLineNumbers = 1;

// The value of a field that has no sign.
int64_t Index(std::optional<int64_t> value) { return value.value_or(0) & 0xffff; }

// Numbers of one to five bytes, as compressedStream.hpp and unsigned5.hpp of OpenJDK pack them: the 64 largest bytes
// have another one behind them.
class CompressedStream {
 public:
  CompressedStream(const Memory& memory, uint64_t at, uint32_t excluded)
      : memory_(memory), at_(at), excluded_(excluded) {}

  std::optional<uint8_t> Byte() { return memory_.ReadValue<uint8_t>(at_++); }
  std::optional<uint32_t> Unsigned() {
    const uint32_t low = 192 - excluded_;
    uint32_t value = 0;
    for (int shift = 0; shift <= 24; shift += 6) {
      const std::optional<uint8_t> byte = Byte();
      if (!byte) return std::nullopt;
      value += (*byte - excluded_) << shift;
      if (*byte - excluded_ < low) break;
    }
    return value;
  }
  std::optional<int32_t> Signed() {
    const std::optional<uint32_t> value = Unsigned();
    if (!value) return std::nullopt;
    return static_cast<int32_t>(*value >> 1) ^ -static_cast<int32_t>(*value & 1);
  }

 private:
  const Memory& memory_;
  uint64_t at_;
  uint32_t excluded_;
};

// As Java's own tools write it: com.shop.Inventory, and Waits$$Lambda/0x00007f... for a hidden class.
std::string ClassName(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  std::replace(name.begin(), name.end(), '+', '/');
  return name;
}

}  // namespace

std::optional<std::string> Methods::SymbolAt(uint64_t symbol) const {
  if (symbol == 0) return std::nullopt;
  const std::optional<int64_t> length = layout_.symbol_length.Read(memory_, symbol);
  if (!length) return std::nullopt;
  std::string text(std::min<size_t>(static_cast<size_t>(Index(length)), kMaxSymbolBytes), '\0');
  if (!memory_.Read(symbol + layout_.symbol_body, std::as_writable_bytes(std::span(text)))) return std::nullopt;
  return text;
}

std::optional<std::string> Methods::PoolSymbol(uint64_t constants, int64_t index) const {
  if (index <= 0 || index >= layout_.pool_length.Read(memory_, constants).value_or(0)) return std::nullopt;
  const uint64_t entry = constants + layout_.pool_bytes + static_cast<uint64_t>(index) * sizeof(uint64_t);
  return SymbolAt(memory_.ReadValue<uint64_t>(entry).value_or(0));
}

std::optional<Methods::Parts> Methods::PartsOf(uint64_t method) const {
  Parts parts;
  if (method == 0 || method % sizeof(uint64_t) != 0) return std::nullopt;
  parts.const_method = layout_.method_const.Address(memory_, method);
  if (parts.const_method == 0) return std::nullopt;
  parts.constants = layout_.const_constants.Address(memory_, parts.const_method);
  if (parts.constants == 0) return std::nullopt;
  parts.holder = layout_.pool_holder.Address(memory_, parts.constants);
  if (parts.holder == 0) return std::nullopt;
  // A class holds its own pool. This may be another one: each kind of MethodHandle's methods has one to itself.
  const uint64_t own = layout_.klass_constants.Address(memory_, parts.holder);
  if (layout_.pool_holder.Address(memory_, own) != parts.holder) return std::nullopt;
  // A class that is being read has no method that runs.
  if (layout_.klass_state.Read(memory_, parts.holder).value_or(0) < layout_.linked_state) return std::nullopt;
  return parts;
}

// Delta pairs of byte code index and line, which begin behind the byte code: compressedLineNumberStream of
// constMethod.cpp. The last entry that is not behind the index wins.
uint32_t Methods::LineNumber(uint64_t const_method, int64_t bci) const {
  if ((layout_.const_flags.Read(memory_, const_method).value_or(0) & kHasLineNumbers) == 0) return 0;
  const int64_t code_size = Index(layout_.const_code_size.Read(memory_, const_method));
  CompressedStream stream(memory_, const_method + layout_.const_bytes + static_cast<uint64_t>(code_size),
                          layout_.excluded_byte());
  constexpr uint8_t kLongPair = 0xff;
  int64_t at = 0, line = 0, best_at = -1, best_line = 0;
  for (size_t i = 0; i < kMaxLineEntries; ++i) {
    const std::optional<uint8_t> byte = stream.Byte();
    if (!byte || *byte == 0) break;
    if (*byte == kLongPair) {
      const std::optional<int32_t> at_delta = stream.Signed();
      const std::optional<int32_t> line_delta = stream.Signed();
      if (!at_delta || !line_delta) break;
      at += *at_delta;
      line += *line_delta;
    } else {
      at += *byte >> 3;
      line += *byte & 7;
    }
    if (at > bci || at < best_at) continue;
    best_at = at;
    best_line = line;
  }
  return best_line > 0 && best_line <= UINT16_MAX ? static_cast<uint32_t>(best_line) : 0;
}

// `bci`: nothing if it is not known where in the method.
std::optional<CodeLine> Methods::LineOf(uint64_t method, std::optional<int64_t> bci) const {
  const std::optional<Parts> parts = PartsOf(method);
  if (!parts) return std::nullopt;
  const bool is_native = (layout_.method_access.Read(memory_, method).value_or(0) & kAccNative) != 0;
  if (bci && !is_native && *bci >= Index(layout_.const_code_size.Read(memory_, parts->const_method)))
    return std::nullopt;
  std::optional<std::string> class_name = SymbolAt(layout_.klass_name.Address(memory_, parts->holder));
  const std::optional<std::string> name =
      PoolSymbol(parts->constants, Index(layout_.const_name_index.Read(memory_, parts->const_method)));
  if (!class_name || class_name->empty() || !name || name->empty()) return std::nullopt;
  CodeLine line = {.function = ClassName(*std::move(class_name)) + "." + *name};
  const std::optional<int64_t> file = layout_.pool_source_file.exists()
                                          ? layout_.pool_source_file.Read(memory_, parts->constants)
                                          : layout_.klass_source_file.Read(memory_, parts->holder);
  line.file = PoolSymbol(parts->constants, Index(file)).value_or("");
  if (bci && *bci >= 0 && !is_native) line.line = LineNumber(parts->const_method, *bci);
  return line;
}

std::optional<CodeLine> Methods::Interpreted(uint64_t method, uint64_t bcp) const {
  const std::optional<Parts> parts = PartsOf(method);
  if (!parts) return std::nullopt;
  if ((layout_.method_access.Read(memory_, method).value_or(0) & kAccNative) != 0) return LineOf(method, std::nullopt);
  const uint64_t code = parts->const_method + layout_.const_bytes;
  if (bcp < code || bcp - code > UINT16_MAX) return std::nullopt;
  return LineOf(method, static_cast<int64_t>(bcp - code));
}

std::optional<int64_t> Methods::ScopeAt(const Blob& blob, uint64_t pc) const {
  if (blob.pcs_end < blob.pcs) return std::nullopt;
  const uint64_t bytes = blob.pcs_end - blob.pcs;
  const uint64_t count = bytes / layout_.pc_desc_bytes;
  if (count == 0 || bytes > kMaxPcDescBytes) return std::nullopt;
  std::vector<std::byte> descs(count * layout_.pc_desc_bytes);
  if (!memory_.Read(blob.pcs, descs)) return std::nullopt;
  const SpanMemory read(blob.pcs, descs);
  const auto wanted = static_cast<int64_t>(pc - blob.begin);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t desc = blob.pcs + i * layout_.pc_desc_bytes;
    if (layout_.pc_desc_pc.Read(read, desc) == wanted) return layout_.pc_desc_scope.Read(read, desc);
  }
  return 0;
}

std::vector<CodeLine> Methods::ScopesFrom(const Blob& blob, int64_t scope) const {
  std::vector<CodeLine> lines;
  while (scope != 0) {
    if (lines.size() >= kMaxInlined || scope < 0) return {};
    CompressedStream stream(memory_, blob.scopes + static_cast<uint64_t>(scope), layout_.excluded_byte());
    const std::optional<uint32_t> sender = stream.Unsigned();
    const std::optional<uint32_t> index = stream.Unsigned();
    const std::optional<uint32_t> bci = stream.Unsigned();  // one more: that of an entry is -1
    // A function is inlined into one that was written before it.
    if (!sender || !index || !bci || *index == 0 || *sender >= scope) return {};
    const uint64_t entry = blob.metadata + (uint64_t{*index} - 1) * sizeof(uint64_t);
    const uint64_t method = memory_.ReadValue<uint64_t>(entry).value_or(0);
    if (*sender == 0 && method != blob.method) return {};  // the outermost one is what was compiled
    const std::optional<CodeLine> line = LineOf(method, int64_t{*bci} - 1);
    if (!line) return {};
    lines.push_back(*line);
    scope = *sender;
  }
  return lines;
}

std::vector<CodeLine> Methods::Compiled(const Blob& blob, uint64_t returns_to) const {
  const bool is_native = blob.kind == BlobKind::kNative;
  const std::optional<int64_t> scope = is_native || returns_to == 0 ? 0 : ScopeAt(blob, returns_to);
  if (!scope) return {};
  if (*scope != 0) return ScopesFrom(blob, *scope);
  const std::optional<CodeLine> line = LineOf(blob.method, std::nullopt);
  if (!line) return {};
  if (is_native) return {*line};
  return {{.function = std::string(kJavaInlined)}, *line};
}

}  // namespace offcpu
