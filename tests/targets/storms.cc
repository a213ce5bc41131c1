// A storm of what comes and goes, as fast as one program can make it, until it is killed.
//   execs    children that run /bin/true, as the loop of a shell does
//   vforks   children that end at once
//   threads  threads that do, fifty at a time
// Usage: storms execs|vforks|threads
#include <sys/wait.h>
#include <string_view>

#include "target.h"

namespace {

[[noreturn]] void MakeExecs() {
  while (true) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/bin/true", "true", nullptr);
      _exit(127);
    }
    waitpid(child, nullptr, 0);
  }
}

[[noreturn]] void MakeVforks() {
  while (true) {
    const pid_t child = vfork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
}

void* ReturnAtOnce(void*) { return nullptr; }

[[noreturn]] void MakeThreads() {
  constexpr int kAtATime = 50;
  while (true) {
    pthread_t threads[kAtATime];
    int made = 0;
    while (made < kAtATime && pthread_create(&threads[made], nullptr, ReturnAtOnce, nullptr) == 0) ++made;
    while (made > 0) pthread_join(threads[--made], nullptr);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view kind = argc > 1 ? argv[1] : "";
  if (kind == "execs") MakeExecs();
  if (kind == "vforks") MakeVforks();
  if (kind == "threads") MakeThreads();
  fprintf(stderr, "usage: storms execs|vforks|threads\n");
  return 2;
}
