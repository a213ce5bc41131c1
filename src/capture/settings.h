// Sets what the BPF programs work by: their read-only data, sizes and choice before they are loaded, the sets of their
// filters after. Does not load them.
#ifndef OFFCPU_CAPTURE_SETTINGS_H_
#define OFFCPU_CAPTURE_SETTINGS_H_

#include "absl/status/status.h"
#include "capture/bpf_object.h"
#include "capture/kernel.h"
#include "capture/programs.h"

namespace offcpu {

absl::Status Configure(const BpfObject& bpf, const ProgramsConfig& config, const KernelFeatures& features);
// InvalidArgument for too many of a kind, or what is none.
absl::Status FillFilters(const BpfObject& bpf, const ProgramsConfig& config);

}  // namespace offcpu

#endif  // OFFCPU_CAPTURE_SETTINGS_H_
