#include "process/service_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "os/proc_file.h"

namespace offcpu {
namespace {

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Bounded(std::string name) { return name.size() > kMostServiceBytes ? "" : name; }

// The texts before each `end`; one that has no end is the last.
std::vector<std::string_view> SplitAt(char end, std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t size = std::min(text.find(end), text.size());
    parts.push_back(text.substr(0, size));
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return parts;
}

std::string_view WithoutBlanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool IsHexDigit(char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); }

// "%2C" is a comma.
std::string PercentDecoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool is_escaped = text[i] == '%' && i + 2 < text.size() && IsHexDigit(text[i + 1]) && IsHexDigit(text[i + 2]);
    if (is_escaped) {
      plain += absl::HexStringToBytes({text.data() + i + 1, 2});
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// service.name of "deployment.environment.name=prod,service.name=shop".
std::string ServiceAmong(std::string_view attributes) {
  constexpr std::string_view kKey = "service.name";
  for (const std::string_view attribute : SplitAt(',', attributes)) {
    const size_t equals = attribute.find('=');
    if (equals == std::string_view::npos || WithoutBlanks(attribute.substr(0, equals)) != kKey) continue;
    return PercentDecoded(WithoutBlanks(attribute.substr(equals + 1)));
  }
  return "";
}

// The arguments of a program that runs scripts. Each list of options has a blank around each of them.
struct Interpreter {
  std::string_view name;                       // of the program, without a version
  std::string_view is_text;                    // options behind which comes the text itself: there is no script
  std::string_view takes_value;                // options whose value is the next argument
  std::string_view names_script;               // options behind which comes what is run
  std::array<std::string_view, 3> suffixes{};  // that the name of a script goes without
};
constexpr Interpreter kInterpreters[] = {
    {"java",
     "",
     " -cp -classpath --class-path -p --module-path --add-modules --upgrade-module-path --source ",
     " -jar -m --module ",
     {".jar", ".war", ".java"}},
    {"python", " -c ", " -W -X --check-hash-based-pycs ", " -m ", {".py", ".pyc", ".pyz"}},
    {"node",
     " -e --eval -p --print -pe ",
     " -r --require --import --loader --experimental-loader -C --conditions ",
     "",
     {".js", ".mjs", ".cjs"}},
    {"nodejs", " -e --eval -p --print -pe ", " -r --require ", "", {".js", ".mjs", ".cjs"}},
    {"ruby", " -e ", " -I -r -C -E ", "", {".rb"}},
    {"perl", " -e -E ", " -I ", "", {".pl"}},
    {"php", " -r ", " -c -d -z ", " -f ", {".php"}},
    {"dotnet", "", " --additionalprobingpath --fx-version --depsfile --runtimeconfig ", "", {".dll"}},
    {"sh", " -c ", " -o ", "", {".sh"}},
    {"bash", " -c ", " -o -O --rcfile --init-file ", "", {".sh"}},
    {"dash", " -c ", " -o ", "", {".sh"}},
};

bool IsAmong(std::string_view options, std::string_view option) {
  return options.find(absl::StrCat(" ", std::string(option), " ")) != std::string_view::npos;
}

// "python" of "python3.11".
const Interpreter* InterpreterOf(std::string_view program) {
  std::string_view name = FileName(program);
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) != 0 || name.back() == '.'))
    name.remove_suffix(1);
  const auto* found = std::find_if(std::begin(kInterpreters), std::end(kInterpreters),
                                   [name](const Interpreter& interpreter) { return interpreter.name == name; });
  return found == std::end(kInterpreters) ? nullptr : found;
}

std::string_view ScriptAmong(const Interpreter& interpreter, std::span<const std::string_view> arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool has_next = i + 1 < arguments.size();
    if (IsAmong(interpreter.is_text, argument)) return "";
    if (IsAmong(interpreter.names_script, argument)) return has_next ? arguments[i + 1] : "";
    if (IsAmong(interpreter.takes_value, argument)) {
      ++i;
    } else if (!argument.empty() && argument.front() != '-') {
      return argument;
    }
  }
  return "";
}

std::string ReadText(pid_t pid, const char* file) {
  absl::StatusOr<std::string> text = ReadProcFile(absl::StrCat("/proc/", pid, "/", file), kMostServiceTextBytes);
  return text.ok() ? *std::move(text) : "";
}

}  // namespace

std::string DeclaredService(std::string_view environment) {
  constexpr std::string_view kName = "OTEL_SERVICE_NAME=";
  constexpr std::string_view kAttributes = "OTEL_RESOURCE_ATTRIBUTES=";
  std::string among;
  for (const std::string_view variable : SplitAt('\0', environment)) {
    if (variable.starts_with(kName) && variable.size() > kName.size())
      return Bounded(std::string(variable.substr(kName.size())));
    if (among.empty() && variable.starts_with(kAttributes)) among = ServiceAmong(variable.substr(kAttributes.size()));
  }
  return Bounded(among);
}

std::string ScriptOf(std::string_view program, std::string_view arguments) {
  const Interpreter* interpreter = InterpreterOf(program);
  if (interpreter == nullptr) return "";
  const std::vector<std::string_view> words = SplitAt('\0', arguments);
  std::string_view script = ScriptAmong(*interpreter, words);
  // "-m module/class" of Java.
  script = FileName(script);
  for (const std::string_view suffix : interpreter->suffixes) {
    if (!suffix.empty() && script.size() > suffix.size() && script.ends_with(suffix)) {
      script.remove_suffix(suffix.size());
      break;
    }
  }
  return Bounded(std::string(script));
}

ServiceNames ReadServiceNames(pid_t pid, std::string_view program) {
  ServiceNames names = {.declared = DeclaredService(ReadText(pid, "environ"))};
  if (InterpreterOf(program) != nullptr) names.script = ScriptOf(program, ReadText(pid, "cmdline"));
  return names;
}

}  // namespace offcpu
