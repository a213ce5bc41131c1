// Sets what the BPF programs work by: their read-only data, sizes and choice before they are loaded, the sets of their
// filters after. Does not load them.
#ifndef OFFCPU_BPF_PROGRAMS_SETTINGS_H_
#define OFFCPU_BPF_PROGRAMS_SETTINGS_H_

#include "absl/status/status.h"
#include "bpf_programs/bpf_object.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/programs.h"

namespace offcpu {

absl::Status Configure(const BpfObject& bpf, const ProgramsConfig& config, const KernelFeatures& features);
// InvalidArgument for too many of a kind, or what is none.
absl::Status FillFilters(const BpfObject& bpf, const ProgramsConfig& config);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_SETTINGS_H_
