#include "classify/idle_patterns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bytes/read_file.h"
#include "classify/system_calls.h"

namespace offcpu {
namespace {

constexpr char kAnyCallee[] = "...";
constexpr char kNoName[] = "<no name>";
constexpr std::string_view kNoNameIn = "<no name in ";  // "<no name in GLOB>"
constexpr char kTooManyFunctions[] = "a stack has at most 32 functions";
static_assert(kMaxIdleFrames == 32);

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

// A family stands for all of its causes.
absl::StatusOr<std::vector<WaitCause>> ParseCause(const std::string& name) {
  std::vector<WaitCause> causes;
  for (int i = 0; i < kWaitCauseCount; ++i) {
    const auto cause = static_cast<WaitCause>(i);
    if (cause == WaitCause::kPreempted || cause == WaitCause::kThrottled) continue;
    if (Name(cause) == name || Family(cause) == name) causes.push_back(cause);
  }
  if (causes.empty()) return Wrong(absl::StrCat("no cause is called '", name, "'"));
  return causes;
}

// "<NAME>". There are functions whose names only begin and end so.
bool IsOfEnding(std::string_view name) {
  return name.size() > 2 && name.front() == '<' && name.find_first_of("<>", 1) == name.size() - 1;
}

// Takes the globs of "<no name in GLOB>" out of a list of names.
std::vector<std::string> TakeUnnamedIn(std::vector<std::string>* names) {
  std::vector<std::string> globs;
  std::erase_if(*names, [&globs](const std::string& name) {
    if (!name.starts_with(kNoNameIn) || !name.ends_with('>')) return false;
    globs.push_back(Trimmed(std::string_view(name).substr(kNoNameIn.size(), name.size() - kNoNameIn.size() - 1)));
    return true;
  });
  return globs;
}

// A name of which nothing is said is no sign of anything.
bool SaysNothing(const std::string& name) { return name.find_first_not_of("*?") == std::string::npos; }

absl::StatusOr<IdleFrame> ParseFrame(std::string text) {
  IdleFrame frame;
  frame.may_be_missing = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (frame.may_be_missing) text = text.substr(1, text.size() - 2);
  absl::StatusOr<std::vector<std::string>> names = ParseNames(text);
  if (!names.ok()) return names.status();
  frame.names = *std::move(names);
  frame.unnamed_in = TakeUnnamedIn(&frame.names);
  frame.may_be_unnamed = std::erase(frame.names, kNoName) != 0 || frame.may_be_missing;
  if (frame.names.empty()) return Wrong("a function without a name proves nothing: add its name");
  if (const auto ending = std::find_if(frame.names.begin(), frame.names.end(), IsOfEnding); ending != frame.names.end())
    return Wrong(absl::StrCat("'", *ending, "' must stand alone at the end of a stack"));
  if (std::any_of(frame.names.begin(), frame.names.end(), SaysNothing))
    return Wrong(absl::StrCat("'", text, "' stands for any function: name it"));
  if (std::any_of(frame.unnamed_in.begin(), frame.unnamed_in.end(), SaysNothing))
    return Wrong(absl::StrCat("'", text, "' stands for a function of any module: name it"));
  return frame;
}

// "outermost; [may be missing]; leaf; ...", or, with an end that others have too, "outermost; <NAME>".
struct StackText {
  std::vector<std::string> functions;  // outermost first
  std::string ending;                  // "<NAME>"; empty: none
};

StackText SplitStack(std::string_view text) {
  StackText split;
  split.functions = absl::StrSplit(absl::string_view(text.data(), text.size()), ';');
  for (std::string& function : split.functions) function = Trimmed(function);
  if (!IsOfEnding(split.functions.back()) || split.functions.back() == kNoName) return split;
  split.ending = std::move(split.functions.back());
  split.functions.pop_back();
  return split;
}

absl::StatusOr<IdleStack> ParseFunctions(std::vector<std::string> functions) {
  IdleStack stack;
  stack.own_callees = !functions.empty() && functions.back() == kAnyCallee;
  if (stack.own_callees) functions.pop_back();
  if (functions.size() > kMaxIdleFrames) return Wrong(kTooManyFunctions);
  for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
    absl::StatusOr<IdleFrame> frame = ParseFrame(*function);
    if (!frame.ok()) return frame.status();
    stack.frames.push_back(*std::move(frame));
  }
  return stack;
}

size_t NameBytes(const IdleStack& stack) {
  size_t bytes = 0;
  for (const IdleFrame& frame : stack.frames) {
    for (const std::string& name : frame.names) bytes += name.size() + 1;
    for (const std::string& module : frame.unnamed_in) bytes += module.size() + 1;
  }
  return bytes;
}

absl::Status CheckStack(const IdleStack& stack) {
  const auto is_certain = [](const IdleFrame& frame) {
    return !frame.may_be_missing && !frame.may_be_unnamed && frame.unnamed_in.empty();
  };
  if (stack.frames.size() > kMaxIdleFrames) return Wrong(kTooManyFunctions);
  if (stack.frames.empty() || !is_certain(stack.frames.back()))
    return Wrong("a stack must begin with a function that is not optional and has a name");
  if (stack.own_callees && !is_certain(stack.frames.front()))
    return Wrong("the function before ... must not be optional, and must have a name");
  return absl::OkStatus();
}

// A pattern as it is read, line by line, or an end of stacks.
class Draft {
 public:
  Draft(std::string name, size_t line) : line_(line) { pattern_.name = std::move(name); }

