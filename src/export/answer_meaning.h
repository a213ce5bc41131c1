// Judges a collector's answer to an OTLP export: what it means, and how long to wait after one that says "later". As
// the OTLP specification 1.11 has it, in "OTLP/HTTP Response": a success is a protobuf message of OTLP that says so.
// What else calls itself one, as the page of a login does, may come from a server that has thrown the request away.
// Pure functions and plain state.
#ifndef OFFCPU_EXPORT_ANSWER_MEANING_H_
#define OFFCPU_EXPORT_ANSWER_MEANING_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "export/http_poster.h"

namespace offcpu {

enum class Fate {
  kDelivered,
  kLater,      // the same again: nothing came back, or nothing of OTLP's, or 429, 502, 503, 504
  kRefused,    // and so it would be the next time
  kDivided,    // refused, and its parts are sent one by one; who judges answers does not say so
  kRestLater,  // some of its profiles are sent later, as parts; who judges answers does not say so either
};

struct Judgement {
  Fate fate = Fate::kLater;
  std::optional<std::chrono::seconds> retry_after;  // as the server wants it, an hour at most
  uint64_t rejected_profiles = 0;                   // of what was delivered: lost for good
  uint64_t rejected_ns = 0;                         // their part of the request's; who judges answers does not know it
  bool may_be_of_a_part = false;                    // of a refusal: of what is in the request, perhaps not of all of it
  // Those that the answer refuses by name; the server has kept the others.
  std::vector<size_t> refused_profiles;
  std::vector<size_t> limited_profiles;  // those of them that it has no room for now, and may take later
  std::string what;                      // "off_cpu of nginx": which profile, if it is of one
  std::string kind;                      // of the reason, in no words of others: "HTTP 503"; empty: all is well
  std::string reason;                    // for a person, one line; empty: all is well
};

// Believes whatever number of profiles the answer has.
Judgement Judge(const HttpAnswer& answer);

// With what it is of.
std::string ReasonOf(const Judgement& judgement);

struct BackoffLimits {
  std::chrono::milliseconds first{5'000};
  std::chrono::milliseconds most{60'000};
};

// Waits that grow by half, each shortened or lengthened by up to half, so that a fleet does not come back as one.
class Backoff {
 public:
  explicit Backoff(const BackoffLimits& limits) : limits_(limits), next_(limits.first) {}

  // `random`: of [0, 1).
  std::chrono::milliseconds Next(double random);
  void Reset() { next_ = limits_.first; }

 private:
  const BackoffLimits limits_;
  std::chrono::milliseconds next_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_ANSWER_MEANING_H_
