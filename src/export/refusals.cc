#include "export/refusals.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/statusor.h"

namespace offcpu {
namespace {

// Of `profiles`, or of more than there are: then all of it.
uint64_t RejectedNs(const SpoolRecord& record, uint64_t rejected, uint64_t profiles) {
  const double part = static_cast<double>(rejected) / static_cast<double>(std::max(rejected, profiles));
  return static_cast<uint64_t>(part *
                               static_cast<double>(ShareOfWindowNs(record.duration_ns, record.part, record.parts)));
}

}  // namespace

Refusals::Verdict Refusals::OnAnswer(const SpoolRecord& record, const HttpAnswer& answer) {
  Verdict verdict = {.judgement = Judge(answer), .parts = {}, .types = {}};
  Judgement& judgement = verdict.judgement;
  if (judgement.fate == Fate::kDelivered) in_a_row_ = 0;
  if (judgement.fate != Fate::kRefused && judgement.rejected_profiles == 0) return verdict;
  const bool is_refused = judgement.fate == Fate::kRefused;
  if (is_refused) ++in_a_row_;
  const absl::StatusOr<RequestParts> request = RequestParts::Parse(record.body);
  const size_t profiles = request.ok() ? request->profiles() : 0;
  if (is_refused && profiles != 0) OnRefused(record, *request, verdict);
  if (judgement.rejected_profiles != 0)
    judgement.rejected_ns = RejectedNs(record, judgement.rejected_profiles, profiles);
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
