// The names of our attributes in OTLP, and what a request says of the resource that its profiles are of. Names are
// those of OpenTelemetry's semantic conventions where they have one; our own begin with "offcpu.". Pure functions.
//
//   resource          host.name; service.name and process.executable.name, the file name of the program; and of the
//                     labels that are wanted those that say what runs (row_labels.h); units that systemd makes for a
//                     moment have one name, unless the control group is said, too
//   profile           offcpu.sample_period: shorter intervals are a sample, values are what it stands for;
//                     offcpu.lost: what was lost of the window, by reason; the same on each of its profiles;
//                     pprof.profile.comment: the counters of the recording, as in pprof
//   sample            of the labels that are wanted: the others of a row, but for the cause "other"; offcpu.phase;
//                     offcpu.user_end, offcpu.no_user_stack and offcpu.no_kernel_stack, as the labels of pprof;
//                     offcpu.waker: who ended the wait, as the folded form has it, from behind the first "--";
//                     offcpu.lost.where: "recording", or "export" for what was lost afterwards
//   location          profile.frame.type: kernel, go or native; none for generated code and for words in brackets
//   mapping           process.executable.build_id.gnu, process.executable.build_id.htlhash
//
// The conventions want a build id or a hash of the file (htlhash) of every mapping. Files have the hash, and their
// build id if there is one; a mapping without a file has neither.
#ifndef OFFCPU_OTLP_OTLP_ATTRIBUTES_H_
#define OFFCPU_OTLP_OTLP_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "labels/row_labels.h"
#include "otlp/otlp_choice.h"
#include "otlp/otlp_profiles.h"
#include "profile/profile.h"

namespace offcpu {

inline constexpr std::string_view kOtlpHost = "host.name";
inline constexpr std::string_view kOtlpService = "service.name";
inline constexpr std::string_view kOtlpExecutable = "process.executable.name";
inline constexpr std::string_view kOtlpDefaultType = "pprof.scope.default_sample_type";
inline constexpr std::string_view kOtlpSamplePeriod = "offcpu.sample_period";
inline constexpr std::string_view kOtlpLost = "offcpu.lost";
inline constexpr std::string_view kOtlpComment = "pprof.profile.comment";
inline constexpr std::string_view kOtlpPhase = "offcpu.phase";
inline constexpr std::string_view kOtlpUserEnd = "offcpu.user_end";
inline constexpr std::string_view kOtlpNoUserStack = "offcpu.no_user_stack";
inline constexpr std::string_view kOtlpNoKernelStack = "offcpu.no_kernel_stack";
inline constexpr std::string_view kOtlpWaker = "offcpu.waker";
inline constexpr std::string_view kOtlpLostWhere = "offcpu.lost.where";
inline constexpr std::string_view kOtlpFrameType = "profile.frame.type";
inline constexpr std::string_view kOtlpBuildId = "process.executable.build_id.gnu";
inline constexpr std::string_view kOtlpFileHash = "process.executable.build_id.htlhash";

inline constexpr std::string_view kOtlpScope = "offcpud";
inline constexpr std::string_view kOtlpSchema = "https://opentelemetry.io/schemas/1.43.0";

using OtlpResourceAttributes = std::vector<std::pair<std::string, std::string>>;

// `more` takes the place of an attribute of ours with the same key; of several with one key the last counts.
// `service`: of all processes; "": the first of these that is there: what the process declares, the service of systemd
// that it belongs to, what an interpreter runs in it, its program. `row`: the labels of a row of the process, of which
// `wanted` are said. A process whose program is not known has its own name in place of it, where numbers are "*":
// threads of the kernel are numbered.
OtlpProfiles::Frame OtlpProcessFrame(const std::string& host, const std::string& service, const ServiceNames& names,
                                     const RowLabelValues& row, const OtlpLabels& wanted,
                                     const OtlpResourceAttributes& more);

// The profiler on its host, for samples about the recording.
OtlpProfiles::Frame OtlpRecorderFrame(const std::string& host, const OtlpResourceAttributes& more);

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_ATTRIBUTES_H_
