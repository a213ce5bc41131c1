// Lines on the standard error. If that is the journal, with the priority in front that the journal takes from there;
// anywhere else as people read them. Any thread.
#ifndef OFFCPU_DAEMON_LOG_H_
#define OFFCPU_DAEMON_LOG_H_

#include <string>
#include <string_view>

namespace offcpu {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "error", "warning", "info" or "debug", as a configuration that has been checked says.
LogLevel LogLevelOf(std::string_view name);

// Less important lines are left out from now on.
void SetLogLevel(LogLevel least);
// Is the file the stream that `journal_stream`, "DEVICE:INODE", names? As systemd says it in $JOURNAL_STREAM; null:
// none.
bool IsJournal(int fd, const char* journal_stream);

// What stands in front of a line.
std::string LogPrefix(LogLevel level, bool is_journal);
// One line; control characters become '?'.
void Log(LogLevel level, std::string_view line);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_LOG_H_
