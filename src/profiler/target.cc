#include "profiler/target.h"

#include <algorithm>
#include <utility>

namespace offcpu {
namespace {

bool Matches(const CodeVersion& known, const CodeVersion& wanted) {
  if (wanted.hash != 0 && known.hash != 0) return known.hash == wanted.hash;
  return wanted.sequence != 0 && known.sequence == wanted.sequence;
}

}  // namespace

std::shared_ptr<const AddressSpace> Target::Find(const CodeVersion& code) const {
  for (auto version = versions_.rbegin(); version != versions_.rend(); ++version) {
    if (Matches(version->code, code)) return version->space;
  }
  return nullptr;
}

void Target::Remember(const CodeVersion& code, std::shared_ptr<const AddressSpace> space) {
  std::erase_if(versions_, [&](const Version& version) { return Matches(version.code, code); });
  if (versions_.size() >= kVersions) versions_.erase(versions_.begin());
  versions_.push_back({code, std::move(space)});
}

}  // namespace offcpu
