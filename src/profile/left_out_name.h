// What a marker is called that stands for frames which were left out of a deep stack: "[12 frames left out]".
#ifndef OFFCPU_PROFILE_LEFT_OUT_NAME_H_
#define OFFCPU_PROFILE_LEFT_OUT_NAME_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace offcpu {

std::string LeftOutName(uint64_t frames);
bool IsLeftOutName(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_LEFT_OUT_NAME_H_
