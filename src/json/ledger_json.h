// The ledger as a JSON array, a thread an element.
#ifndef OFFCPU_JSON_LEDGER_JSON_H_
#define OFFCPU_JSON_LEDGER_JSON_H_

#include "json/json_writer.h"
#include "profile/profile.h"

namespace offcpu {

void WriteLedgerJson(const ProfileFacts& profile, JsonWriter& json);

}  // namespace offcpu

#endif  // OFFCPU_JSON_LEDGER_JSON_H_
