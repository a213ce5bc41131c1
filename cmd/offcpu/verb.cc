#include "offcpu/verb.h"

#include <cstdio>
#include <string>

#include "bytes/utf8.h"

namespace offcpu {

ExitCode Fail(const absl::Status& status) {
  std::fprintf(stderr, "offcpu: %s\n", Printable(std::string(status.message())).c_str());
  return ExitCodeOf(status);
}

}  // namespace offcpu
