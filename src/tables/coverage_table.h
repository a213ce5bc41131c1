// Which modules' frames were walked by what, and where walks ended early. Plain text.
#ifndef OFFCPU_TABLES_COVERAGE_TABLE_H_
#define OFFCPU_TABLES_COVERAGE_TABLE_H_

#include <cstddef>

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

// A line for each of the `limit` modules in which most walks ended early, or, with `all`, also of those in which none
// did. Nothing if there is no such module.
void WriteCoverageTable(const NamedProfile& profile, bool all, size_t limit, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_COVERAGE_TABLE_H_
