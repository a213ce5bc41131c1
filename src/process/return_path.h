// What code does from a return address on until it returns itself, on x86-64: that tells where its own return address
// is, and the caller's frame pointer. So callers are found in code that no table describes, such as musl's. The code is
// only read: branches are followed both ways, and all ways that return must say the same.
//
// Pure functions of the bytes, which may be anything; safe from any thread.
#ifndef OFFCPU_PROCESS_RETURN_PATH_H_
#define OFFCPU_PROCESS_RETURN_PATH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace offcpu {

inline constexpr size_t kMaxReturnSteps = 2048;  // instructions that are looked at for one return address

struct ReturnPath {
  enum class Kind : uint8_t {
    kUnknown,       // the code does not tell, or too much of it would have to be read
    kReturns,       // to where the rest says
    kNeverReturns,  // as far as is known: what is called last does not
  };
  Kind kind = Kind::kUnknown;
  // Where the stack ended before the call of the code, the CFA: by the stack pointer or the frame pointer as they are
  // at the return address. The code's own return address is the word below.
  bool from_fp = false;
  int32_t cfa_offset = 0;
  // Where the caller's frame pointer is, from the CFA; nothing: still in the register.
  std::optional<int32_t> fp_offset;

  bool operator==(const ReturnPath&) const = default;
};

// `at`: of the return address in `code`.
ReturnPath FollowReturn(std::span<const std::byte> code, size_t at);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_RETURN_PATH_H_
