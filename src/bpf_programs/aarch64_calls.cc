#include "bpf_programs/aarch64_calls.h"

#include <array>
#include <cstddef>

#include "profile/profile.h"

namespace offcpu {
namespace {

// By the number of AArch64, the number of x86-64, from include/uapi/asm-generic/unistd.h and
// arch/x86/entry/syscalls/syscall_64.tbl. From kSameFrom on both machines have the same numbers. -1: there is no such
// call.
constexpr int32_t kSameFrom = 424;
// clang-format off
constexpr std::array<int16_t, 295> kAArch64Calls = {
    206, 207, 209, 210, 208, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 79, 212, 290, 291, 233,
    281, 32, 292, 72, 294, 254, 255, 16, 251, 252, 73, 259, 258, 263, 266, 265, 264, 166, 165, 155, 180, 137, 138,
    76, 77, 285, 269, 80, 81, 161, 91, 268, 260, 93, 257, 3, 153, 293, 179, 217, 8, 0, 1, 19, 20, 17, 18, 295,
    296, 40, 270, 271, 289, 278, 275, 276, 267, 262, 5, 162, 74, 75, 277, 283, 286, 287, 280, 163, 125, 126, 135,
    60, 231, 247, 218, 272, 202, 273, 274, 35, 36, 38, 246, 175, 176, 222, 224, 225, 223, 226, 227, 228, 229, 230,
    103, 101, 142, 144, 145, 143, 203, 204, 24, 146, 147, 148, 219, 62, 200, 234, 131, 130, 13, 14, 127, 128, 129,
    15, 141, 140, 169, 114, 106, 113, 105, 117, 118, 119, 120, 122, 123, 100, 109, 121, 124, 112, 115, 116, 63,
    170, 171, 97, 160, 98, 95, 157, 309, 96, 164, 159, 39, 110, 102, 107, 104, 108, 186, 99, 240, 241, 242, 243,
    244, 245, 68, 71, 70, 69, 64, 66, 220, 65, 29, 31, 30, 67, 41, 53, 49, 50, 43, 42, 51, 52, 44, 45, 54, 55, 48,
    46, 47, 187, 12, 11, 25, 248, 249, 250, 56, 59, 9, 221, 167, 168, 10, 26, 149, 150, 151, 152, 27, 28, 216,
    237, 239, 238, 256, 279, 297, 298, 288, 299, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    61, 302, 300, 301, 303, 304, 305, 306, 308, 307, 310, 311, 312, 313, 314, 315, 316, 317, 318, 319, 321, 322,
    323, 324, 325, 326, 327, 328, 329, 330, 331, 332, 333, 334, 320};
// clang-format on

}  // namespace

int32_t ProfileCallOfAArch64(int32_t number) {
  if (number < 0 || number >= kSystemCalls) return kNoSystemCall;
  if (number >= kSameFrom) return number;
  return static_cast<size_t>(number) < kAArch64Calls.size() ? kAArch64Calls[static_cast<size_t>(number)]
                                                            : kNoSystemCall;
}

}  // namespace offcpu
