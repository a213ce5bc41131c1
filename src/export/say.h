// What the way to a collector says to a person. A plain type.
#ifndef OFFCPU_EXPORT_SAY_H_
#define OFFCPU_EXPORT_SAY_H_

#include <functional>
#include <string>

namespace offcpu {

// Says one line; `is_bad`: something should be done about it. Any thread.
using Say = std::function<void(bool is_bad, const std::string& line)>;

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SAY_H_
