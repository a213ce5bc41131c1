// The ledger as a JSON array, a thread an element.
#ifndef OFFCPU_OUTPUT_LEDGER_JSON_H_
#define OFFCPU_OUTPUT_LEDGER_JSON_H_

#include "output/json_writer.h"
#include "profile/profile.h"

namespace offcpu {

void WriteLedgerJson(const ProfileFacts& profile, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_LEDGER_JSON_H_
