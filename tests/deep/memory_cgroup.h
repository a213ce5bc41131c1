// A cgroup for memory that what a recorder stores of threads is charged to, if the recorder is made inside: once it is
// full, nothing can be stored of threads that come later. Nobody else is in it, and nothing is killed.
#ifndef OFFCPU_TESTS_DEEP_MEMORY_CGROUP_H_
#define OFFCPU_TESTS_DEEP_MEMORY_CGROUP_H_

#include <sys/types.h>

#include <memory>
#include <string>

namespace offcpu::integration {

class MemoryCgroup {
 public:
  // Null if there is no hierarchy with that controller, of either version.
  static std::unique_ptr<MemoryCgroup> Create();
  ~MemoryCgroup();
  MemoryCgroup(const MemoryCgroup&) = delete;
  MemoryCgroup& operator=(const MemoryCgroup&) = delete;

  // This thread; in version 2, its process. Leave is for the process with all threads that it has made since.
  void Enter() const;
  void Leave() const;
  // When all have left: from here on code that may not wait for memory gets none. May fork.
  void KeepFull();

 private:
  MemoryCgroup() = default;
  bool SetLimitToUsage() const;

  bool is_v2_ = false;
  std::string home_;  // where this process is
  std::string path_;
  pid_t keeper_ = 0;  // of version 1
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_MEMORY_CGROUP_H_
