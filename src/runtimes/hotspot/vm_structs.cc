#include "runtimes/hotspot/vm_structs.h"

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtimes/read_text.h"

namespace offcpu {
namespace {

using Symbols = std::map<std::string, uint64_t, std::less<>>;

// A word that a symbol stands for.
absl::StatusOr<uint64_t> Word(const Memory& memory, const Symbols& symbols, std::string_view name) {
  const auto symbol = symbols.find(name);
  if (symbol == symbols.end()) return absl::NotFoundError(absl::StrCat("no gHotSpotVM", std::string(name)));
  const std::optional<uint64_t> word = memory.ReadValue<uint64_t>(symbol->second);
  if (!word) return absl::DataLossError(absl::StrCat("gHotSpotVM", std::string(name), " cannot be read"));
  return *word;
}

// Nothing: it is longer than any name, or cannot be read.
std::optional<std::string> Text(const Memory& memory, uint64_t address) {
  std::optional<std::string> text = ReadText(memory, address, kMaxVmNameBytes);
  return text && text->size() < kMaxVmNameBytes ? text : std::nullopt;
}

// One table: an array of entries, the last of which has no name.
class Table {
 public:
  // `kind`: "Struct", "Type" or "IntConstant". `name`: the field of an entry that says whether it is the last one.
  static absl::StatusOr<Table> Open(const Memory& memory, const Symbols& symbols, std::string_view kind,
                                    std::string_view name) {
    Table table(memory, symbols, kind);
    absl::StatusOr<uint64_t> begin = Word(memory, symbols, absl::StrCat(std::string(kind), "s"));
    if (!begin.ok()) return begin.status();
    absl::StatusOr<uint64_t> stride = Word(memory, symbols, absl::StrCat(table.kind_, "EntryArrayStride"));
    if (!stride.ok()) return stride.status();
    absl::StatusOr<uint64_t> offset = table.OffsetOf(name);
    if (!offset.ok()) return offset.status();
    if (*stride == 0 || *stride > kMaxVmEntryStride) return absl::DataLossError("entries of an impossible size");
    table.begin_ = *begin;
    table.stride_ = *stride;
    table.name_ = *offset;
    return table;
  }

  absl::StatusOr<uint64_t> OffsetOf(std::string_view field) const {
    absl::StatusOr<uint64_t> offset =
        Word(memory_, symbols_, absl::StrCat(kind_, "Entry", std::string(field), "Offset"));
    if (offset.ok() && *offset >= kMaxVmEntryStride) return absl::DataLossError("a field outside of its entry");
    return offset;
  }

  // Calls `use` for each entry. False: an entry cannot be read, or there are too many.
  [[nodiscard]] bool ForEach(absl::FunctionRef<bool(uint64_t entry)> use) const {
    for (size_t i = 0; i < kMaxVmEntries; ++i) {
      const uint64_t entry = begin_ + i * stride_;
      const std::optional<uint64_t> name = memory_.ReadValue<uint64_t>(entry + name_);
      if (!name) return false;
      if (*name == 0) return true;
      if (!use(entry)) return false;
    }
    return false;
  }

 private:
  Table(const Memory& memory, const Symbols& symbols, std::string_view kind)
      : memory_(memory), symbols_(symbols), kind_(kind) {}

