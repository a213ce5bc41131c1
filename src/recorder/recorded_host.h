// The host of a recording: its running BPF programs, the processes that it has, and its control groups.
#ifndef OFFCPU_RECORDER_RECORDED_HOST_H_
#define OFFCPU_RECORDER_RECORDED_HOST_H_

#include <memory>

#include "bpf_programs/programs.h"
#include "os/reader_pool.h"
#include "process/module_cache.h"
#include "recorder/host.h"

namespace offcpu {

// Keeps alive what it is given: what runs on reader threads may outlive the recorder. `service_names`: a snapshot reads
// those of the process, too.
std::shared_ptr<Host> RecordedHost(std::shared_ptr<Programs> programs, std::shared_ptr<ModuleCache> modules,
                                   std::shared_ptr<ReaderPool> readers, bool service_names);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RECORDED_HOST_H_
