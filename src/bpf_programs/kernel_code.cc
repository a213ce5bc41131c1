#include "bpf_programs/kernel_code.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>

#include "bpf_programs/bpf_object.h"
#include "bpf_programs/errno_status.h"
#include "kernel_code.skel.h"

namespace offcpu {
namespace {

constexpr size_t kCallBytes = 5;
constexpr uint8_t kCall = 0xe8;

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadKernelCode(uint64_t address) {
  const std::unique_ptr<kernel_code, void (*)(kernel_code*)> program(kernel_code::open_and_load(),
                                                                     kernel_code::destroy);
  if (program == nullptr) return ErrnoStatus("cannot load the program that reads kernel code", errno);
  program->bss->function_address = address;
  auto options = BpfOptions<bpf_test_run_opts>();
  if (bpf_prog_test_run_opts(bpf_program__fd(program->progs.read_function), &options) != 0) {
    return ErrnoStatus("cannot run the program that reads kernel code", errno);
  }
  if (options.retval != 0) return absl::UnavailableError("the kernel's code cannot be read");
  return std::vector<uint8_t>(std::begin(program->bss->function_code), std::end(program->bss->function_code));
}

bool Calls(std::span<const uint8_t> code, uint64_t address, uint64_t callee) {
  for (size_t i = 0; i + kCallBytes <= code.size(); ++i) {
    int32_t distance = 0;
    std::memcpy(&distance, &code[i + 1], sizeof(distance));
    if (code[i] == kCall && address + i + kCallBytes + static_cast<int64_t>(distance) == callee) return true;
  }
  return false;
}

}  // namespace offcpu