  const Memory& memory_;
  const Symbols& symbols_;
  std::string kind_;
  uint64_t begin_ = 0;
  uint64_t stride_ = 0;
  uint64_t name_ = 0;
};

// The text that a field of an entry points to.
std::optional<std::string> TextAt(const Memory& memory, uint64_t pointer) {
  const std::optional<uint64_t> address = memory.ReadValue<uint64_t>(pointer);
  if (!address) return std::nullopt;
  return *address == 0 ? std::string() : Text(memory, *address);
}

bool HasSign(std::string_view type) {
  return type.starts_with("int") || type.starts_with("jint") || type.starts_with("jshort");
}

}  // namespace

absl::Status VmStructs::ReadSizes(const Memory& memory, const Symbols& symbols) {
  const absl::StatusOr<Table> types = Table::Open(memory, symbols, "Type", "TypeName");
  if (!types.ok()) return types.status();
  const absl::StatusOr<uint64_t> name_at = types->OffsetOf("TypeName");
  const absl::StatusOr<uint64_t> size_at = types->OffsetOf("Size");
  if (!size_at.ok()) return size_at.status();
  const bool is_whole = types->ForEach([&](uint64_t entry) {
    const std::optional<std::string> name = TextAt(memory, entry + *name_at);
    const std::optional<uint64_t> size = memory.ReadValue<uint64_t>(entry + *size_at);
    if (name && size) sizes_.try_emplace(*name, *size);
    return name && size;
  });
  return is_whole ? absl::OkStatus() : absl::DataLossError("the table of types is damaged");
}

// The width of a field follows from its type: it changes between versions, while the name stays.
uint8_t VmStructs::WidthOf(std::string_view type) const {
  if (type.ends_with('*')) return sizeof(uint64_t);
  if (type == "int16_t" || type == "uint16_t" || type == "jshort") return sizeof(uint16_t);
  if (type == "jint" || type == "uint" || type == "int32_t" || type == "uint32_t") return sizeof(uint32_t);
  const uint64_t bytes = Size(type).value_or(0);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 ? static_cast<uint8_t>(bytes) : 0;
}

absl::Status VmStructs::ReadFields(const Memory& memory, const Symbols& symbols) {
  const absl::StatusOr<Table> fields = Table::Open(memory, symbols, "Struct", "TypeName");
  if (!fields.ok()) return fields.status();
  constexpr std::string_view kParts[] = {"TypeName", "FieldName", "TypeString", "IsStatic", "Offset", "Address"};
  uint64_t at[std::size(kParts)] = {};
  for (size_t i = 0; i < std::size(kParts); ++i) {
    const absl::StatusOr<uint64_t> offset = fields->OffsetOf(kParts[i]);
    if (!offset.ok()) return offset.status();
    at[i] = *offset;
  }
  const bool is_whole = fields->ForEach([&](uint64_t entry) {
    const std::optional<std::string> type = TextAt(memory, entry + at[0]);
    const std::optional<std::string> field = TextAt(memory, entry + at[1]);
    const std::string type_string = TextAt(memory, entry + at[2]).value_or("");
    const std::optional<int32_t> is_static = memory.ReadValue<int32_t>(entry + at[3]);
    if (!type || !field || !is_static) return false;
    const std::optional<uint64_t> place = memory.ReadValue<uint64_t>(entry + (*is_static != 0 ? at[5] : at[4]));
    if (!place) return false;
    fields_.try_emplace(absl::StrCat(*type, "::", *field), VmField{.at = *place,
                                                                   .bytes = WidthOf(type_string),
                                                                   .is_signed = HasSign(type_string),
                                                                   .is_static = *is_static != 0});
    return true;
  });
  return is_whole ? absl::OkStatus() : absl::DataLossError("the table of fields is damaged");
}

absl::Status VmStructs::ReadConstants(const Memory& memory, const Symbols& symbols) {
  const absl::StatusOr<Table> constants = Table::Open(memory, symbols, "IntConstant", "Name");
  if (!constants.ok()) return constants.status();
  const absl::StatusOr<uint64_t> name_at = constants->OffsetOf("Name");
  const absl::StatusOr<uint64_t> value_at = constants->OffsetOf("Value");
  if (!value_at.ok()) return value_at.status();
  const bool is_whole = constants->ForEach([&](uint64_t entry) {
    const std::optional<std::string> name = TextAt(memory, entry + *name_at);
    const std::optional<int32_t> value = memory.ReadValue<int32_t>(entry + *value_at);
    if (name && value) constants_.try_emplace(*name, *value);
    return name && value;
  });
  return is_whole ? absl::OkStatus() : absl::DataLossError("the table of constants is damaged");
}

absl::StatusOr<VmStructs> VmStructs::Read(const Memory& memory, const Symbols& symbols) {
  VmStructs structs;
  if (absl::Status status = structs.ReadSizes(memory, symbols); !status.ok()) return status;
  if (absl::Status status = structs.ReadFields(memory, symbols); !status.ok()) return status;
  if (absl::Status status = structs.ReadConstants(memory, symbols); !status.ok()) return status;
  return structs;
}

std::optional<VmField> VmStructs::Field(std::string_view name) const {
  const auto found = fields_.find(name);
  return found != fields_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<uint64_t> VmStructs::Size(std::string_view type) const {
  const auto found = sizes_.find(type);
  return found != sizes_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<int32_t> VmStructs::Constant(std::string_view name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace offcpu
