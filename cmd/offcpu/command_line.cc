#include "offcpu/command_line.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "bytes/nearest_word.h"
#include "bytes/utf8.h"
#include "offcpu/fit_columns.h"

namespace offcpu {
namespace {

constexpr size_t kHelpColumns = 80;

CLI::Option* AddValue(CLI::App& app, const Flag& flag) {
  return std::visit(
      [&](auto* value) -> CLI::Option* {
        if constexpr (std::is_same_v<decltype(value), bool*>)
          return app.add_flag(flag.name, *value, flag.help);
        else
          return app.add_option(flag.name, *value, flag.help);
      },
      flag.value);
}

// As the parser's own, which say all digits of the largest number, and of no number that it is out of range.
CLI::Validator Between(int min, int max) {
  return CLI::Validator(
      [min, max](const std::string& text) -> std::string {
        uint64_t number = 0;
        const bool is_number = absl::SimpleAtoi(text, &number);
        if (is_number && number >= static_cast<uint64_t>(min) &&
            (max == INT_MAX || number <= static_cast<uint64_t>(max)))
          return "";
        const std::string_view digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
        if (digits.empty() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit))
          return absl::StrCat("'", text, "' is not a number");
        return max == INT_MAX ? absl::StrCat("must be ", min, " or more") : absl::StrCat("must be ", min, " to ", max);
      },
      "");
}

void AddFlag(CLI::App& app, const Flag& flag) {
  const FlagRules& rules = flag.rules;
  CLI::Option* option = AddValue(app, flag);
  if (!flag.type.empty()) option->type_name(flag.type);
  if (option->nonpositional()) option->allow_extra_args(false);  // in "-o FILE 5" the 5 is not another file
  if (!rules.one_of.empty()) option->check(CLI::IsMember(rules.one_of));
  if (rules.max != INT_MAX || rules.min != 0) option->check(Between(rules.min, rules.max));
  if (rules.is_required) option->required();
  if (rules.shows_default) option->capture_default_str();
  if (rules.separator != 0) option->delimiter(rules.separator);
  if (!rules.excludes.empty()) option->excludes(rules.excludes);
}

// What follows a lone "--" is a command of the user's, whatever it looks like.
std::vector<std::string> CutCommand(std::vector<std::string>* arguments, bool* has_command) {
  const auto separator = std::find(arguments->begin(), arguments->end(), "--");
  *has_command = separator != arguments->end();
  std::vector<std::string> command;
  if (*has_command) command.assign(separator + 1, arguments->end());
  arguments->erase(separator, arguments->end());
  return command;
}

// The long names that a verb's flags have: "--pid" of "-p,--pid".
std::vector<std::string> LongNames(const Verb& verb) {
  std::vector<std::string> names = {"--help"};
  for (const Flag& flag : verb.flags) {
    for (const absl::string_view name : absl::StrSplit(flag.name, ',')) {
      if (absl::StartsWith(name, "--")) names.emplace_back(name);
    }
  }
  return names;
}

bool TakesNoValue(const Verb& verb, const std::string& name) {
  return std::any_of(verb.flags.begin(), verb.flags.end(), [&name](const Flag& flag) {
    const std::vector<std::string> names = absl::StrSplit(flag.name, ',');
    return std::holds_alternative<bool*>(flag.value) && std::find(names.begin(), names.end(), name) != names.end();
  });
}

// "no option '--wakesr' (did you mean --wakers?)", "no verb 'recrod' (did you mean record?)".
std::string NotKnown(std::string_view what, const std::string& typed, const std::vector<std::string>& words) {
  return absl::StrCat("no ", std::string(what), " '", typed, "'", DidYouMean(typed, words));
}

// What is wrong with the words of a verb, in ours where the parser's say less.
std::string WrongWords(const CLI::ParseError& error, const Verb& verb) {
  // "The following arguments were not expected: 5 --wakesr"
  const std::string text = error.what();
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return text;
  const std::string words = text.substr(colon + 2);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    for (const absl::string_view word : absl::StrSplit(words, ' ')) {
      if (!absl::StartsWith(word, "-")) continue;
      return NotKnown("option", std::string(word.substr(0, word.find('='))), LongNames(verb));
    }
  }
  // "Could not convert: --pid = abc". What takes a value that is converted takes a number.
  const size_t equals = words.find(" = ");
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ConversionError) || equals == std::string::npos)
    return text;
  const std::string name = words.substr(0, equals);
  if (TakesNoValue(verb, name)) return absl::StrCat(name, " takes no value");
  return absl::StrCat(name, ": '", words.substr(equals + 3), "' is not a number");
}

