// A file system with one file that every user may use. Its server answers until Hang() makes it stop: from then on,
// every process that needs the file waits. Needs root and /dev/fuse.
//
// When it goes out of scope, processes that wait get an error.
#ifndef OFFCPU_TESTS_DEEP_HUNG_MOUNT_H_
#define OFFCPU_TESTS_DEEP_HUNG_MOUNT_H_

#include <sys/types.h>

#include <memory>
#include <string>

namespace offcpu::integration {

class HungMount {
 public:
  // With a copy of a program, at `directory`, which it makes. Null if there is no FUSE here.
  static std::unique_ptr<HungMount> Create(const std::string& directory, const std::string& program);
  ~HungMount();
  HungMount(const HungMount&) = delete;
  HungMount& operator=(const HungMount&) = delete;

  std::string path() const { return directory_ + "/program"; }
  void Hang() const;

 private:
  HungMount(std::string directory, pid_t server) : directory_(std::move(directory)), server_(server) {}

  const std::string directory_;
  const pid_t server_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_HUNG_MOUNT_H_