  size_t line() const { return line_; }
  bool is_ending() const { return IsOfEnding(pattern_.name); }
  bool is_off() const { return off_; }
  const IdlePattern& pattern() const { return pattern_; }

  // Sets any key but stacks.
  absl::Status Set(const std::string& key, const std::string& value) {
    if (is_ending()) return Wrong("an end of stacks can only have lines 'stack = ...'");
    if (std::find(keys_.begin(), keys_.end(), key) != keys_.end()) return Wrong(absl::StrCat(key, " is there twice"));
    keys_.push_back(key);
    const absl::StatusOr<std::vector<std::string>> names = ParseNames(value);
    if (!names.ok()) return names.status();
    return SetList(key, *names);
  }

  absl::Status AddStack(IdleStack stack) {
    if (is_ending() && stack.frames.empty()) return Wrong("an end of stacks needs a function");
    if (!is_ending()) {
      if (absl::Status status = CheckStack(stack); !status.ok()) return status;
    }
    if (pattern_.stacks.size() == kMaxIdleNames) return Wrong("there are too many stacks");
    pattern_.stacks.push_back(std::move(stack));
    return absl::OkStatus();
  }

  absl::Status SetOff() {
    off_ = true;
    return absl::OkStatus();
  }

  // After its last line.
  absl::Status Check() const {
    if (is_ending()) return CheckEnding();
    const bool is_empty = keys_.empty() && pattern_.stacks.empty();
    if (off_) return is_empty ? absl::OkStatus() : Wrong("a pattern that is off must have no other line");
    const bool is_any = !pattern_.wait.empty() && !pattern_.causes.empty();
    if (pattern_.syscalls.empty() && !is_any)
      return Wrong("a pattern needs a line 'syscall = ...', or lines 'wait = ...' and 'cause = ...'");
    if (pattern_.stacks.empty()) return Wrong("a pattern needs a line 'stack = ...'");
    return absl::OkStatus();
  }

 private:
  absl::Status CheckEnding() const {
    if (pattern_.stacks.empty() || off_) return Wrong("an end of stacks can only have lines 'stack = ...'");
    return absl::OkStatus();
  }

  absl::Status SetList(const std::string& key, const std::vector<std::string>& names) {
    if (key == "process") {
      pattern_.processes = names;
    } else if (key == "thread") {
      pattern_.threads = names;
    } else if (key == "syscall") {
      return SetSystemCalls(names);
    } else if (key == "cause") {
      return SetCauses(names);
    } else if (key == "wait") {
      return SetWait(names);
    } else {
      return Wrong(
          absl::StrCat("unknown key '", key, "'; the keys are process, thread, syscall, cause, wait and stack"));
    }
    return absl::OkStatus();
  }

