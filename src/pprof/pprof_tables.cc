#include "pprof/pprof_tables.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "perftools/profile.pb.h"
#include "pprof/pprof_functions.h"
#include "pprof/pprof_labels.h"
#include "process/module.h"

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

// The number of a line or a column; 0: not known.
uint32_t Number(int64_t number) {
  return number > 0 && number <= std::numeric_limits<uint32_t>::max() ? static_cast<uint32_t>(number) : 0;
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

absl::StatusOr<PprofTables> PprofTables::Read(const PprofFields& fields, NameStore* names, PprofBudget& held) {
  PprofTables tables(fields.strings, names);
  absl::Status status =
      ForEach(fields.mappings, [&](std::string_view bytes) { return tables.ReadMapping(bytes, held); });
  if (!status.ok()) return status;
  status = ForEach(fields.functions, [&](std::string_view bytes) { return tables.ReadFunction(bytes); });
  if (!status.ok()) return status;
  status = ForEach(fields.locations, [&](std::string_view bytes) { return tables.ReadLocation(bytes, held); });
  if (!status.ok()) return status;
  return tables;
}

absl::StatusOr<std::string_view> PprofTables::String(int64_t index) {
  if (index < 0 || static_cast<uint64_t>(index) >= strings_.size()) {
    return absl::DataLossError(absl::StrCat("is damaged: no string ", index));
  }
  std::string_view& kept = kept_[static_cast<size_t>(index)];
  if (kept.data() == nullptr) kept = names_->Add(Printable(strings_[static_cast<size_t>(index)]));
  return kept;
}

absl::Status PprofTables::ReadMapping(std::string_view bytes, PprofBudget& held) {
  pb::Mapping message;
  if (!Parse(bytes, &message) || message.id() == 0) return Damaged("mapping", message.id());
  const absl::StatusOr<std::string_view> path = String(message.filename());
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string_view> build_id = String(message.build_id());
  if (!build_id.ok()) return build_id.status();
  const absl::StatusOr<std::string_view> file_hash = String(message.file_hash());
  if (!file_hash.ok()) return file_hash.status();
  const uint64_t bytes_held = path->size() + build_id->size() + file_hash->size();
  if (absl::Status status = held.Take(bytes_held); !status.ok()) return status;
  Mapping mapping;
  if (*path != kKernelMapping) {
    std::shared_ptr<CodeObject> code;
    if (IsPerfMapPath(*path)) {
      code = std::make_shared<CodeObject>(CodeKind::kPerfMap);
    } else if (IsRuntimePath(*path)) {
      code = std::make_shared<CodeObject>(CodeKind::kOtherFile);
    } else {
      code = std::make_shared<Module>();
    }
    code->path = std::string(*path);
    code->build_id = std::string(*build_id);
    code->file_hash = std::string(*file_hash);
    mapping = {code.get(), FileName(*path)};
    code_.push_back(std::move(code));
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
  const Function function = {.name = *name, .file = message.filename(), .start_line = Number(message.start_line())};
  if (!function_by_id_.try_emplace(message.id(), function).second) return Damaged("function", message.id());
  return absl::OkStatus();
}

absl::StatusOr<FrameLine> PprofTables::LineOf(const pb::Line& line, uint64_t location_id) {
  const auto function = function_by_id_.find(line.function_id());
  if (function == function_by_id_.end()) return Damaged("the function of location", location_id);
  const absl::StatusOr<std::string_view> name = String(function->second.name);
  if (!name.ok()) return name.status();
  if (name->empty()) return Damaged("the name of a function of location", location_id);
  const absl::StatusOr<std::string_view> file = String(function->second.file);
  if (!file.ok()) return file.status();
  return FrameLine{.function = *name,
                   .file = *file,
                   .line = Number(line.line()),
                   .column = Number(line.column()),
                   .start_line = function->second.start_line};
}

absl::Status PprofTables::ReadLocation(std::string_view bytes, PprofBudget& held) {
  pb::Location message;
  if (!Parse(bytes, &message) || message.id() == 0) return Damaged("location", message.id());
  PprofLocation location = {.address = message.address()};
  const auto count = static_cast<uint64_t>(message.line_size());
  if (absl::Status status = held.Take(count * sizeof(FrameLine)); !status.ok()) return status;
  std::vector<FrameLine> lines;
  lines.reserve(count);
  for (const pb::Line& line : message.line()) {
    const absl::StatusOr<FrameLine> read = LineOf(line, message.id());
    if (!read.ok()) return read.status();
    lines.push_back(*read);
  }
  location.lines = names_->Add(std::move(lines));
  if (message.mapping_id() != 0) {
    const auto mapping = mapping_by_id_.find(message.mapping_id());
    if (mapping == mapping_by_id_.end()) return Damaged("the mapping of location", message.id());
    location.code = mapping->second.code;
    location.kernel = location.code == nullptr;
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
