#include "os/scoped_priority.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace offcpu {
namespace {

// The least that there is: beside some hundred threads that want its CPU, a thread of -10 has a twentieth of it.
constexpr int kFirstNice = -20;

id_t ThisThread() { return static_cast<id_t>(gettid()); }

}  // namespace

ScopedPriority::ScopedPriority() : nice_before_(getpriority(PRIO_PROCESS, ThisThread())) {
  if (setpriority(PRIO_PROCESS, ThisThread(), kFirstNice) == 0) return;
  rlimit limit;
  if (getrlimit(RLIMIT_NICE, &limit) != 0) return;
  const int allowed = 20 - static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 20 - kFirstNice));
  if (allowed < nice_before_) setpriority(PRIO_PROCESS, ThisThread(), allowed);
}

ScopedPriority::~ScopedPriority() { setpriority(PRIO_PROCESS, ThisThread(), nice_before_); }

}  // namespace offcpu