std::vector<std::string> NamesOf(const std::vector<Verb>& verbs) {
  std::vector<std::string> names = {"help"};
  for (const Verb& verb : verbs) names.push_back(verb.name);
  return names;
}

// "help" is the program's own --help, "help VERB" the verb's.
void ReadHelp(const std::vector<Verb>& verbs, std::vector<std::string>* arguments) {
  if (arguments->empty() || arguments->front() != "help") return;
  arguments->erase(arguments->begin());
  const auto is_named = [arguments](const Verb& verb) { return verb.name == arguments->front(); };
  if (arguments->empty() || std::any_of(verbs.begin(), verbs.end(), is_named)) arguments->emplace_back("--help");
}

}  // namespace

int RunCommandLine(std::vector<std::string> arguments, const std::vector<Verb>& verbs) {
  CLI::App app("Shows where threads wait off the CPU: how long, and at which user and kernel stack.", "offcpu");
  app.set_version_flag("--version", "offcpu " OFFCPU_VERSION);
  app.require_subcommand(1);
  app.footer("offcpu VERB --help describes a verb.");
  for (const Verb& verb : verbs) {
    CLI::App* of_verb = app.add_subcommand(verb.name, verb.help);
    for (const Flag& flag : verb.flags) AddFlag(*of_verb, flag);
    of_verb->footer(verb.footer);
  }
  const auto chosen = [&] {
    return std::find_if(verbs.begin(), verbs.end(), [&app](const Verb& verb) { return app.got_subcommand(verb.name); });
  };
  if (arguments.empty()) {
    std::fputs(FitColumns(app.help(), kHelpColumns).c_str(), stderr);
    return kExitUsage;
  }
  ReadHelp(verbs, &arguments);
  bool has_command = false;
  std::vector<std::string> command = CutCommand(&arguments, &has_command);
  const std::string first = arguments.empty() ? "" : arguments.front();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
    if (has_command && command.empty()) throw CLI::ValidationError("no command follows --", 1);
    if (has_command && chosen()->command == nullptr) throw CLI::ValidationError("only record runs a command", 1);
  } catch (const CLI::CallForHelp&) {
    const bool is_written = std::fputs(FitColumns(app.help(), kHelpColumns).c_str(), stdout) >= 0;
    if (is_written && std::fflush(stdout) == 0) return kExitOk;
    std::fprintf(stderr, "offcpu: cannot write to standard output: %s\n", std::strerror(errno));
    return kExitFailed;
  } catch (const CLI::Success& success) {  // --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto verb = chosen();
    const bool is_verb = verb != verbs.end();
    const bool is_word = !first.empty() && first.front() != '-';
    const std::string what = is_verb   ? WrongWords(error, *verb)
                             : is_word ? NotKnown("verb", first, NamesOf(verbs))
                                       : error.what();
    std::fprintf(stderr, "offcpu: %s; see offcpu %s--help\n", Printable(what).c_str(),
                 is_verb ? absl::StrCat(verb->name, " ").c_str() : "");
    return kExitUsage;
  }
  if (has_command) *chosen()->command = std::move(command);
  return chosen()->run();
}

}  // namespace offcpu
