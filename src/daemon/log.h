// Lines on the standard error, with the priority in front that the journal takes from there; on a terminal without it.
// Any thread.
#ifndef OFFCPU_DAEMON_LOG_H_
#define OFFCPU_DAEMON_LOG_H_

#include <string_view>

namespace offcpu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "error", "warning", "info" or "debug", as a configuration that has been checked says.
LogLevel LogLevelOf(std::string_view name);

// Less important lines are left out from now on.
void SetLogLevel(LogLevel least);
// One line; control characters become '?'.
void Log(LogLevel level, std::string_view line);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_LOG_H_
