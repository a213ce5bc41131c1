// Loads the BPF programs of an object file and attaches all of them until it is interrupted. As root.
// Usage: attach OBJECT
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: attach OBJECT\n");
    return 2;
  }
  std::signal(SIGINT, SIG_DFL);  // a script's shell has it ignored by what runs in the background
  bpf_object* object = bpf_object__open(argv[1]);
  if (object == nullptr || bpf_object__load(object) != 0) {
    std::fprintf(stderr, "%s: %s\n", argv[1], std::strerror(errno));
    return 1;
  }
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object) {
    if (bpf_program__attach(program) != nullptr) continue;
    std::fprintf(stderr, "%s: %s\n", bpf_program__name(program), std::strerror(errno));
    return 1;
  }
  pause();
}
