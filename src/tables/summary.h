// What a recording contains and what it lost, for a reader.
#ifndef OFFCPU_TABLES_SUMMARY_H_
#define OFFCPU_TABLES_SUMMARY_H_

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

void WriteSummary(const NamedProfile& profile, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_SUMMARY_H_
