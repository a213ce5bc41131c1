// The vDSO: code that the kernel maps into every process, the same one into all of one kind. We have it, too, so nobody
// else's has to be read.
#ifndef OFFCPU_RECORDER_OWN_VDSO_H_
#define OFFCPU_RECORDER_OWN_VDSO_H_

#include "process/module_cache.h"
#include "recorder/process_snapshot.h"
#include "recorder/shared_files.h"

namespace offcpu {

// `files` learn this process's vDSO. Where there is none, or the kernel does not tell it, they learn nothing.
void LearnOwnVdso(const DescribeFunction& describe, ModuleCache& modules, SharedFiles& files);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_OWN_VDSO_H_
