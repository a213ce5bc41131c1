#include "pprof/pprof_fields.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "perftools/profile.pb.h"

namespace offcpu {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Message = offcpu::pprof::Profile;

struct Table {
  std::vector<std::string_view>* entries;
  size_t max_entries;
  size_t max_bytes;
  const char* name;
};

Table TableOf(int field, const PprofLimits& limits, PprofFields* fields) {
  switch (field) {
    case Message::kSampleFieldNumber:
      return {&fields->samples, limits.samples, limits.entry_bytes, "a sample"};
    case Message::kMappingFieldNumber:
      return {&fields->mappings, limits.mappings, limits.entry_bytes, "a mapping"};
    case Message::kLocationFieldNumber:
      return {&fields->locations, limits.locations, limits.entry_bytes, "a location"};
    case Message::kFunctionFieldNumber:
      return {&fields->functions, limits.functions, limits.entry_bytes, "a function"};
    case Message::kStringTableFieldNumber:
      return {&fields->strings, limits.strings, limits.string_bytes, "a string"};
    default:
      return {};
  }
}

absl::Status TooLarge(const char* what, uint64_t limit, const char* unit) {
  return absl::ResourceExhaustedError(absl::StrCat("is too large: ", what, " of more than ", limit, " ", unit));
}

absl::Status AddEntry(std::string_view entry, const Table& table) {
  if (table.entries->size() == table.max_entries) return TooLarge("a table", table.max_entries, "entries");
  if (entry.size() > table.max_bytes) return TooLarge(table.name, table.max_bytes, "bytes");
  table.entries->push_back(entry);
  return absl::OkStatus();
}

}  // namespace

absl::Status PprofBudget::Take(uint64_t bytes) {
  if (bytes > limit_ - used_) return TooLarge(what_, limit_, "bytes");
  used_ += bytes;
  return absl::OkStatus();
}

absl::StatusOr<PprofFields> SplitPprof(std::string_view bytes, const PprofLimits& limits) {
  if (bytes.size() > std::numeric_limits<int>::max())
    return TooLarge("a file", std::numeric_limits<int>::max(), "bytes");
  const absl::Status no_message = absl::DataLossError("is damaged, or not a pprof file");
  CodedInputStream input(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  PprofFields fields;
  absl::Status too_large;
  for (;;) {
    const size_t begin = static_cast<size_t>(input.CurrentPosition());
    const uint32_t tag = input.ReadTag();
    if (tag == 0) break;
    const Table table = TableOf(WireFormatLite::GetTagFieldNumber(tag), limits, &fields);
    if (table.entries == nullptr) {
      if (!WireFormatLite::SkipField(&input, tag)) return no_message;
      const std::string_view field = bytes.substr(begin, static_cast<size_t>(input.CurrentPosition()) - begin);
      if (fields.rest.size() + field.size() > limits.rest_bytes) {
        too_large.Update(TooLarge("comments", limits.rest_bytes, "bytes"));
      } else {
        fields.rest += field;
      }
      continue;
    }
    uint32_t length = 0;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        !input.ReadVarint32(&length) || length > bytes.size() - static_cast<size_t>(input.CurrentPosition())) {
      return no_message;
    }
    const std::string_view entry = bytes.substr(static_cast<size_t>(input.CurrentPosition()), length);
    input.Skip(static_cast<int>(length));
    too_large.Update(AddEntry(entry, table));
  }
  if (!input.ConsumedEntireMessage()) return no_message;
  // Other formats have fields of these numbers. Each pprof file has strings, mostly behind all else.
  if (fields.strings.empty() && (!fields.samples.empty() || !too_large.ok())) return no_message;
  if (!too_large.ok()) return too_large;
  return fields;
}

}  // namespace offcpu
