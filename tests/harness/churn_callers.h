// Who calls whom in tests/targets/churn.cc: no stack of it may say anything else.
#ifndef OFFCPU_TESTS_HARNESS_CHURN_CALLERS_H_
#define OFFCPU_TESTS_HARNESS_CHURN_CALLERS_H_

#include <map>
#include <string_view>

#include "tests/harness/harness.h"

namespace offcpu::integration {

// Who calls the functions of the target that may appear; "" is code of the target without a name of its own (lambdas,
// Run...). Functions that the target has for other modes, or only to shift the ones behind them, may not appear.
using Callers = std::map<std::string_view, std::string_view>;

// The callers in its modes exec and pids, and in dlopen.
Callers ImageCallers();
Callers LibraryCallers();

// Each frame of the target has the caller that its source gives it, and is of one image.
void ExpectRealCallers(const StackRow& row, const Callers& callers);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_HARNESS_CHURN_CALLERS_H_
