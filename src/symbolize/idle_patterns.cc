#include "symbolize/idle_patterns.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "symbolize/system_calls.h"

namespace offcpu {
namespace {

constexpr char kAnyCallee[] = "...";

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size())));
}

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

// "a | b"
absl::StatusOr<std::vector<std::string>> ParseNames(std::string_view text) {
  std::vector<std::string> names;
  for (const auto part : absl::StrSplit(absl::string_view(text.data(), text.size()), '|')) {
    std::string name = Trimmed({part.data(), part.size()});
    if (name.empty()) return Wrong("a name is empty");
    if (names.size() == kMaxIdleNames) return Wrong(absl::StrCat("there are more than ", kMaxIdleNames, " names"));
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<WaitCause> ParseCause(const std::string& name) {
  for (int i = 0; i < kWaitCauseCount; ++i) {
    const auto cause = static_cast<WaitCause>(i);
    if (Name(cause) == name && cause != WaitCause::kPreempted) return cause;
  }
  return Wrong(absl::StrCat("no cause is called '", name, "'"));
}

absl::StatusOr<IdleFrame> ParseFrame(std::string text) {
  IdleFrame frame;
  frame.may_lack = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (frame.may_lack) text = text.substr(1, text.size() - 2);
  absl::StatusOr<std::vector<std::string>> names = ParseNames(text);
  if (!names.ok()) return names.status();
  frame.names = *std::move(names);
  // A function of which nothing is said is no sign of anything.
  const auto says_nothing = [](const std::string& name) { return name.find_first_not_of("*?") == std::string::npos; };
  if (std::any_of(frame.names.begin(), frame.names.end(), says_nothing)) {
    return Wrong(absl::StrCat("'", text, "' stands for any function: name it"));
  }
  return frame;
}

// "outermost; [may lack]; leaf; ..."
absl::StatusOr<IdleStack> ParseStack(std::string_view text) {
  IdleStack stack;
  std::vector<std::string> parts = absl::StrSplit(absl::string_view(text.data(), text.size()), ';');
  for (std::string& part : parts) part = Trimmed(part);
  stack.own_callees = parts.back() == kAnyCallee;
  if (stack.own_callees) parts.pop_back();
  if (parts.size() > kMaxIdleFrames) return Wrong(absl::StrCat("a stack has at most ", kMaxIdleFrames, " functions"));
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    absl::StatusOr<IdleFrame> frame = ParseFrame(*part);
    if (!frame.ok()) return frame.status();
    stack.frames.push_back(*std::move(frame));
  }
  if (stack.frames.empty() || stack.frames.back().may_lack) {
    return Wrong("a stack begins with a function that must be there");
  }
  if (stack.own_callees && stack.frames.front().may_lack) {
    return Wrong("in front of ... is a function that must be there");
  }
  return stack;
}

// A pattern as it is read, line by line.
class Draft {
 public:
  Draft(std::string name, size_t line) : line_(line) { pattern_.name = std::move(name); }

  size_t line() const { return line_; }
  bool is_off() const { return off_; }
  const IdlePattern& pattern() const { return pattern_; }

  absl::Status Set(const std::string& key, const std::string& value) {
    if (key == "stack") {
      absl::StatusOr<IdleStack> stack = ParseStack(value);
      if (!stack.ok()) return stack.status();
      if (pattern_.stacks.size() == kMaxIdleNames) return Wrong("there are too many stacks");
      pattern_.stacks.push_back(*std::move(stack));
      return absl::OkStatus();
    }
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return Wrong(absl::StrCat(key, " is there twice"));
    keys_.push_back(key);
    const absl::StatusOr<std::vector<std::string>> names = ParseNames(value);
    if (!names.ok()) return names.status();
    return SetList(key, *names);
  }

  absl::Status SetOff() {
    off_ = true;
    return absl::OkStatus();
  }

  // After its last line.
  absl::Status Check() const {
    const bool is_empty = keys_.empty() && pattern_.stacks.empty();
    if (off_) return is_empty ? absl::OkStatus() : Wrong("a pattern that is off has nothing else");
    if (pattern_.syscalls.empty()) return Wrong("a pattern has a line 'syscall = ...'");
    if (pattern_.stacks.empty()) return Wrong("a pattern has a line 'stack = ...'");
    return absl::OkStatus();
  }

 private:
  absl::Status SetList(const std::string& key, const std::vector<std::string>& names) {
    if (key == "process") {
      pattern_.processes = names;
    } else if (key == "thread") {
      pattern_.threads = names;
    } else if (key == "syscall") {
      return SetSystemCalls(names);
    } else if (key == "cause") {
      return SetCauses(names);
    } else {
      return Wrong(absl::StrCat("nothing is called '", key, "': there are process, thread, syscall, cause and stack"));
    }
    return absl::OkStatus();
  }

  absl::Status SetSystemCalls(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::optional<int32_t> number = SystemCallNumber(name);
      if (!number.has_value()) return Wrong(absl::StrCat("no system call is called '", name, "'"));
      pattern_.syscalls.push_back(*number);
    }
    return absl::OkStatus();
  }

  absl::Status SetCauses(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const absl::StatusOr<WaitCause> cause = ParseCause(name);
      if (!cause.ok()) return cause.status();
      pattern_.causes.push_back(*cause);
    }
    return absl::OkStatus();
  }

  IdlePattern pattern_;
  size_t line_;
  bool off_ = false;
  std::vector<std::string> keys_;
};

