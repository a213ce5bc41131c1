#include "export/answer_meaning.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bytes/utf8.h"
#include "opentelemetry/proto/collector/profiles/v1development/profiles_service.pb.h"

namespace offcpu {
namespace {

namespace collector = opentelemetry::proto::collector::profiles::v1development;

constexpr std::chrono::seconds kMaxRetryAfter(3600);
constexpr size_t kMaxReasonBytes = 300;
constexpr char kProtobuf[] = "application/x-protobuf";

bool IsLater(long status) { return status == 429 || status == 502 || status == 503 || status == 504; }

bool IsOfContent(long status) { return status == 400 || status == 413 || status == 422 || status == 500; }

// What the error of one profile begins with: "... and id 3f failed: resource_exhausted: push rate limit exceeded".
bool IsOfALimit(absl::string_view text) {
  constexpr absl::string_view kBefore = " failed: ";
  const size_t at = text.find(kBefore);
  if (at == text.npos) return false;
  text.remove_prefix(at + kBefore.size());
  return absl::StartsWith(text, "resource_exhausted") || absl::StartsWith(text, "unavailable");
}

// Pyroscope keeps what it can of a request, and names the others by their number in it, each with its own error.
void JudgeNamedProfiles(absl::string_view body, Judgement& judgement) {
  constexpr absl::string_view kBefore = "push series with index ";
  for (size_t at = body.find(kBefore); at != body.npos;) {
    body.remove_prefix(at + kBefore.size());
    at = body.find(kBefore);
    size_t number = 0;
    if (!absl::SimpleAtoi(body.substr(0, body.find_first_not_of("0123456789")), &number)) continue;
    judgement.refused_profiles.push_back(number);
    if (IsOfALimit(body.substr(0, at))) judgement.limited_profiles.push_back(number);
  }
}

std::string Line(std::string_view text) { return Printable(text.substr(0, kMaxReasonBytes)); }

// A body may have parameters behind its type, and one without bytes is the empty message, which needs no type.
bool IsProtobuf(const HttpAnswer& answer) {
  if (answer.content_type.empty()) return answer.body.empty();
  const absl::string_view type = absl::string_view(answer.content_type).substr(0, answer.content_type.find(';'));
  return absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(type), kProtobuf);
}

std::string WhyNotOfOtlp(const HttpAnswer& answer, collector::ExportProfilesServiceResponse& response) {
  if (!IsProtobuf(answer)) {
    return absl::StrCat("its type is ", answer.content_type.empty() ? "missing" : Line(answer.content_type), ", not ",
                        kProtobuf);
  }
  if (!answer.is_whole) return absl::StrCat("it is longer than ", HttpPoster::kMaxAnswerBytes >> 20, " MiB");
  return response.ParseFromString(answer.body) ? "" : "it cannot be read";
}

// A field that is there may be empty: only what is in it counts.
void JudgeSuccess(const HttpAnswer& answer, Judgement& judgement) {
  collector::ExportProfilesServiceResponse response;
  if (const std::string why = WhyNotOfOtlp(answer, response); !why.empty()) {
    judgement.kind = "not an OTLP answer";
    judgement.reason =
        absl::StrCat("HTTP ", answer.status, ", but not an OTLP answer: ", why, "; is this the URL of a collector?");
    return;
  }
  judgement.fate = Fate::kDelivered;
  const collector::ExportProfilesPartialSuccess& partial = response.partial_success();
  judgement.rejected_profiles = static_cast<uint64_t>(std::max<int64_t>(partial.rejected_profiles(), 0));
  judgement.reason = Line(partial.error_message());
  if (judgement.reason.empty() && judgement.rejected_profiles != 0) judgement.reason = "profiles were rejected";
  if (!judgement.reason.empty()) judgement.kind = "partial success";
}

}  // namespace

Judgement Judge(const HttpAnswer& answer) {
  Judgement judgement;
  if (answer.status == 0) {
    judgement.kind = "no answer";
    judgement.reason = Line(answer.error);
    return judgement;
  }
  if (answer.status >= 200 && answer.status < 300) {
    JudgeSuccess(answer, judgement);
    return judgement;
  }
  judgement.fate = IsLater(answer.status) ? Fate::kLater : Fate::kRefused;
  judgement.may_be_of_a_part = IsOfContent(answer.status);
  if (answer.is_whole) JudgeNamedProfiles(answer.body, judgement);
  judgement.kind = absl::StrCat("HTTP ", answer.status);
  judgement.reason = absl::StrCat(judgement.kind, answer.body.empty() ? "" : ": ", Line(answer.body));
  if (answer.retry_after.has_value()) judgement.retry_after = std::min(*answer.retry_after, kMaxRetryAfter);
  return judgement;
}

std::string ReasonOf(const Judgement& judgement) {
  return judgement.what.empty() ? judgement.reason : absl::StrCat(Printable(judgement.what), ": ", judgement.reason);
}

std::chrono::milliseconds Backoff::Next(double random) {
  const std::chrono::milliseconds wait(static_cast<int64_t>(static_cast<double>(next_.count()) * (0.5 + random)));
  next_ = std::min(next_ * 3 / 2, limits_.most);
  return wait;
}

}  // namespace offcpu
