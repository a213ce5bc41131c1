// What the programs say that they take is what their manual pages and the completions of the shells say, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "labels/row_labels.h"
#include "labels/row_value.h"
#include "tests/cmd/shell_output.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;
using Flags = std::set<std::string>;

const std::string kSource = OFFCPU_SOURCE_DIR;
const std::string kCompletions = kSource + "/packaging/completions/";

std::string HelpOf(const std::string& program, const std::string& verb = "") {
  // They are not to be traced, which a search for leaks would do.
  return OutputOf("ASAN_OPTIONS=detect_leaks=0 " OFFCPU_BIN_DIR "/" + program + " " + verb + " --help");
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// All that the first group of the pattern matches.
Flags AllOf(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Flags all;
  for (std::sregex_iterator it(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it)
    all.insert((*it)[1]);
  return all;
}

// The flags of the lines "  -p,--pid PID ...   What it does".
Flags FlagsOf(const std::string& help) {
  const std::regex line_of_flag("^ {1,6}(-[a-z])?,? ?(--[a-z-]+)?.*");
  Flags flags;
  for (const std::string& line : LinesOf(help)) {
    std::smatch found;
    if (!std::regex_match(line, found, line_of_flag)) continue;
    for (const size_t group : {1, 2}) {
      if (found[group].matched) flags.insert(found[group]);
    }
  }
  return flags;
}

// What offcpu takes by verb; "" is none.
const std::map<std::string, Flags>& Verbs() {
  static const auto* verbs = [] {
    const std::string help = HelpOf("offcpu");
    auto* all = new std::map<std::string, Flags>{{"", FlagsOf(help)}};
    bool is_verb = false;
    for (const std::string& line : LinesOf(help)) {
      std::smatch found;
      if (line.empty()) is_verb = false;
      if (is_verb && std::regex_match(line, found, std::regex("  ([a-z]+) .*")))
        (*all)[found[1]] = FlagsOf(HelpOf("offcpu", found[1]));
      if (line == "Subcommands:" || line == "SUBCOMMANDS:") is_verb = true;
    }
    return all;
  }();
  return *verbs;
}

Flags AllFlags() {
  Flags all;
  for (const auto& [verb, flags] : Verbs()) all.insert(flags.begin(), flags.end());
  return all;
}

Flags Long(const Flags& flags) {
  Flags some;
  for (const std::string& flag : flags) {
    if (flag.starts_with("--")) some.insert(flag);
  }
  return some;
}

TEST(Help, EachVerbHasExamplesAndSaysHowItExits) {
  EXPECT_EQ(Verbs().size(), 10u) << "or this test does not understand the help";
  EXPECT_THAT(Verbs().at("record"), testing::IsSupersetOf({"-p", "--pid", "--min-wait", "--help"}));
  for (const auto& [verb, flags] : Verbs()) {
    if (verb.empty()) continue;
    const std::string help = HelpOf("offcpu", verb);
    EXPECT_THAT(help, HasSubstr("Examples:\n  offcpu " + verb)) << verb;
    EXPECT_THAT(help, HasSubstr("\nExit status: 0 ")) << verb;
  }
}

TEST(Help, FitsATerminal) {
  std::vector<std::string> all = {HelpOf("offcpud")};
  for (const auto& [verb, flags] : Verbs()) all.push_back(HelpOf("offcpu", verb));
  for (const std::string& help : all)
    for (const std::string& line : LinesOf(help)) EXPECT_LE(line.size(), 80u) << line;
}

std::string ManualPage(const std::string& name) {
  return std::regex_replace(ReadFile(kSource + "/docs/" + name), std::regex("\\\\-"), "-");
}

// The page that describes a verb; that of "" also describes the flags that several verbs share.
const std::map<std::string, std::string> kPages = {
    {"", "offcpu.1"},
    {"record", "offcpu-record.1"},
    {"top", "offcpu-top.1"},
    {"stacks", "offcpu-top.1"},
    {"report", "offcpu-report.1"},
    {"diff", "offcpu-report.1"},
    {"dump", "offcpu-report.1"},
    {"doctor", "offcpu-doctor.1"},
    {"status", "offcpu-doctor.1"},
    {"sframe", "offcpu-doctor.1"},
};

TEST(Help, ManualPagesHaveEachFlagAndNoOther) {
  const std::string shared = ManualPage("offcpu.1");
  const Flags all = AllFlags();
  for (const auto& [verb, flags] : Verbs()) {
    ASSERT_EQ(kPages.count(verb), 1u) << verb << " has no manual page";
    const std::string page = ManualPage(kPages.at(verb));
    if (!verb.empty()) {
      EXPECT_THAT(page, HasSubstr("\n.B offcpu " + verb + "\n"));
      EXPECT_THAT(shared, HasSubstr("\n.B " + verb + "\n"));
    }
    for (const std::string& flag : flags)
      EXPECT_TRUE(std::regex_search(page + shared, std::regex("[ \"]" + flag + "[ \n]"))) << verb << " " << flag;
    for (const std::string& flag : AllOf(page, "(--[a-z][a-z-]*)")) EXPECT_EQ(all.count(flag), 1u) << flag;
  }

  const Flags daemon = FlagsOf(HelpOf("offcpud"));
  EXPECT_EQ(AllOf(ManualPage("offcpud.8"), "(--[a-z][a-z-]*)"), Long(daemon));
}

// What bash offers behind `words`.
Flags OfBash(const std::string& file, const std::string& words) {
  const std::string script = "source " + kCompletions + "bash/" + file + "; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _" + file +
                             "; printf \"%s\\n\" \"${COMPREPLY[@]}\"";
  const std::vector<std::string> lines = LinesOf(OutputOf("bash -c '" + script + "'"));
  Flags offered(lines.begin(), lines.end());
  offered.erase("");
  return offered;
}

TEST(Completion, OfBash) {
  for (const auto& [verb, flags] : Verbs()) {
    EXPECT_EQ(OfBash("offcpu", "offcpu " + verb + " -"), flags) << verb;
    if (!verb.empty()) {
      EXPECT_EQ(OfBash("offcpu", "offcpu \"\"").count(verb), 1u) << verb;
    }
  }
  EXPECT_EQ(OfBash("offcpu", "offcpu \"\"").size(), Verbs().size() - 1);
  EXPECT_EQ(OfBash("offcpud", "offcpud --"), Long(FlagsOf(HelpOf("offcpud"))));
  EXPECT_EQ(OfBash("offcpu", "offcpu top --value b"), Flags({"blocked"}));
  EXPECT_EQ(OfBash("offcpu", "offcpu top --value = b"), Flags({"blocked"}));
  EXPECT_EQ(OfBash("offcpu", "offcpu top --value =").count("blocked"), 1u);
  EXPECT_EQ(OfBash("offcpu", "offcpu record --state \"\"").size(), 5u);
  EXPECT_EQ(OfBash("offcpu", "offcpu record --state disk,sleeping,p"), Flags({"disk,sleeping,preempted"}));
  EXPECT_EQ(OfBash("offcpu", "offcpu record --unwind = fp,"), Flags({"fp,sframe", "fp,eh_frame"})) << "each once";
  EXPECT_EQ(OfBash("offcpu", "offcpu stacks \"\"").count("1"), 1u) << "numbers of processes";
  EXPECT_EQ(OfBash("offcpu", "offcpu record -- tru").count("true"), 1u) << "a command";
}

// A name of a file is text, whatever it looks like.
TEST(Completion, OfBashRunsNothing) {
  char directory[] = "/tmp/offcpu_completion_XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string file = std::string(directory) + "/a $(touch made).pb.gz";
  std::ofstream(file).put('x');
  const std::string path = directory;
  EXPECT_EQ(OfBash("offcpu", "offcpu report " + path + "/"), Flags({file}));
  EXPECT_FALSE(std::ifstream("made"));
  EXPECT_EQ(OutputOf("rm -r " + path), "");
}

// The flags that a file for fish offers after the verb.
Flags OfFish(const std::string& file, const std::string& verb) {
  Flags offered;
  for (const std::string& line : LinesOf(ReadFile(kCompletions + "fish/" + file))) {
    std::smatch condition;
    const bool is_conditional = std::regex_search(line, condition, std::regex("_from ([a-z ]+)'"));
    const bool is_for_no_verb = line.find("__fish_use_subcommand") != std::string::npos;
    const std::string verbs = " " + condition.str(1) + " ";
    if (is_for_no_verb ? !verb.empty() : is_conditional && verbs.find(" " + verb + " ") == std::string::npos) continue;
    for (const std::string& name : AllOf(line, " -l ([a-z-]+)")) offered.insert("--" + name);
    for (const std::string& name : AllOf(line, " -s ([a-z])")) offered.insert("-" + name);
  }
  return offered;
}

TEST(Completion, OfFish) {
  const std::string file = ReadFile(kCompletions + "fish/offcpu.fish");
  for (const auto& [verb, flags] : Verbs()) {
    EXPECT_EQ(OfFish("offcpu.fish", verb), flags) << verb;
    if (!verb.empty()) {
      EXPECT_THAT(file, HasSubstr(" -a " + verb + " -d ")) << verb;
    }
  }
  EXPECT_EQ(OfFish("offcpud.fish", ""), FlagsOf(HelpOf("offcpud")));
}

// The arrays that a function for zsh defines: on a line each, or on some up to one with their end.
std::map<std::string, std::string> ZshArrays(const std::string& file) {
  std::map<std::string, std::string> arrays;
  std::string open;
  for (const std::string& line : LinesOf(file)) {
    std::smatch begin;
    if (std::regex_match(line, begin, std::regex("  local -a ([a-z]+)=\\((.*)"))) {
      arrays[begin[1]] = begin[2];
      open = line.back() == ')' ? "" : begin[1].str();
    } else if (line == "  )") {
      open.clear();
    } else if (!open.empty()) {
      arrays[open] += line;
    }
  }
  return arrays;
}

// The flags in a part of it.
Flags OfZsh(const std::map<std::string, std::string>& arrays, const std::string& part) {
  Flags flags = AllOf(part, "[{(),'*](--?[a-z][a-z-]*)");
  for (const std::string& name : AllOf(part, "\\$([a-z]+)")) {
    const auto array = arrays.find(name);
    if (array != arrays.end()) flags.merge(OfZsh(arrays, array->second));
  }
  return flags;
}

TEST(Completion, OfZsh) {
  const std::string file = ReadFile(kCompletions + "zsh/_offcpu");
  for (const auto& [verb, flags] : Verbs()) {
    const std::string begin = verb.empty() ? "\n  _arguments -C" : "\n        " + verb + ")";
    const size_t at = file.find(begin);
    ASSERT_NE(at, std::string::npos) << verb;
    const size_t end = file.find(verb.empty() ? "\n" : ";;", at + 1);
    EXPECT_EQ(OfZsh(ZshArrays(file), file.substr(at, end - at)), flags) << verb;
    if (!verb.empty()) {
      EXPECT_THAT(file, HasSubstr("\n    '" + verb + ":")) << verb;
    }
  }
  EXPECT_EQ(OfZsh({}, ReadFile(kCompletions + "zsh/_offcpud")), FlagsOf(HelpOf("offcpud")));
}

// The words of each list in a file for a shell that the first group of the pattern finds.
std::set<Flags> ListsOf(const std::string& file, const std::string& pattern) {
  std::set<Flags> lists;
  for (const std::string& list : AllOf(ReadFile(kCompletions + file), pattern)) lists.insert(AllOf(list, "([^ ]+)"));
  return lists;
}

// What the manual page says of a flag.
std::string OnFlag(const std::string& flag) {
  const std::string page = ManualPage("offcpu.1");
  const size_t at = page.find("\n.BR " + flag + " ");
  return at == std::string::npos ? "" : page.substr(at, page.find("\n.TP", at) - at);
}

TEST(Completion, OffersTheValuesThereAre) {
  const std::vector<std::string> names = RowValueNames(true);
  const std::vector<std::string> without_samples = RowValueNames(false);
  const Flags all(names.begin(), names.end());
  const std::set<Flags> lists = {all, {without_samples.begin(), without_samples.end()}};
  EXPECT_EQ(OfBash("offcpu", "offcpu report --value \"\""), all);
  EXPECT_EQ(ListsOf("fish/offcpu.fish", " -l value -xa '([^']+)'"), lists);
  EXPECT_EQ(ListsOf("zsh/_offcpu", "--value\\[[^:]*:value:\\(([^)]+)"), lists);
  for (const std::string& value : all)
    EXPECT_TRUE(std::regex_search(OnFlag("--value"), std::regex("[ \n]" + value + "[ ,.]"))) << value;
}

TEST(Completion, OffersTheLabelsThereAre) {
  Flags labels;
  for (const RowLabelInfo& info : kRowLabels) labels.emplace(info.name);
  labels.insert({"command", "thread"});  // no labels, but tables all the same
  EXPECT_EQ(OfBash("offcpu", "offcpu report --by \"\""), labels);
  EXPECT_EQ(ListsOf("fish/offcpu.fish", " -l by -xa '([^']+)'"), std::set<Flags>{labels});
  EXPECT_EQ(ListsOf("zsh/_offcpu", "--by\\[[^:]*:label:\\(([^)]+)"), std::set<Flags>{labels});
  for (const std::string& label : labels)
    EXPECT_TRUE(std::regex_search(OnFlag("--by"), std::regex("[ \n]" + label + "[ ,.]"))) << label;
}

}  // namespace
}  // namespace offcpu
