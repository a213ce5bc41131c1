// What a module's code does from a return address on, as far as the module has it, or the page cache has it of its
// file: what has just been run is there. Safe from any thread, and waits for nobody.
#ifndef OFFCPU_PROCESS_MODULE_RETURN_PATH_H_
#define OFFCPU_PROCESS_MODULE_RETURN_PATH_H_

#include <cstdint>

#include "process/module.h"
#include "process/return_path.h"

namespace offcpu {

// `return_address`: a link-time address.
ReturnPath ModuleReturnPath(const Module& module, uint64_t return_address);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_RETURN_PATH_H_
