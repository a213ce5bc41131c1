// What a ledger says of waits, beside what the rows of the same recording say.
#ifndef OFFCPU_TESTS_HARNESS_LEDGER_ROWS_H_
#define OFFCPU_TESTS_HARNESS_LEDGER_ROWS_H_

#include "tests/harness/harness.h"

namespace offcpu::integration {

// To the nanosecond, for every thread. The recording has rows by thread.
void ExpectRowsAreTheLedger(const Recording& recording);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_LEDGER_ROWS_H_
