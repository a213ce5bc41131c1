#include "daemon/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"

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

bool IsJournal(int fd, const char* journal_stream) {
  struct stat file = {};
  return journal_stream != nullptr && fstat(fd, &file) == 0 &&
         absl::StrCat(file.st_dev, ":", file.st_ino) == journal_stream;
}

std::string LogPrefix(LogLevel level, bool is_journal) {
  if (is_journal) return PriorityOf(level);
  if (level == LogLevel::kError) return "offcpud: error: ";
  return level == LogLevel::kWarning ? "offcpud: warning: " : "offcpud: ";
}

void Log(LogLevel level, std::string_view line) {
  if (level > least_level) return;
  static const bool is_journal = IsJournal(STDERR_FILENO, getenv("JOURNAL_STREAM"));
  const std::string text = LogPrefix(level, is_journal) + Printable(line) + "\n";
  // In one piece; that a full disk or a closed pipe keeps us from saying so is nothing to do anything about.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace offcpu
