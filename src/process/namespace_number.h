// The number that a thread has in the innermost of its pid namespaces: the one that it knows itself by. Reads /proc;
// safe from any thread.
#ifndef OFFCPU_PROCESS_NAMESPACE_NUMBER_H_
#define OFFCPU_PROCESS_NAMESPACE_NUMBER_H_

#include <sys/types.h>

#include <cstdint>

namespace offcpu {

// 0: not known, as of a thread that has ended.
int32_t NamespaceNumber(pid_t tid);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_NAMESPACE_NUMBER_H_
