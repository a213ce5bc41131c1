#include "recorder/target.h"

#include <algorithm>
#include <utility>

namespace offcpu {
namespace {

bool Matches(const CodeVersion& known, const CodeVersion& wanted) {
  if (wanted.hash != 0 && known.hash != 0) return known.hash == wanted.hash;
  return wanted.sequence != 0 && known.sequence == wanted.sequence;
}

}  // namespace

ProcessInfo Target::Named() const {
  ProcessInfo named = info;
  if (named.name.empty()) named.name = main_comm;
  return named;
}

std::shared_ptr<const AddressSpace> Target::Find(const CodeVersion& code) const {
  for (auto version = versions_.rbegin(); version != versions_.rend(); ++version) {
    if (Matches(version->code, code)) return version->space;
  }
  return nullptr;
}

void Target::AddVersion(const CodeVersion& code, std::shared_ptr<const AddressSpace> space) {
  std::erase_if(versions_, [&](const Version& version) { return Matches(version.code, code); });
  if (versions_.size() >= kVersions) versions_.erase(versions_.begin());
  versions_.push_back({code, std::move(space)});
}

void Target::ForgetVersion(uint64_t hash) {
  std::erase_if(versions_, [hash](const Version& version) { return version.code.hash == hash; });
}

void Target::Remember(const CodeVersion& code, const std::vector<CodeMapping>& mappings,
                      std::shared_ptr<const AddressSpace> space) {
  if (pieces_.size() + mappings.size() > kPieces) pieces_.clear();
  for (const CodeMapping& mapping : mappings) {
    const MappedCode* piece = space->Find(mapping.begin);
    // Neighbours in the kernel's list may be one line of /proc/PID/maps, never the other way round.
    if (piece == nullptr || piece->end < mapping.end) continue;
    MappedCode& known = pieces_[mapping] = *piece;
    known.begin = mapping.begin;
    known.end = mapping.end;
  }
  newest_ = space;
  AddVersion(code, std::move(space));
}

const MappedCode* Target::FindPiece(const CodeMapping& mapping) const {
  const auto found = pieces_.find(mapping);
  return found != pieces_.end() ? &found->second : nullptr;
}

}  // namespace offcpu
