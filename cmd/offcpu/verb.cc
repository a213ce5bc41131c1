#include "offcpu/verb.h"

#include <cstdio>
#include <string>

namespace offcpu {

ExitCode Fail(const absl::Status& status) {
  std::fprintf(stderr, "offcpu: %s\n", std::string(status.message()).c_str());
  return ExitCodeOf(status);
}

}  // namespace offcpu
