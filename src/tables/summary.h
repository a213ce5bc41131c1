// What a recording contains and what it lost, for a reader.
#ifndef OFFCPU_TABLES_SUMMARY_H_
#define OFFCPU_TABLES_SUMMARY_H_

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

// `hide_idle`: of the tables beside it; see ShownRows in classify/idle.h.
void WriteSummary(const NamedProfile& profile, bool hide_idle, ByteSink sink);

// The few lines of it that say whether to trust the tables: what was recorded, how complete, and what time was lost.
void WriteShortSummary(const NamedProfile& profile, bool hide_idle, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_SUMMARY_H_
