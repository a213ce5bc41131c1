// What the pipeline tells the BPF programs.
#ifndef OFFCPU_RECORDER_PROGRAM_HOOKS_H_
#define OFFCPU_RECORDER_PROGRAM_HOOKS_H_

#include <memory>

#include "capture/programs.h"
#include "recorder/pipeline.h"

namespace offcpu {

// Sets those of the hooks that are for `programs`, and keeps these alive.
void SetProgramHooks(const std::shared_ptr<Programs>& programs, Pipeline::Hooks* hooks);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PROGRAM_HOOKS_H_
