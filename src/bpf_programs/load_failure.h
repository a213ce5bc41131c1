// What libbpf says while it loads BPF programs that the kernel refuses, in one line for people. Knows no libbpf.
#ifndef OFFCPU_BPF_PROGRAMS_LOAD_FAILURE_H_
#define OFFCPU_BPF_PROGRAMS_LOAD_FAILURE_H_

#include <string>
#include <string_view>

namespace offcpu {

class LoadFailure {
 public:
  // A warning, in the order in which they come. What libbpf then does in another way explains nothing.
  void Hear(std::string_view warning);

  // The first warning, and why the kernel's verifier refused the program, if it did; empty: nothing was heard.
  std::string Text() const;

 private:
  std::string warning_;
  std::string verdict_;
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_LOAD_FAILURE_H_
