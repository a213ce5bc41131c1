#include "export/refusals.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// A server may say any number: no more are lost than were sent.
void CountRejected(const SpoolRecord& record, uint64_t profiles, Judgement& judgement) {
  if (judgement.rejected_profiles > profiles) absl::StrAppend(&judgement.reason, " (more profiles than were sent)");
  judgement.rejected_profiles = std::min(judgement.rejected_profiles, profiles);
  const double part = static_cast<double>(judgement.rejected_profiles) / static_cast<double>(profiles);
  judgement.rejected_ns = static_cast<uint64_t>(part * static_cast<double>(ShareOfWindowNs(record)));
}

// Those profiles named by the answer that are in the request.
std::set<size_t> Present(const std::vector<size_t>& named, const RequestParts& request) {
  std::set<size_t> present;
  for (const size_t profile : named) {
    if (profile < request.profiles()) present.insert(profile);
  }
  return present;
}

std::set<size_t> AllProfiles(const RequestParts& request) {
  std::set<size_t> all;
  for (size_t profile = 0; profile < request.profiles(); ++profile) all.insert(all.end(), profile);
  return all;
}

// The record without what is not in `profiles`, in parts whose shares of the window's time are their own. Empty if the
// record cannot be divided.
std::vector<SpoolRecord> Divided(const SpoolRecord& record, const RequestParts& request,
                                 const std::set<size_t>& profiles) {
  std::vector<SpoolRecord> divided;
  const auto parts = static_cast<uint32_t>(std::min(request.profiles(), Refusals::kMostParts));
  if (parts < 2 || record.parts > kMaxSpoolParts / parts) return divided;
  for (uint32_t i = 0; i < parts; ++i) {
    const std::set<size_t> of_part(profiles.lower_bound(request.profiles() * i / parts),
                                   profiles.lower_bound(request.profiles() * (i + 1) / parts));
    if (of_part.empty()) continue;
    SpoolRecord part{.start_unix_ns = record.start_unix_ns, .duration_ns = record.duration_ns};
    part.part = record.part * parts + i;
    part.parts = record.parts * parts;
    part.body = request.Part(of_part);
    divided.push_back(std::move(part));
  }
  return divided;
}

// Where none or all are named, all of it comes again as it is.
void OnLater(const SpoolRecord& record, const RequestParts& request, Refusals::Verdict& verdict) {
  const std::set<size_t> named = Present(verdict.judgement.refused_profiles, request);
  if (named.empty() || named.size() == request.profiles()) return;
  verdict.parts = Divided(record, request, named);
  if (!verdict.parts.empty()) verdict.judgement.fate = Fate::kRestLater;
}

}  // namespace

Refusals::Verdict Refusals::OnAnswer(const SpoolRecord& record, const HttpAnswer& answer) {
  Verdict verdict = {.judgement = Judge(answer), .parts = {}, .types = {}};
  Judgement& judgement = verdict.judgement;
  if (judgement.fate == Fate::kDelivered) in_a_row_ = 0;
  const bool is_refused = judgement.fate == Fate::kRefused;
  if (is_refused) ++in_a_row_;
  if (!is_refused && judgement.rejected_profiles == 0 && judgement.refused_profiles.empty()) return verdict;
  const absl::StatusOr<RequestParts> request = RequestParts::Parse(record.body);
  const size_t profiles = request.ok() ? request->profiles() : 0;
  if (profiles != 0 && is_refused) OnRefused(record, *request, verdict);
  if (profiles != 0 && judgement.fate == Fate::kLater) OnLater(record, *request, verdict);
  if (judgement.rejected_profiles != 0) CountRejected(record, std::max<uint64_t>(profiles, 1), judgement);
  return verdict;
}

void Refusals::OnRefused(const SpoolRecord& record, const RequestParts& request, Verdict& verdict) const {
  Judgement& judgement = verdict.judgement;
  std::set<size_t> refused = Present(judgement.refused_profiles, request);
  if (refused.empty()) {
    refused = AllProfiles(request);
    // Otherwise nothing speaks for it that the collector takes any.
    if (judgement.may_be_of_a_part && in_a_row_ <= kMostInARow) verdict.parts = Divided(record, request, refused);
    if (!verdict.parts.empty()) {
      judgement.fate = Fate::kDivided;
      return;
    }
  }
  // One that is bad for good may stand beside others that there is no room for now.
  const std::set<size_t> limited = Present(judgement.limited_profiles, request);
  if (!limited.empty() && limited.size() == request.profiles()) {
    judgement.fate = Fate::kLater;
    return;
  }
  if (!limited.empty()) verdict.parts = Divided(record, request, limited);
  if (!verdict.parts.empty()) std::erase_if(refused, [&](size_t profile) { return limited.contains(profile); });
  if (refused.size() < request.profiles()) {
    judgement.fate = verdict.parts.empty() ? Fate::kDelivered : Fate::kRestLater;
    judgement.rejected_profiles = refused.size();
  }
  if (refused.size() == 1) judgement.what = request.Name(*refused.begin());
  for (const size_t profile : refused) verdict.types.push_back(request.Type(profile));
}

}  // namespace offcpu
