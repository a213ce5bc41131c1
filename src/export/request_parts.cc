#include "export/request_parts.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/gzip.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"

namespace offcpu {
namespace {

namespace otlp = opentelemetry::proto::profiles::v1development;
using Request = opentelemetry::proto::collector::profiles::v1development::ExportProfilesServiceRequest;

constexpr size_t kMaxRequestBytes = 64u << 20;  // not compressed

// Empties entries of the tables that nothing refers to.
class Pruner {
 public:
  explicit Pruner(Request* request) : request_(*request), tables_(*request->mutable_dictionary()) {}

  void Prune() {
    for (const otlp::ResourceProfiles& resource : request_.resource_profiles()) {
      for (const otlp::ScopeProfiles& scope : resource.scope_profiles()) {
        for (const otlp::Profile& profile : scope.profiles()) UseProfile(profile);
      }
    }
    // Each table after those that refer to it.
    ForUsed(kStack, tables_.stack_table(), [&](const auto& stack) { Use(kLocation, stack.location_indices()); });
    ForUsed(kLocation, tables_.location_table(), [&](const auto& location) {
      Use(kMapping, location.mapping_index());
      Use(kAttribute, location.attribute_indices());
      for (const otlp::Line& line : location.lines()) Use(kFunction, line.function_index());
    });
    ForUsed(kMapping, tables_.mapping_table(), [&](const auto& mapping) {
      Use(kString, mapping.filename_strindex());
      Use(kAttribute, mapping.attribute_indices());
    });
    ForUsed(kFunction, tables_.function_table(), [&](const auto& function) {
      for (int32_t text : {function.name_strindex(), function.system_name_strindex(), function.filename_strindex()})
        Use(kString, text);
    });
    ForUsed(kAttribute, tables_.attribute_table(), [&](const auto& attribute) {
      Use(kString, attribute.key_strindex());
      Use(kString, attribute.unit_strindex());
    });
    Clear();
  }

 private:
  enum Table { kMapping, kLocation, kFunction, kString, kAttribute, kStack, kTables };

  void Use(Table table, int32_t index) {
    if (index < 0) return;
    std::vector<bool>& used = used_[table];
    if (used.size() <= static_cast<size_t>(index)) used.resize(static_cast<size_t>(index) + 1);
    used[static_cast<size_t>(index)] = true;
  }
  template <typename Indices>
  void Use(Table table, const Indices& indices) {
    for (const int32_t index : indices) Use(table, index);
  }
  bool IsUsed(Table table, int index) const {
    return static_cast<size_t>(index) < used_[table].size() && used_[table][static_cast<size_t>(index)];
  }

  void UseProfile(const otlp::Profile& profile) {
    for (const otlp::ValueType* type : {&profile.sample_type(), &profile.period_type()}) {
      Use(kString, type->type_strindex());
      Use(kString, type->unit_strindex());
    }
    Use(kAttribute, profile.attribute_indices());
    for (const otlp::Sample& sample : profile.samples()) {
      Use(kStack, sample.stack_index());
      Use(kAttribute, sample.attribute_indices());
    }
  }

  template <typename Entries, typename Visit>
  void ForUsed(Table table, const Entries& entries, Visit visit) {
    for (int i = 0; i < entries.size(); ++i) {
      if (IsUsed(table, i)) visit(entries[i]);
    }
  }

  void Clear() {
    const auto clear = [this](Table table, auto* entries) {
      for (int i = 0; i < entries->size(); ++i) {
        if (!IsUsed(table, i)) entries->Mutable(i)->Clear();
      }
    };
    clear(kMapping, tables_.mutable_mapping_table());
    clear(kLocation, tables_.mutable_location_table());
    clear(kFunction, tables_.mutable_function_table());
    clear(kAttribute, tables_.mutable_attribute_table());
    clear(kStack, tables_.mutable_stack_table());
    for (int i = 0; i < tables_.string_table_size(); ++i) {
      if (!IsUsed(kString, i)) tables_.mutable_string_table(i)->clear();
    }
  }

