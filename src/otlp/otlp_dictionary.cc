#include "otlp/otlp_dictionary.h"

#include <limits>

#include "absl/strings/string_view.h"
#include "bytes/utf8.h"
#include "opentelemetry/proto/profiles/v1development/profiles.pb.h"
#include "otlp/otlp_wire.h"

namespace offcpu {
namespace {

namespace pb = opentelemetry::proto::profiles::v1development;

enum Table { kMapping, kLocation, kFunction, kLink, kString, kAttribute, kStack };

}  // namespace

OtlpTable::OtlpTable(int field) : field_(field) { Intern(""); }

int32_t OtlpTable::Intern(std::string_view entry) {
  const auto known = index_.find(absl::string_view(entry.data(), entry.size()));
  if (known != index_.end()) return known->second;
  const auto index = static_cast<int32_t>(ends_.size());
  index_.try_emplace(std::string(entry), index);
  AppendFramed(field_, entry, &bytes_);
  ends_.push_back(bytes_.size());
  return index;
}

void OtlpTable::Truncate(size_t entries) {
  if (entries == ends_.size()) return;
  absl::erase_if(index_, [&](const auto& entry) { return static_cast<size_t>(entry.second) >= entries; });
  ends_.resize(entries);
  bytes_.resize(ends_.back());
}

OtlpDictionary::OtlpDictionary()
    : tables_{OtlpTable(1), OtlpTable(2), OtlpTable(3), OtlpTable(4), OtlpTable(5), OtlpTable(6), OtlpTable(7)} {}

int32_t OtlpDictionary::String(std::string_view text) { return tables_[kString].Intern(Printable(text)); }

int32_t OtlpDictionary::Attribute(std::string_view key, std::string_view text) {
  pb::KeyValueAndUnit attribute;
  attribute.set_key_strindex(String(key));
  attribute.mutable_value()->set_string_value(Printable(text));
  return tables_[kAttribute].Intern(attribute.SerializeAsString());
}

int32_t OtlpDictionary::Attribute(std::string_view key, int64_t number, std::string_view unit) {
  pb::KeyValueAndUnit attribute;
  attribute.set_key_strindex(String(key));
  attribute.mutable_value()->set_int_value(number);
  attribute.set_unit_strindex(String(unit));
  return tables_[kAttribute].Intern(attribute.SerializeAsString());
}

int32_t OtlpDictionary::Attribute(std::string_view key, std::span<const std::string> texts) {
  pb::KeyValueAndUnit attribute;
  attribute.set_key_strindex(String(key));
  auto* values = attribute.mutable_value()->mutable_array_value();
  for (const std::string& text : texts) values->add_values()->set_string_value(Printable(text));
  return tables_[kAttribute].Intern(attribute.SerializeAsString());
}

int32_t OtlpDictionary::Mapping(std::string_view path, std::span<const int32_t> attributes) {
  pb::Mapping mapping;
  mapping.set_memory_limit(std::numeric_limits<uint64_t>::max());
  mapping.set_filename_strindex(String(path));
  for (const int32_t attribute : attributes) mapping.add_attribute_indices(attribute);
  return tables_[kMapping].Intern(mapping.SerializeAsString());
}

// Without a system_name: some readers demangle, and so spoil, names that are the same in both.
int32_t OtlpDictionary::Function(std::string_view name, std::string_view file) {
  pb::Function function;
  function.set_name_strindex(String(name));
  function.set_filename_strindex(String(file));
  return tables_[kFunction].Intern(function.SerializeAsString());
}

int32_t OtlpDictionary::Location(const OtlpLocation& location) {
  pb::Location message;
  message.set_mapping_index(location.mapping);
  message.set_address(location.address);
  for (const OtlpLine& line : location.lines) {
    pb::Line* added = message.add_lines();
    added->set_function_index(line.function);
    added->set_line(line.line);
  }
  if (location.frame_type != 0) message.add_attribute_indices(location.frame_type);
  return tables_[kLocation].Intern(message.SerializeAsString());
}

int32_t OtlpDictionary::Stack(std::span<const int32_t> locations) {
  pb::Stack stack;
  stack.mutable_location_indices()->Add(locations.begin(), locations.end());
  return tables_[kStack].Intern(stack.SerializeAsString());
}

size_t OtlpDictionary::bytes() const {
  size_t bytes = 0;
  for (const OtlpTable& table : tables_) bytes += table.bytes().size();
  return bytes;
}

void OtlpDictionary::AppendTo(std::string* out) const {
  for (const OtlpTable& table : tables_) out->append(table.bytes());
}

OtlpDictionary::Mark OtlpDictionary::mark() const {
  Mark mark;
  for (size_t i = 0; i < tables_.size(); ++i) mark[i] = tables_[i].entries();
  return mark;
}

void OtlpDictionary::Rewind(const Mark& mark) {
  for (size_t i = 0; i < tables_.size(); ++i) tables_[i].Truncate(mark[i]);
}

}  // namespace offcpu
