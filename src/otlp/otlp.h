// A whole profile as OTLP has it (opentelemetry-proto 1.11, profiles v1development): one or more requests, each a
// serialized ExportProfilesServiceRequest that can be sent and read by itself. The same profile gives the same bytes.
// Memory: one request, and what finds the entries of its dictionary; the profile itself may be much larger.
//
// A process is a resource. OTLP has one value a sample, so its profiles are, each with the stacks and attributes of
// otlp_attributes.h: off_cpu, the first; contentions; blocked; runnable; and where there is something longest (one
// interval), contentions_error and off_cpu_error. Numbers are values and never attributes, because readers make a label
// of each of those (but thread.id). A sample of 0 is left out. No timestamps, no period, no links: of what the protocol
// allows it is what all readers take.
//
// The recording is a resource of its own, the last: how long it was, with the counters as in pprof (comments that find
// no place with it are in requests of their own), and what was lost by reason. So there is always a request, and none
// without a sample. Rows whose stack fits no request have the stack "[too large]"; what fits none without it is lost as
// well, and is told with the rest.
#ifndef OFFCPU_OTLP_OTLP_H_
#define OFFCPU_OTLP_OTLP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "profile/named_profile.h"

namespace offcpu {

// What is said of the recording fits into this, unless its attributes or reasons are thousands of bytes long: what does
// not fit is left out.
inline constexpr size_t kMinOtlpBytes = 1u << 14;
inline constexpr size_t kMaxOtlpBytes = 0x7fffffff;  // of a message

struct OtlpOptions {
  bool names = true;            // false: user frames of modules with a build id have addresses only
  size_t max_bytes = 4u << 20;  // of one request, not compressed; from kMinOtlpBytes to kMaxOtlpBytes
  std::string service_name;     // empty: each process by its name
  // Take the place of attributes of ours with the same key.
  std::vector<std::pair<std::string, std::string>> resource;
  // Of it the ids of the profiles are made: the same for the same window, different within it.
  std::array<uint8_t, 16> window_id = {};
  std::vector<Drop> export_losses;  // what was lost after it was recorded: windows and their time
};

void WriteOtlp(const NamedProfile& profile, const OtlpOptions& options,
               absl::FunctionRef<void(std::string request)> sink);

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_H_
