// The records that a spool took out but keeps for people to look at, in its directory refused/: the newest few, bounded
// in number and bytes; and the names of the files of all its records. One thread.
#ifndef OFFCPU_EXPORT_SPOOL_REFUSED_H_
#define OFFCPU_EXPORT_SPOOL_REFUSED_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "os/owned_fd.h"

namespace offcpu {

inline constexpr std::string_view kRecordSuffix = ".record";
inline constexpr std::string_view kDamagedSuffix = ".damaged";

// "00000000000000000042.record".
std::string SpoolFileName(uint64_t number, std::string_view suffix);
// 0 if it is none.
uint64_t SpoolFileNumber(std::string_view name, std::string_view suffix);

inline constexpr size_t kMaxRefusedRecords = 16;
inline constexpr uint64_t kMaxRefusedBytes = 64u << 20;

// Takes the record `number` out of the spool's directory. It is removed where it cannot be kept.
void MoveToRefused(const OwnedFd& spool, uint64_t number, std::string_view suffix);

// The highest number in refused/; 0: none.
uint64_t HighestRefused(const OwnedFd& spool);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_REFUSED_H_
