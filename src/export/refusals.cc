#include "export/refusals.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/statusor.h"

namespace offcpu {

Refusals::Verdict Refusals::OnAnswer(const SpoolRecord& record, const HttpAnswer& answer) {
  Verdict verdict = {.judgement = Judge(answer), .parts = {}, .types = {}};
  if (verdict.judgement.fate == Fate::kDelivered) in_a_row_ = 0;
  if (verdict.judgement.fate != Fate::kRefused) return verdict;
  ++in_a_row_;
  const absl::StatusOr<RequestParts> request = RequestParts::Parse(record.body);
  if (request.ok() && request->profiles() != 0) OnRefused(record, *request, verdict);
  return verdict;
}

void Refusals::OnRefused(const SpoolRecord& record, const RequestParts& request, Verdict& verdict) const {
  Judgement& judgement = verdict.judgement;
  std::set<size_t> refused;
  for (const size_t profile : judgement.refused_profiles) {
    if (profile < request.profiles()) refused.insert(profile);
  }
  if (refused.empty()) {
    if (judgement.may_be_of_a_part) verdict.parts = Divided(record, request);
    if (!verdict.parts.empty()) {
      judgement.fate = Fate::kDivided;
      return;
    }
    for (size_t profile = 0; profile < request.profiles(); ++profile) refused.insert(profile);
  }
  if (refused.size() < request.profiles()) {
    judgement.fate = Fate::kDelivered;
    judgement.rejected_profiles = refused.size();
  }
  if (refused.size() == 1) judgement.what = request.Name(*refused.begin());
  for (const size_t profile : refused) verdict.types.push_back(request.Type(profile));
}

// Empty if it is one profile, or if nothing speaks for it that the collector takes any. The parts' shares of the
// window's time add up to the record's.
std::vector<SpoolRecord> Refusals::Divided(const SpoolRecord& record, const RequestParts& request) const {
  std::vector<SpoolRecord> divided;
  const auto parts = static_cast<uint32_t>(std::min(request.profiles(), kMostParts));
  if (parts < 2 || in_a_row_ > kMostInARow || record.parts > kMaxSpoolParts / parts) return divided;
  for (uint32_t i = 0; i < parts; ++i) {
    SpoolRecord part{.start_unix_ns = record.start_unix_ns, .duration_ns = record.duration_ns};
    part.part = record.part * parts + i;
    part.parts = record.parts * parts;
    part.body = request.Part(request.profiles() * i / parts, request.profiles() * (i + 1) / parts);
    divided.push_back(std::move(part));
  }
  return divided;
}

}  // namespace offcpu
