#include "process/hurried_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace offcpu {
namespace {

constexpr int kHurriedNice = -10;

id_t ThisThread() { return static_cast<id_t>(gettid()); }

}  // namespace

HurriedThread::HurriedThread() : nice_before_(getpriority(PRIO_PROCESS, ThisThread())) {
  setpriority(PRIO_PROCESS, ThisThread(), std::min(nice_before_, kHurriedNice));
}

HurriedThread::~HurriedThread() { setpriority(PRIO_PROCESS, ThisThread(), nice_before_); }

}  // namespace offcpu
