// Recordings that go on for as long as it takes: on a busy host a stack, or a turn of a thread, may come late. Needs
// root. Fails where what is wanted has not come in a minute.
#ifndef OFFCPU_TESTS_HARNESS_RECORD_UNTIL_H_
#define OFFCPU_TESTS_HARNESS_RECORD_UNTIL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/harness/harness.h"

namespace offcpu::integration {

// Records `target` from before its run on, in windows that are given to `take` one by one, until that is true.
void RecordUntil(const RecordConfig& config, Target& target, const std::function<bool(const Recording&)>& take);

struct WantedRows {
  std::string name;  // for messages
  RowPredicate predicate;
  uint64_t count = 20;  // of waits, at least
};

// Until all that is wanted has come. `check` sees every row of every window.
void RecordUntilThereAre(std::vector<WantedRows> wanted, const RecordConfig& config, Target& target,
                         const std::function<void(const StackRow&)>& check = {});

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_RECORD_UNTIL_H_
