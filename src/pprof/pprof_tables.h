// The tables of a pprof file that its samples refer to, checked: strings, and locations with their functions and
// their mapping. Strings are copied once, where they are first needed, so that nothing here points into the file,
// with '?' for control characters, as everywhere where names of others are shown.
#ifndef OFFCPU_PPROF_PPROF_TABLES_H_
#define OFFCPU_PPROF_PPROF_TABLES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pprof/pprof_fields.h"
#include "process/code_object.h"
#include "profile/named_profile.h"

namespace offcpu {

namespace pprof {
class Line;
}  // namespace pprof

struct PprofLocation {
  const CodeObject* code = nullptr;  // null: without a mapping, or in the kernel
  bool kernel = false;
  uint64_t address = 0;
  std::span<const FrameLine> lines;  // innermost first; none: not one of ours
  std::string_view file;             // of the code object, without its directory

  // The function of the frame, which what was inlined is not.
  std::string_view name() const { return lines.empty() ? std::string_view() : lines.back().function; }
};

class PprofTables {
 public:
  // The bytes behind `fields` must outlive the tables, `names` what is read with them. DataLoss if something is
  // referred to that is not there. What mappings and locations hold is taken from `held`; ResourceExhausted if it is
  // too much.
  static absl::StatusOr<PprofTables> Read(const PprofFields& fields, NameStore* names, PprofBudget& held);

  // DataLoss if there is no such string. Valid as long as `names`.
  absl::StatusOr<std::string_view> String(int64_t index);
  // The index of the location with this id.
  absl::StatusOr<uint32_t> FindLocation(uint64_t id) const;
  const PprofLocation& location(uint32_t index) const { return locations_[index]; }

  const std::vector<std::shared_ptr<const CodeObject>>& code() const { return code_; }

 private:
  struct Mapping {
    const CodeObject* code = nullptr;  // null: the kernel
    std::string_view file;
  };

  struct Function {
    int64_t name = 0;  // indices of strings
    int64_t file = 0;
    uint32_t start_line = 0;
  };

  PprofTables(const std::vector<std::string_view>& strings, NameStore* names)
      : strings_(strings), kept_(strings.size()), names_(names) {}
  // The one of both names of a function that it was recorded with. If offcpu has not made the name out of the system
  // name, others have written the latter.
  absl::StatusOr<int64_t> WholeName(int64_t name, int64_t system_name);
  absl::Status ReadMapping(std::string_view bytes, PprofBudget& held);
  absl::Status ReadFunction(std::string_view bytes);
  absl::StatusOr<FrameLine> LineOf(const pprof::Line& line, uint64_t location_id);
  absl::Status ReadLocation(std::string_view bytes, PprofBudget& held);

  std::vector<std::string_view> strings_;  // in the file
  std::vector<std::string_view> kept_;     // in `names`; null: not yet
  NameStore* names_;
  std::vector<std::shared_ptr<const CodeObject>> code_;
  absl::flat_hash_map<uint64_t, Mapping> mapping_by_id_;
  absl::flat_hash_map<uint64_t, Function> function_by_id_;
  absl::flat_hash_map<uint64_t, uint32_t> location_by_id_;
  std::vector<PprofLocation> locations_;
};

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_TABLES_H_
