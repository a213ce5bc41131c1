// A control group where the kubelet puts the program of a pod's container, with systemd.
#ifndef OFFCPU_TESTS_HARNESS_POD_OF_KUBERNETES_H_
#define OFFCPU_TESTS_HARNESS_POD_OF_KUBERNETES_H_

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace offcpu::integration {

class PodOfKubernetes {
 public:
  // `root`: of the hierarchy of version 2.
  explicit PodOfKubernetes(const std::string& root)
      : root_(root), top_(root + "/kubepods-" + std::to_string(getpid()) + ".slice") {
    std::filesystem::create_directories(container());
  }
  // Processes that were in it have ended.
  ~PodOfKubernetes() {
    for (std::string path = container(); path.size() >= top_.size(); path.resize(path.rfind('/'))) rmdir(path.c_str());
  }
  PodOfKubernetes(const PodOfKubernetes&) = delete;
  PodOfKubernetes& operator=(const PodOfKubernetes&) = delete;

  void Add(pid_t pid) const { std::ofstream(container() + "/cgroup.procs") << pid << std::flush; }

  // The slice of all pods, as a path below the root.
  std::string slice() const { return top_.substr(root_.size()); }
  std::string container() const {
    std::string pod = uid();
    std::replace(pod.begin(), pod.end(), '-', '_');
    return top_ + "/kubepods-burstable.slice/kubepods-burstable-pod" + pod + ".slice/" + unit();
  }
  // No other test that runs has them.
  static std::string uid() { return OwnHex() + "-0000-4111-8222-333344445555"; }
  static std::string unit() { return "cri-containerd-" + id() + ".scope"; }
  static std::string id() { return OwnHex() + "89abcdef0123456789abcdef0123456789abcdef0123456789abcdef"; }

  // Eight digits that name this process.
  static std::string OwnHex() {
    std::array<char, 9> digits = {};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned int>(getpid()));
    return digits.data();
  }

 private:
  const std::string root_;
  const std::string top_;
};

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_POD_OF_KUBERNETES_H_
