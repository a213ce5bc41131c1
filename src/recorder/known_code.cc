#include "recorder/known_code.h"

#include <utility>

namespace offcpu {
namespace {

constexpr size_t kMaxLists = 1 << 14;
constexpr size_t kMaxListEntries = 1 << 18;  // in all of them: 12 MiB

}  // namespace

bool KnownCode::Learn(CodeListEvent&& list) {
  if (void_.Contains(list.hash)) return true;
  const auto known = lists_.find(list.hash);
  if (known != lists_.end()) {
    if (known->second == list.mappings) return true;
    Void(list.hash);
    return false;
  }
  list_entries_ += list.mappings.size();
  if (lists_.size() >= kMaxLists || list_entries_ > kMaxListEntries) {
    for (const auto& [hash, mappings] : lists_) host_.ForgetDefinition(hash);
    lists_.clear();
    list_entries_ = list.mappings.size();
  }
  lists_.emplace(list.hash, std::move(list.mappings));
  return true;
}

bool KnownCode::Learn(Target& target, const ProcessSnapshot& snapshot) {
  // A child that is gone before it is looked at has the same.
  const bool has_list = snapshot.code.hash != 0 && !snapshot.mappings.empty();
  const bool agrees = !has_list || Learn(CodeListEvent{snapshot.code.hash, snapshot.mappings});
  target.Remember(Trusted(snapshot.code), snapshot.mappings, snapshot.space);
  for (const CodeMapping& mapping : snapshot.mappings) {
    if (const MappedCode* piece = target.FindPiece(mapping)) files_->Learn(mapping, *piece);
  }
  return agrees;
}

void KnownCode::Void(uint64_t hash) {
  ++conflicts_;
  void_.Add(hash);
  const auto known = lists_.find(hash);
  list_entries_ -= known->second.size();
  lists_.erase(known);
}

CodeVersion KnownCode::Trusted(const CodeVersion& version) const {
  return void_.Contains(version.hash) ? CodeVersion{.sequence = version.sequence} : version;
}

std::optional<CaptureCode> KnownCode::FindWhole(Target& target, const CodeVersion& version) const {
  if (std::shared_ptr<const AddressSpace> space = target.Find(Trusted(version))) return CaptureCode{std::move(space)};
  std::optional<CaptureCode> code = FindPart(target, version);
  return code.has_value() && code->whole ? code : std::nullopt;
}

std::optional<CaptureCode> KnownCode::FindPart(Target& target, const CodeVersion& version) const {
  const auto list = lists_.find(version.hash);
  if (version.hash == 0 || list == lists_.end()) return std::nullopt;
  ComposedCode composed = files_->Compose(list->second, &target);
  if (composed.code.empty()) return std::nullopt;
  const bool whole = composed.whole;
  auto space = std::make_shared<const AddressSpace>(std::move(composed.code), MemoryLease(), whole);
  CaptureCode code = {std::move(space), whole};
  if (code.whole) target.AddVersion(version, code.space);
  return code;
}

}  // namespace offcpu
