#include "offcpu/command_line.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <type_traits>
#include <utility>
#include <variant>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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

// As CLI::PositiveNumber, which says all digits of the largest number.
CLI::Validator AtLeast(int min) {
  return CLI::Validator(
      [min](const std::string& text) {
        uint64_t number = 0;
        return absl::SimpleAtoi(text, &number) && number >= static_cast<uint64_t>(min)
                   ? ""
                   : absl::StrCat("must be ", min, " or more");
      },
      "");
}

void AddFlag(CLI::App& app, const Flag& flag) {
  const FlagRules& rules = flag.rules;
  CLI::Option* option = AddValue(app, flag);
  if (!flag.type.empty()) option->type_name(flag.type);
  if (option->nonpositional()) option->allow_extra_args(false);  // in "-o FILE 5" the 5 is not another file
  if (!rules.one_of.empty()) option->check(CLI::IsMember(rules.one_of));
  if (rules.max != INT_MAX) option->check(CLI::Range(rules.min, rules.max));
  if (rules.max == INT_MAX && rules.min != 0) option->check(AtLeast(rules.min));
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

// Letters that are left out, too many, others, or exchanged with the next one: how many make the one word the other.
size_t Mistakes(const std::string& typed, const std::string& word) {
  std::vector<std::vector<size_t>> to(typed.size() + 1, std::vector<size_t>(word.size() + 1));
  for (size_t i = 0; i <= typed.size(); ++i) {
    for (size_t j = 0; j <= word.size(); ++j) {
      if (i == 0 || j == 0) {
        to[i][j] = i + j;
        continue;
      }
      const bool is_same = typed[i - 1] == word[j - 1];
      to[i][j] = std::min({to[i - 1][j] + 1, to[i][j - 1] + 1, to[i - 1][j - 1] + (is_same ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1];
      if (is_swap) to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
    }
  }
  return to[typed.size()][word.size()];
}

// What to say of a first word that is nearly a verb: "no verb 'recrod', the nearest is record"; else "".
std::string Suggestion(const std::string& typed, const std::vector<Verb>& verbs) {
  constexpr size_t kMaxTyped = 32;
  if (typed.empty() || typed.front() == '-' || typed.size() > kMaxTyped || verbs.empty()) return "";
  const auto mistakes = [&typed](const Verb& verb) { return Mistakes(typed, verb.name); };
  const auto nearest = std::min_element(verbs.begin(), verbs.end(),
                                        [&](const Verb& a, const Verb& b) { return mistakes(a) < mistakes(b); });
  const size_t count = mistakes(*nearest);
  return count == 0 || count > std::max<size_t>(1, nearest->name.size() / 3)
             ? ""
             : absl::StrCat("no verb '", typed, "', the nearest is ", nearest->name);
}

}  // namespace

int RunCommandLine(std::vector<std::string> arguments, const std::vector<Verb>& verbs) {
  CLI::App app("Shows where threads wait off the CPU: how long, and at which user and kernel stack.", "offcpu");
  app.set_version_flag("--version", "offcpu " OFFCPU_VERSION);
  app.require_subcommand(1);
  app.footer("offcpu VERB --help tells more of each.");
  for (const Verb& verb : verbs) {
    CLI::App* of_verb = app.add_subcommand(verb.name, verb.help);
    for (const Flag& flag : verb.flags) AddFlag(*of_verb, flag);
    of_verb->footer(verb.footer);
  }
  const auto chosen = [&] {
    return std::find_if(verbs.begin(), verbs.end(), [&app](const Verb& verb) { return app.got_subcommand(verb.name); });
  };
  bool has_command = false;
  std::vector<std::string> command = CutCommand(&arguments, &has_command);
  const std::string suggestion = arguments.empty() ? "" : Suggestion(arguments.front(), verbs);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
    if (has_command && command.empty()) throw CLI::ValidationError("nothing follows --", 1);
    if (has_command && chosen()->command == nullptr) throw CLI::ValidationError("only record runs a command", 1);
  } catch (const CLI::CallForHelp&) {
    std::fputs(FitColumns(app.help(), kHelpColumns).c_str(), stdout);
    return 0;
  } catch (const CLI::Success& success) {  // --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const std::string verb = chosen() != verbs.end() ? chosen()->name + " " : "";
    const std::string what = verb.empty() && !suggestion.empty() ? Printable(suggestion) : error.what();
    std::fprintf(stderr, "offcpu: %s; see offcpu %s--help\n", what.c_str(), verb.c_str());
    return kExitUsage;
  }
  if (has_command) *chosen()->command = std::move(command);
  return chosen()->run();
}

}  // namespace offcpu
