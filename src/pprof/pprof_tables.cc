#include "pprof/pprof_tables.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_functions.h"
#include "pprof/pprof_labels.h"

namespace offcpu {
namespace {

namespace pb = offcpu::pprof;

absl::Status Damaged(std::string_view what, uint64_t id) {
  return absl::DataLossError(absl::StrCat("is damaged: ", std::string(what), " ", id));
}

template <typename Message>
bool Parse(std::string_view bytes, Message* message) {
  return message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

template <typename Read>
absl::Status ForEach(const std::vector<std::string_view>& entries, Read read) {
  for (std::string_view entry : entries) {
    if (absl::Status status = read(entry); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PprofTables> PprofTables::Read(const PprofFields& fields, std::deque<std::string>* names,
                                              PprofBudget& held) {
  PprofTables tables(fields.strings, names);
  absl::Status status =
      ForEach(fields.mappings, [&](std::string_view bytes) { return tables.ReadMapping(bytes, held); });
  if (!status.ok()) return status;
  status = ForEach(fields.functions, [&](std::string_view bytes) { return tables.ReadFunction(bytes); });
  if (!status.ok()) return status;
  status = ForEach(fields.locations, [&](std::string_view bytes) { return tables.ReadLocation(bytes); });
  if (!status.ok()) return status;
  return tables;
}

absl::StatusOr<std::string_view> PprofTables::String(int64_t index) {
  if (index < 0 || static_cast<uint64_t>(index) >= strings_.size()) {
    return absl::DataLossError(absl::StrCat("is damaged: no string ", index));
  }
  std::string_view& kept = kept_[static_cast<size_t>(index)];
  if (kept.data() == nullptr) kept = names_->emplace_back(Printable(strings_[static_cast<size_t>(index)]));
  return kept;
}

absl::Status PprofTables::ReadMapping(std::string_view bytes, PprofBudget& held) {
  pb::Mapping message;
  if (!Parse(bytes, &message) || message.id() == 0) return Damaged("mapping", message.id());
  const absl::StatusOr<std::string_view> path = String(message.filename());
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string_view> build_id = String(message.build_id());
  if (!build_id.ok()) return build_id.status();
  if (absl::Status status = held.Take(path->size() + build_id->size()); !status.ok()) return status;
  Mapping mapping;
  if (*path != kKernelMapping) {
    auto module = std::make_shared<Module>();
    module->path = std::string(*path);
    module->build_id = std::string(*build_id);
    mapping = {module.get(), FileName(*path)};
    modules_.push_back(std::move(module));
  }
  if (!mapping_by_id_.try_emplace(message.id(), mapping).second) return Damaged("mapping", message.id());
  return absl::OkStatus();
}

absl::StatusOr<int64_t> PprofTables::WholeName(int64_t name, int64_t system_name) {
  if (system_name == 0) return name;
  const absl::StatusOr<std::string_view> shown = String(name);
  if (!shown.ok()) return shown.status();
  const absl::StatusOr<std::string_view> whole = String(system_name);
  if (!whole.ok()) return whole.status();
  return ShownFunction(*whole) == *shown || InterruptedFunction(*whole) == *shown ? system_name : name;
}

absl::Status PprofTables::ReadFunction(std::string_view bytes) {
  pb::Function message;
  if (!Parse(bytes, &message) || message.id() == 0) return Damaged("function", message.id());
  const absl::StatusOr<int64_t> name = WholeName(message.name(), message.system_name());
  if (!name.ok()) return name.status();
  if (!function_name_by_id_.try_emplace(message.id(), *name).second) return Damaged("function", message.id());
  return absl::OkStatus();
}

absl::Status PprofTables::ReadLocation(std::string_view bytes) {
  pb::Location message;
  if (!Parse(bytes, &message) || message.id() == 0 || message.line_size() > 1) {
    return Damaged("location", message.id());
  }
  PprofLocation location = {.address = message.address()};
  if (message.line_size() == 1) {
    const auto function = function_name_by_id_.find(message.line(0).function_id());
    if (function == function_name_by_id_.end()) return Damaged("the function of location", message.id());
    const absl::StatusOr<std::string_view> name = String(function->second);
    if (!name.ok()) return name.status();
    location.name = *name;
  }
  if (message.mapping_id() != 0) {
    const auto mapping = mapping_by_id_.find(message.mapping_id());
    if (mapping == mapping_by_id_.end()) return Damaged("the mapping of location", message.id());
    location.module = mapping->second.module;
    location.kernel = location.module == nullptr;
    location.file = mapping->second.file;
  }
  if (!location_by_id_.try_emplace(message.id(), static_cast<uint32_t>(locations_.size())).second) {
    return Damaged("location", message.id());
  }
  locations_.push_back(location);
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> PprofTables::FindLocation(uint64_t id) const {
  const auto location = location_by_id_.find(id);
  if (location == location_by_id_.end()) return Damaged("no location", id);
  return location->second;
}

}  // namespace offcpu
