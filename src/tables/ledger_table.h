// The ledger for a reader: a line for each process, or for each thread of one, and the sum of all. Plain text.
#ifndef OFFCPU_TABLES_LEDGER_TABLE_H_
#define OFFCPU_TABLES_LEDGER_TABLE_H_

#include <cstddef>

#include "bytes/byte_sink.h"
#include "profile/named_profile.h"

namespace offcpu {

// The `limit` lines that did most beside being blocked; threads where the profile's rows tell them apart, else
// processes. Below the sum, what was lost by reason. Nothing if the profile has no ledger.
void WriteLedgerTable(const NamedProfile& profile, size_t limit, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_LEDGER_TABLE_H_
