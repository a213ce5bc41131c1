// A whole profile as OTLP has it (opentelemetry-proto 1.11, profiles v1development): one or more requests, each a
// serialized ExportProfilesServiceRequest that can be sent and read by itself. The same profile gives the same bytes.
// Memory: one request, and what finds the entries of its dictionary; the profile itself may be much larger.
//
// What the same is said of is a resource: by default all processes of one program in one container or unit. OTLP has
// one value a sample, so each type that is wanted (otlp_choice.h) is a profile, and of a row there is a sample in each
// of them, with the attributes of otlp_attributes.h that are wanted. Samples that nothing tells apart any more are one.
// A sample of 0 is left out. No timestamps and no links. A profile has a period only where back ends make its name of
// it: not off_cpu, which they all know.
//
// What was lost of the window is an attribute of each of its profiles. If that is wanted, the recording is a resource
// of its own, the last: how long it was, with the counters as in pprof (comments that find no place with it are in
// requests of their own), and what was lost by reason. There is no request without a sample. Rows whose stack fits no
// request have the stack "[too large]".
#ifndef OFFCPU_OTLP_OTLP_H_
#define OFFCPU_OTLP_OTLP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "otlp/otlp_choice.h"
#include "profile/named_profile.h"

namespace offcpu {

// What is said of the recording fits into this, unless its attributes or reasons are thousands of bytes long: what does
// not fit is left out.
inline constexpr size_t kMinOtlpBytes = 1u << 14;
inline constexpr size_t kMaxOtlpBytes = 0x7fffffff;  // of a message

struct OtlpOptions {
  bool names = true;            // false: user frames of modules with a build id have addresses only
  size_t max_bytes = 4u << 20;  // of one request, not compressed; from kMinOtlpBytes to kMaxOtlpBytes
  // How many samples of a profile go into one request, so that it stays below what back ends take at once: 16,000
  // samples and 4 MiB with all stacks written out.
  size_t max_samples = 8000;
  OtlpTypes types = DefaultOtlpTypes();
  OtlpLabels labels = DefaultOtlpLabels();
  std::string service_name;  // empty: each program by its name
  // Take the place of attributes of ours with the same key.
  std::vector<std::pair<std::string, std::string>> resource;
  // What the ids of the profiles are made of: the same for the same window, different within it.
  std::array<uint8_t, 16> window_id = {};
  std::vector<Loss> export_losses;  // what was lost after it was recorded: windows and their time
};

// What fitted no request: rows and their time, for this reason.
inline constexpr char kOtlpTooLarge[] = "larger than a request";
Loss WriteOtlp(const NamedProfile& profile, const OtlpOptions& options,
               absl::FunctionRef<void(std::string request)> sink);

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_H_
