// What the pipeline asks of the running BPF programs, of targets and of the host.
#ifndef OFFCPU_RECORDER_PIPELINE_HOOKS_H_
#define OFFCPU_RECORDER_PIPELINE_HOOKS_H_

#include <memory>

#include "capture/programs.h"
#include "process/module_cache.h"
#include "process/reader_pool.h"
#include "recorder/pipeline.h"

namespace offcpu {

// They keep alive what they are given: what runs on reader threads may outlive the recorder.
Pipeline::Hooks PipelineHooks(const std::shared_ptr<Programs>& programs, const std::shared_ptr<ModuleCache>& modules,
                              const std::shared_ptr<ReaderPool>& readers);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PIPELINE_HOOKS_H_
