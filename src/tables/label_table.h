// The time of a profile by one label of its rows: by control group, by cause, by thread name. Pure functions.
#ifndef OFFCPU_TABLES_LABEL_TABLE_H_
#define OFFCPU_TABLES_LABEL_TABLE_H_

#include <cstddef>

#include "bytes/byte_sink.h"
#include "labels/row_labels.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

// The values that have most of `value`, `limit` lines. `hide_idle`: without waits for work that are marked (idle.h),
// unless that is what is asked for.
void WriteLabelTable(const NamedProfile& profile, RowLabel label, RowValue value, bool hide_idle, size_t limit,
                     ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_LABEL_TABLE_H_