class Parser {
 public:
  absl::Status Line(const std::string& line, size_t number) {
    if (line.empty() || line.front() == '#') return absl::OkStatus();
    if (line.front() == '[') return Begin(line, number);
    if (drafts_.empty()) return Wrong("a pattern begins with its name in brackets, as [pool of a server]");
    if (line == "off") return drafts_.back().SetOff();
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return Wrong("a line is [NAME], KEY = VALUE or a comment that begins with #");
    return drafts_.back().Set(Trimmed(line.substr(0, equals)), Trimmed(line.substr(equals + 1)));
  }

  const std::vector<Draft>& drafts() const { return drafts_; }

 private:
  absl::Status Begin(const std::string& line, size_t number) {
    const std::string name = line.back() == ']' && line.size() > 2 ? Trimmed(line.substr(1, line.size() - 2)) : "";
    if (name.empty()) return Wrong("the name of a pattern stands alone in brackets");
    const auto same = [&](const Draft& draft) { return draft.pattern().name == name; };
    if (std::any_of(drafts_.begin(), drafts_.end(), same)) return Wrong(absl::StrCat("'", name, "' is there twice"));
    if (drafts_.size() == kMaxIdlePatterns) {
      return Wrong(absl::StrCat("there are more than ", kMaxIdlePatterns, " patterns"));
    }
    drafts_.emplace_back(name, number);
    return absl::OkStatus();
  }

  std::vector<Draft> drafts_;
};

absl::Status At(const std::string& name, size_t line, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ":", line, ": ", std::string(status.message())));
}

absl::Status Merge(const std::vector<Draft>& drafts, const std::string& name, IdlePatterns* patterns) {
  IdlePatterns merged;
  for (const Draft& draft : drafts) {
    if (absl::Status status = draft.Check(); !status.ok()) return At(name, draft.line(), status);
    if (!draft.is_off()) merged.push_back(draft.pattern());
  }
  for (const IdlePattern& old : *patterns) {
    const auto same = [&](const Draft& draft) { return draft.pattern().name == old.name; };
    if (std::none_of(drafts.begin(), drafts.end(), same)) merged.push_back(old);
  }
  if (merged.size() > kMaxIdlePatterns) {
    return At(name, 1, Wrong(absl::StrCat("with those that there are, there are more than ", kMaxIdlePatterns)));
  }
  *patterns = std::move(merged);
  return absl::OkStatus();
}

}  // namespace

absl::Status AddIdlePatterns(std::string_view text, const std::string& name, IdlePatterns* patterns) {
  if (text.size() > kMaxIdleFileBytes) return At(name, 1, Wrong("the file is larger than 1 MiB"));
  Parser parser;
  size_t number = 0;
  for (const auto line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (absl::Status status = parser.Line(Trimmed({line.data(), line.size()}), number); !status.ok()) {
      return At(name, number, status);
    }
  }
  return Merge(parser.drafts(), name, patterns);
}

IdlePatterns DefaultIdlePatterns() {
  IdlePatterns patterns;
  AddIdlePatterns(kDefaultIdlePatterns, "waiting-for-work.conf", &patterns).IgnoreError();  // a test holds it right
  return patterns;
}

absl::Status AddIdlePatternsFile(const std::string& path, IdlePatterns* patterns) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxIdleFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || !file.is_open()) {
    return Wrong(absl::StrCat("cannot read ", path, ": ", strerror(errno == 0 ? EIO : errno)));
  }
  text.resize(static_cast<size_t>(file.gcount()));
  return AddIdlePatterns(text, path, patterns);
}

}  // namespace offcpu
