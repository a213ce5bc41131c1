// The tables of a pprof file that its samples refer to, checked: strings, and locations with the name of their function
// and their mapping. Strings are copied once, where they are first needed, so that nothing here points into the file,
// with '?' for control characters, as everywhere where names of others are shown.
#ifndef OFFCPU_PPROF_PPROF_TABLES_H_
#define OFFCPU_PPROF_PPROF_TABLES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pprof/pprof_fields.h"
#include "process/module.h"

namespace offcpu {

struct PprofLocation {
  const Module* module = nullptr;  // null: without a mapping, or in the kernel
  bool kernel = false;
  uint64_t address = 0;
  std::string_view name;  // of the function; "": pprof has taken it off
  std::string_view file;  // of the module, without its directory
};

class PprofTables {
 public:
  // The bytes behind `fields` must outlive the tables, `names` what is read with them. DataLoss if something is
  // referred to that is not there, or if a location is that of several functions. What modules hold is taken from
  // `held`; ResourceExhausted if it is too much.
  static absl::StatusOr<PprofTables> Read(const PprofFields& fields, std::deque<std::string>* names, PprofBudget& held);

  // DataLoss if there is no such string. Valid as long as `names`.
  absl::StatusOr<std::string_view> String(int64_t index);
  // The index of the location with this id.
  absl::StatusOr<uint32_t> FindLocation(uint64_t id) const;
  const PprofLocation& location(uint32_t index) const { return locations_[index]; }

  const std::vector<std::shared_ptr<const Module>>& modules() const { return modules_; }

 private:
  struct Mapping {
    const Module* module = nullptr;  // null: the kernel
    std::string_view file;
  };

  PprofTables(const std::vector<std::string_view>& strings, std::deque<std::string>* names)
      : strings_(strings), kept_(strings.size()), names_(names) {}
  // The one of both names of a function that it was recorded with. If offcpu has not made the name out of the system
  // name, others have written the latter.
  absl::StatusOr<int64_t> WholeName(int64_t name, int64_t system_name);
  absl::Status ReadMapping(std::string_view bytes, PprofBudget& held);
  absl::Status ReadFunction(std::string_view bytes);
  absl::Status ReadLocation(std::string_view bytes);

  std::vector<std::string_view> strings_;  // in the file
  std::vector<std::string_view> kept_;     // in `names`; null: not yet
  std::deque<std::string>* names_;
  std::vector<std::shared_ptr<const Module>> modules_;
  absl::flat_hash_map<uint64_t, Mapping> mapping_by_id_;
  absl::flat_hash_map<uint64_t, int64_t> function_name_by_id_;  // index of the string
  absl::flat_hash_map<uint64_t, uint32_t> location_by_id_;
  std::vector<PprofLocation> locations_;
};

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_TABLES_H_
