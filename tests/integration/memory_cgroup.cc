#include "tests/integration/memory_cgroup.h"

#include <mntent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace offcpu::integration {
namespace {

std::string FirstLine(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path) >> std::ws, line);
  return line;
}

bool Write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

// Where a cgroup hierarchy with the memory controller is mounted; empty: nowhere.
std::string FindMount(bool is_v2) {
  std::unique_ptr<FILE, int (*)(FILE*)> mounts(setmntent("/proc/self/mounts", "r"), endmntent);
  while (const mntent* mount = getmntent(mounts.get())) {
    const std::string directory = mount->mnt_dir;
    if (!is_v2 && std::strcmp(mount->mnt_type, "cgroup") == 0 && hasmntopt(mount, "memory") != nullptr) {
      return directory;
    }
    if (is_v2 && std::strcmp(mount->mnt_type, "cgroup2") == 0 &&
        (FirstLine(directory + "/cgroup.subtree_control") + " ").find("memory ") != std::string::npos) {
      return directory;
    }
  }
  return "";
}

// Of this process, from the hierarchy's root on: lines are ID:CONTROLLERS:PATH, without controllers in version 2.
std::string OwnPath(bool is_v2) {
  std::ifstream lines("/proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const size_t controllers = line.find(':') + 1;
    const size_t path = line.find(':', controllers) + 1;
    const std::string named = line.substr(controllers, path - 1 - controllers);
    if (is_v2 ? named.empty() : named.find("memory") != std::string::npos) return line.substr(path);
  }
  return "/";
}

}  // namespace

std::unique_ptr<MemoryCgroup> MemoryCgroup::Create() {
  std::unique_ptr<MemoryCgroup> group(new MemoryCgroup());
  std::string mount = FindMount(false);
  if (mount.empty()) {
    group->is_v2_ = true;
    mount = FindMount(true);
  }
  if (mount.empty()) return nullptr;
  group->home_ = mount + OwnPath(group->is_v2_);
  // In version 2 a group with members has no groups with controllers below it, but for the root.
  const std::string path = (group->is_v2_ ? mount : group->home_) + "/offcpu-test-" + std::to_string(getpid());
  if (mkdir(path.c_str(), 0755) != 0) {
    ADD_FAILURE() << path << ": " << std::strerror(errno);
    return nullptr;
  }
  group->path_ = path;
  return group;
}

MemoryCgroup::~MemoryCgroup() {
  if (keeper_ > 0) {
    kill(keeper_, SIGKILL);
    waitpid(keeper_, nullptr, 0);
  }
  if (!path_.empty()) rmdir(path_.c_str());
}

// Version 1 lets a thread go alone.
void MemoryCgroup::Enter() const { EXPECT_TRUE(Write(path_ + (is_v2_ ? "/cgroup.procs" : "/tasks"), "0")) << path_; }

void MemoryCgroup::Leave() const { EXPECT_TRUE(Write(home_ + "/cgroup.procs", std::to_string(getpid()))) << home_; }

// Version 1 takes no limit below what is used; but the attempt gives back what CPUs hold in advance.
bool MemoryCgroup::SetLimitToUsage() const {
  const std::string limit = path_ + "/memory.limit_in_bytes";
  Write(limit, "0");
  return Write(limit, FirstLine(path_ + "/memory.usage_in_bytes"));
}

void MemoryCgroup::KeepFull() {
  if (is_v2_) {
    EXPECT_TRUE(Write(path_ + "/memory.max", "0"));
    return;
  }
  int attempts = 100;  // more may be used by the time that the limit is set
  while (!SetLimitToUsage() && attempts != 0) --attempts;
  EXPECT_GT(attempts, 0) << path_;
  // And what is freed makes room again. A process of its own does that: recordings leave this one out, and tests know
  // how little that is.
  keeper_ = fork();
  ASSERT_GE(keeper_, 0) << std::strerror(errno);
  if (keeper_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_range(3, ~0u, 0);  // a program whose input this process ends shall see that
  while (true) {
    SetLimitToUsage();
    usleep(1000);
  }
}

}  // namespace offcpu::integration