  absl::Status SetWait(const std::vector<std::string>& names) {
    if (names.size() != 1) return Wrong("a wait can only have one name");
    if (names.front().size() > kMaxWaitBytes)
      return Wrong(absl::StrCat("the name of a wait can have at most ", kMaxWaitBytes, " bytes"));
    pattern_.wait = names.front();
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
      const absl::StatusOr<std::vector<WaitCause>> causes = ParseCause(name);
      if (!causes.ok()) return causes.status();
      pattern_.causes.insert(pattern_.causes.end(), causes->begin(), causes->end());
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
  // Ends of stacks that a text does not have are those of `shipped`; null: there are none.
  explicit Parser(const Parser* shipped) : shipped_(shipped) {}

  absl::Status Line(const std::string& line, size_t number) {
    if (line.empty() || line.front() == '#') return absl::OkStatus();
    if (line.front() == '[') return Begin(line, number);
    if (drafts_.empty()) return Wrong("a pattern must begin with its name in brackets, such as [pool of a server]");
    if (line == "off") return drafts_.back().SetOff();
    const size_t equals = line.find('=');
    if (equals == std::string::npos) return Wrong("a line must be [NAME], KEY = VALUE or a comment that begins with #");
    const std::string key = Trimmed(line.substr(0, equals));
    const std::string value = Trimmed(line.substr(equals + 1));
    return key == "stack" ? AddStacks(value) : drafts_.back().Set(key, value);
  }

  const std::vector<Draft>& drafts() const { return drafts_; }

 private:
  absl::Status Begin(const std::string& line, size_t number) {
    const std::string name = line.back() == ']' && line.size() > 2 ? Trimmed(line.substr(1, line.size() - 2)) : "";
    if (name.empty()) return Wrong("the name of a pattern must stand alone in brackets");
    if (name == kNoName)
      return Wrong("'<no name>' cannot be the name of an end: it stands for functions without a name");
    const auto same = [&](const Draft& draft) { return draft.pattern().name == name; };
    if (std::any_of(drafts_.begin(), drafts_.end(), same)) return Wrong(absl::StrCat("'", name, "' is there twice"));
    if (drafts_.size() == kMaxIdlePatterns) {
      return Wrong(absl::StrCat("there are more than ", kMaxIdlePatterns, " patterns"));
    }
    drafts_.emplace_back(name, number);
    return absl::OkStatus();
  }

  absl::Status AddStacks(const std::string& value) {
    StackText text = SplitStack(value);
    absl::StatusOr<IdleStack> stack = ParseFunctions(std::move(text.functions));
    if (!stack.ok()) return stack.status();
    if (text.ending.empty()) return drafts_.back().AddStack(*std::move(stack));
    if (stack->own_callees) return Wrong("... can only be the end of a stack");
    const Draft* ending = FindEnding(text.ending, drafts_.size() - 1);
    if (ending == nullptr && shipped_ != nullptr) ending = shipped_->FindEnding(text.ending, shipped_->drafts_.size());
    if (ending == nullptr) return Wrong(absl::StrCat("no end of stacks above is called '", text.ending, "'"));
    return AddEach(*stack, std::vector<IdleStack>(ending->pattern().stacks));
  }

  // Among the first `count`.
  const Draft* FindEnding(const std::string& name, size_t count) const {
    for (size_t i = 0; i < count; ++i) {
      if (drafts_[i].pattern().name == name) return &drafts_[i];
    }
    return nullptr;
  }

  absl::Status AddEach(const IdleStack& callers, std::vector<IdleStack> endings) {
    for (IdleStack& stack : endings) {
      stack.frames.insert(stack.frames.end(), callers.frames.begin(), callers.frames.end());
      copied_bytes_ += NameBytes(stack);
      if (copied_bytes_ > kMaxIdleFileBytes)
        return Wrong("the file, with the ends of its stacks, is larger than 1 MiB");
      if (absl::Status status = drafts_.back().AddStack(std::move(stack)); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const Parser* shipped_;
  std::vector<Draft> drafts_;
  size_t copied_bytes_ = 0;
};

absl::Status At(const std::string& name, size_t line, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(name, ":", line, ": ", std::string(status.message())));
}

absl::Status Merge(const std::vector<Draft>& drafts, const std::string& name, IdlePatterns* patterns) {
  IdlePatterns merged;
  for (const Draft& draft : drafts) {
    if (absl::Status status = draft.Check(); !status.ok()) return At(name, draft.line(), status);
    if (!draft.is_off() && !draft.is_ending()) merged.push_back(draft.pattern());
  }
  for (const IdlePattern& old : *patterns) {
    const auto same = [&](const Draft& draft) { return draft.pattern().name == old.name; };
    if (std::none_of(drafts.begin(), drafts.end(), same)) merged.push_back(old);
  }
  if (merged.size() > kMaxIdlePatterns) {
    return At(name, 1, Wrong(absl::StrCat("together with the existing ones, there are more than ", kMaxIdlePatterns)));
  }
  *patterns = std::move(merged);
  return absl::OkStatus();
}

absl::Status ParseLines(std::string_view text, const std::string& name, Parser& parser) {
  if (text.size() > kMaxIdleFileBytes) return At(name, 1, Wrong("the file is larger than 1 MiB"));
  size_t number = 0;
  for (const auto line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (absl::Status status = parser.Line(Trimmed({line.data(), line.size()}), number); !status.ok()) {
      return At(name, number, status);
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadText(const std::string& path) {
  absl::StatusOr<std::string> text = ReadRegularFile(path, kMaxIdleFileBytes);
  if (!text.ok()) return Wrong(std::string(text.status().message()));
  return text;
}

constexpr char kShippedName[] = "shipped";

const Parser& Shipped() {
  static const Parser* const kParser = [] {
    auto* parser = new Parser(nullptr);
    ParseLines(kDefaultIdlePatterns, kShippedName, *parser).IgnoreError();  // a test holds both right
    ParseLines(kDefaultCausePatterns, kShippedName, *parser).IgnoreError();
    return parser;
  }();
  return *kParser;
}

}  // namespace

absl::Status AddIdlePatterns(std::string_view text, const std::string& name, IdlePatterns* patterns) {
  Parser parser(&Shipped());
  if (absl::Status status = ParseLines(text, name, parser); !status.ok()) return status;
  return Merge(parser.drafts(), name, patterns);
}

IdlePatterns DefaultIdlePatterns() {
  IdlePatterns patterns;
  Merge(Shipped().drafts(), kShippedName, &patterns).IgnoreError();
  return patterns;
}

absl::StatusOr<IdlePatterns> ReadIdlePatterns(const std::vector<std::string>& paths) {
  IdlePatterns patterns = DefaultIdlePatterns();
  for (const std::string& path : paths) {
    const absl::StatusOr<std::string> text = ReadText(path);
    if (!text.ok()) return text.status();
    if (absl::Status status = AddIdlePatterns(*text, path, &patterns); !status.ok()) return status;
  }
  return patterns;
}

}  // namespace offcpu