  Request& request_;
  otlp::ProfilesDictionary& tables_;
  std::array<std::vector<bool>, kTables> used_;
};

// Calls visit(resource, scope, profile) for each profile.
template <typename Visit>
void VisitProfiles(const Request& request, Visit visit) {
  for (const otlp::ResourceProfiles& resource : request.resource_profiles()) {
    for (const otlp::ScopeProfiles& scope : resource.scope_profiles()) {
      for (const otlp::Profile& profile : scope.profiles()) visit(resource, scope, profile);
    }
  }
}

std::string ServiceOf(const otlp::ResourceProfiles& resource) {
  for (const auto& attribute : resource.resource().attributes()) {
    if (attribute.key() == "service.name") return attribute.value().string_value();
  }
  return "";
}

}  // namespace

struct RequestParts::Message {
  Request request;
  std::vector<std::pair<std::string, std::string>> names;  // of each profile: type and service
};

RequestParts::RequestParts(std::unique_ptr<const Message> message) : message_(std::move(message)) {}
RequestParts::~RequestParts() = default;
RequestParts::RequestParts(RequestParts&&) noexcept = default;
RequestParts& RequestParts::operator=(RequestParts&&) noexcept = default;

absl::StatusOr<RequestParts> RequestParts::Parse(const std::string& body) {
  const absl::StatusOr<std::string> bytes = IsGzip(body) ? Gunzip(body, kMaxRequestBytes) : body;
  if (!bytes.ok()) return bytes.status();
  auto message = std::make_unique<Message>();
  if (!message->request.ParseFromString(*bytes)) return absl::DataLossError("is not an OTLP request");
  const otlp::ProfilesDictionary& tables = message->request.dictionary();
  VisitProfiles(message->request, [&](const auto& resource, const auto&, const otlp::Profile& profile) {
    // As our types are made: one with a period has the name of that.
    const otlp::ValueType& type = profile.has_period_type() ? profile.period_type() : profile.sample_type();
    const bool is_there = type.type_strindex() >= 0 && type.type_strindex() < tables.string_table_size();
    message->names.emplace_back(is_there ? tables.string_table(type.type_strindex()) : "", ServiceOf(resource));
  });
  return RequestParts(std::move(message));
}

size_t RequestParts::profiles() const { return message_->names.size(); }

std::string RequestParts::Type(size_t profile) const { return message_->names[profile].first; }

std::string RequestParts::Name(size_t profile) const {
  const auto& [type, service] = message_->names[profile];
  return absl::StrCat(type, " of ", service);
}

std::string RequestParts::Part(const std::set<size_t>& profiles) const {
  Request part;
  const otlp::ResourceProfiles* resource_before = nullptr;
  const otlp::ScopeProfiles* scope_before = nullptr;
  size_t number = 0;
  VisitProfiles(message_->request, [&](const auto& resource, const auto& scope, const otlp::Profile& profile) {
    if (!profiles.contains(number++)) return;
    if (&resource != resource_before) {
      otlp::ResourceProfiles* added = part.add_resource_profiles();
      *added->mutable_resource() = resource.resource();
      added->set_schema_url(resource.schema_url());
    }
    otlp::ResourceProfiles& to = *part.mutable_resource_profiles(part.resource_profiles_size() - 1);
    if (&scope != scope_before) {
      otlp::ScopeProfiles* added = to.add_scope_profiles();
      *added->mutable_scope() = scope.scope();
      added->set_schema_url(scope.schema_url());
    }
    *to.mutable_scope_profiles(to.scope_profiles_size() - 1)->add_profiles() = profile;
    resource_before = &resource;
    scope_before = &scope;
  });
  *part.mutable_dictionary() = message_->request.dictionary();
  Pruner(&part).Prune();
  return part.SerializeAsString();
}

}  // namespace offcpu
