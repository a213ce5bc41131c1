// What a HotSpot virtual machine says of its own structures: where fields are, how large types are, and constants. Its
// libjvm exports tables of these for the Serviceability Agent, in every build, also where it is stripped. The source of
// their form is src/hotspot/share/runtime/vmStructs.hpp of OpenJDK; the strides and offsets of the tables' own entries
// are exported beside them, and are what is gone by.
//
// The tables are the process's word, and may say anything: counts and lengths are bounded. Immutable once read.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_VM_STRUCTS_H_
#define OFFCPU_RUNTIMES_HOTSPOT_VM_STRUCTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "process/memory.h"

namespace offcpu {

inline constexpr size_t kMaxVmEntries = 16384;  // of one table
inline constexpr size_t kMaxVmNameBytes = 256;  // of one name
inline constexpr uint64_t kMaxVmEntryStride = 256;

struct VmField {
  uint64_t at = 0;    // offset in its type; of a static one its address in the process
  uint8_t bytes = 0;  // how wide it is: 1, 2, 4 or 8; 0: it is no number
  bool is_signed = false;
  bool is_static = false;

  bool operator==(const VmField&) const = default;
};

class VmStructs {
 public:
  // `symbols`: addresses in the process of what is exported, by the name behind "gHotSpotVM". An error if there are not
  // all tables, or one of them is damaged.
  static absl::StatusOr<VmStructs> Read(const Memory& memory,
                                        const std::map<std::string, uint64_t, std::less<>>& symbols);

  // By "Type::_field".
  std::optional<VmField> Field(std::string_view name) const;
  std::optional<uint64_t> Size(std::string_view type) const;
  std::optional<int32_t> Constant(std::string_view name) const;

 private:
  using Symbols = std::map<std::string, uint64_t, std::less<>>;

  absl::Status ReadSizes(const Memory& memory, const Symbols& symbols);
  absl::Status ReadFields(const Memory& memory, const Symbols& symbols);
  absl::Status ReadConstants(const Memory& memory, const Symbols& symbols);
  uint8_t WidthOf(std::string_view type) const;

  std::map<std::string, VmField, std::less<>> fields_;
  std::map<std::string, uint64_t, std::less<>> sizes_;
  std::map<std::string, int32_t, std::less<>> constants_;
};

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_VM_STRUCTS_H_
