#include "daemon/log.h"
#include "bytes/utf8.h"

#include <unistd.h>

#include <atomic>
#include <string>

namespace offcpu {
namespace {

std::atomic<LogLevel> least_level{LogLevel::kInfo};

// sd-daemon(3)
const char* PriorityOf(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "<3>";
    case LogLevel::kWarning:
      return "<4>";
    case LogLevel::kInfo:
      return "<6>";
    case LogLevel::kDebug:
      break;
  }
  return "<7>";
}

}  // namespace

LogLevel LogLevelOf(std::string_view name) {
  if (name == "error") return LogLevel::kError;
  if (name == "warning") return LogLevel::kWarning;
  return name == "debug" ? LogLevel::kDebug : LogLevel::kInfo;
}

void SetLogLevel(LogLevel least) { least_level = least; }

void Log(LogLevel level, std::string_view line) {
  if (level > least_level) return;
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const std::string text = (is_terminal ? "offcpud: " : PriorityOf(level)) + Printable(line) + "\n";
  // In one piece; that a full disk or a closed pipe keeps us from saying so is nothing to do anything about.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace offcpu
