#include "os/start_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

absl::StatusOr<std::thread> StartThread(const char* name, std::function<void()> run) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  std::thread thread;
  std::error_code error;
  try {
    thread = std::thread(std::move(run));
  } catch (const std::system_error& failed) {
    error = failed.code();
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (error) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot start a thread (", name, "): ", error.message(), ": has a limit on tasks been reached?"));
  }
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace offcpu
