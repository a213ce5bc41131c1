#include "otlp/otlp_attributes.h"

#include "bytes/name_numbers.h"
#include "bytes/utf8.h"
#include "opentelemetry/proto/profiles/v1development/profiles.pb.h"
#include "process/control_groups.h"

namespace offcpu {
namespace {

namespace pb = opentelemetry::proto::profiles::v1development;
namespace common = opentelemetry::proto::common::v1;
namespace resource = opentelemetry::proto::resource::v1;

// What readers show where a resource has no service.
constexpr std::string_view kUnknownService = "unknown_service";

common::AnyValue* ValueOf(std::string_view key, resource::Resource* resource) {
  const std::string valid = Printable(key);
  for (common::KeyValue& attribute : *resource->mutable_attributes()) {
    if (attribute.key() == valid) return attribute.mutable_value();
  }
  common::KeyValue* attribute = resource->add_attributes();
  attribute->set_key(valid);
  return attribute->mutable_value();
}

void SetText(std::string_view key, std::string_view text, resource::Resource* resource) {
  if (!text.empty()) ValueOf(key, resource)->set_string_value(Printable(text));
}

std::string ProgramOf(const RowLabelValues& row) {
  const std::string_view path = row[static_cast<size_t>(RowLabel::kExecutable)].text;
  if (!path.empty()) return std::string(path.substr(path.rfind('/') + 1));  // all of it without a slash
  return WithoutNumbers(row[static_cast<size_t>(RowLabel::kProcess)].text);
}

// "nginx" of "nginx.service".
std::string ServiceOf(const RowLabelValues& row) {
  const std::string_view unit = row[static_cast<size_t>(RowLabel::kUnit)].text;
  return NamesAService(unit) ? std::string(unit.substr(0, unit.rfind('.'))) : "";
}

OtlpProfiles::Frame Framed(const resource::Resource& of, std::string_view default_type) {
  OtlpProfiles::Frame frame;
  pb::ResourceProfiles profiles;
  *profiles.mutable_resource() = of;
  frame.resource = profiles.SerializeAsString();
  pb::ScopeProfiles scope;
  scope.mutable_scope()->set_name(std::string(kOtlpScope));
  scope.mutable_scope()->set_version(OFFCPU_VERSION);
  common::KeyValue* attribute = scope.mutable_scope()->add_attributes();
  attribute->set_key(std::string(kOtlpDefaultType));
  attribute->mutable_value()->set_string_value(std::string(default_type));
  frame.scope = scope.SerializeAsString();
  pb::ResourceProfiles schema;
  schema.set_schema_url(std::string(kOtlpSchema));
  frame.schema_url = schema.SerializeAsString();
  return frame;
}

}  // namespace

OtlpProfiles::Frame OtlpProcessFrame(const std::string& host, const std::string& service, const ServiceNames& names,
                                     const RowLabelValues& row, const OtlpLabels& wanted,
                                     const OtlpResourceAttributes& more) {
  const std::string name = ProgramOf(row);
  resource::Resource of;
  SetText(kOtlpHost, host, &of);
  SetText(kOtlpService, kUnknownService, &of);
  for (const std::string& named : {name, names.script, ServiceOf(row), names.declared, service})
    SetText(kOtlpService, named, &of);  // the last one that is there counts
  SetText(kOtlpExecutable, name, &of);
  VisitLabels(row, [&](const RowLabelInfo& info, const RowLabelValue& value) {
    if (!info.is_of_resource || !wanted.Has(info.label)) return;
    if (info.is_number) {
      ValueOf(info.attribute, &of)->set_int_value(value.number);
    } else if (info.label == RowLabel::kUnit && !wanted.Has(RowLabel::kControlGroup)) {
      SetText(info.attribute, UnitWithoutNumber(value.text), &of);
    } else {
      SetText(info.attribute, value.text, &of);
    }
  });
  for (const auto& [key, text] : more) SetText(key, text, &of);
  return Framed(of, InfoOf(OtlpType::kOffCpu).name);
}

OtlpProfiles::Frame OtlpRecorderFrame(const std::string& host, const OtlpResourceAttributes& more) {
  resource::Resource of;
  SetText(kOtlpHost, host, &of);
  SetText(kOtlpService, kOtlpScope, &of);
  for (const auto& [key, text] : more) SetText(key, text, &of);
  return Framed(of, InfoOf(OtlpType::kRecording).name);
}

}  // namespace offcpu
