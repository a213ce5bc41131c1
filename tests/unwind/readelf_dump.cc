#include "tests/unwind/readelf_dump.h"

#include <gtest/gtest.h>
#include <regex.h>

#include <optional>
#include <span>

namespace offcpu {
namespace {

// A pattern for whole lines.
class Pattern {
 public:
  explicit Pattern(const std::string& pattern) {
    EXPECT_EQ(regcomp(&compiled_, ("^(" + pattern + ")$").c_str(), REG_EXTENDED), 0) << pattern;
  }
  ~Pattern() { regfree(&compiled_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // The groups of the pattern, of which those that were not met are empty; empty if it is another line.
  std::vector<std::string> Match(const std::string& line) const {
    constexpr size_t kGroups = 8;
    regmatch_t at[kGroups];
    std::vector<std::string> groups;
    if (regexec(&compiled_, line.c_str(), kGroups, at, 0) != 0) return groups;
    for (const regmatch_t& m : std::span(at).subspan(2)) {
      groups.push_back(m.rm_so < 0 ? "" : line.substr(static_cast<size_t>(m.rm_so), m.rm_eo - m.rm_so));
    }
    return groups;
  }

 private:
  regex_t compiled_;
};

// Columns run into one another where a number is wide. (x) is what lies at x, c is the CFA; u: unchanged, f: where the
// header says, U: a flexible row has no rule.
struct Patterns {
  const Pattern row{R"( +([0-9a-f]{16})  (\(?[a-z][a-z0-9]*[+-][0-9]+\)?) *)"
                    R"((u|U|f|\(?[a-z][a-z0-9]*[+-][0-9]+\)?) *)"
                    R"((u|U|f|\(?[a-z][a-z0-9]*[+-][0-9]+\)?)(\[s\])? *)"};
  const Pattern undefined_row{" +([0-9a-f]{16})  RA undefined *"};
  const Pattern function{
      R"re( +func idx \[[0-9]+\]: pc = 0x([0-9a-f]+), size = ([0-9]+) bytes(, attr = "[FS]+")?(, pauth = B key)?)re"};
  const Pattern columns{R"( +STARTPC(\[m\])? +CFA +FP +RA *)"};
  const Pattern number{" +Num (FDEs|FREs): ([0-9]+)"};
  const Pattern other{
      "|Contents of the SFrame.*| +Header :| +Version: SFRAME_VERSION_3| +Flags:.*| +SFRAME_F.*| +CFA fixed.*"
      "| +Function Index :"};
};

uint64_t Hex(const std::string& digits) { return std::stoull(digits, nullptr, 16); }

ReadelfFunction FunctionOf(const std::vector<std::string>& groups) {
  ReadelfFunction function;
  function.begin = Hex(groups[0]);
  function.size = std::stoull(groups[1]);
  function.flexible = groups[2].find('F') != std::string::npos;
  function.signal = groups[2].find('S') != std::string::npos;
  function.key_b = !groups[3].empty();
  return function;
}

// A line among those of a function.
void AddTo(const Patterns& patterns, const std::string& line, ReadelfFunction* function) {
  std::vector<std::string> groups;
  if (!(groups = patterns.columns.Match(line)).empty()) {
    function->blocks = !groups[0].empty();
  } else if (!(groups = patterns.undefined_row.Match(line)).empty()) {
    function->rows.push_back({.start = Hex(groups[0]), .undefined = true});
  } else if (!(groups = patterns.row.Match(line)).empty()) {
    function->rows.push_back({.start = Hex(groups[0]),
                              .undefined = false,
                              .mangled = !groups[4].empty(),
                              .cfa = groups[1],
                              .fp = groups[2],
                              .ra = groups[3]});
  } else {
    EXPECT_TRUE(line.empty()) << "readelf says: " << line;
  }
}

std::string RegisterName(const Machine* machine, uint32_t reg) {
  const uint32_t sp = machine == &kAArch64 ? 31 : 7;
  const uint32_t fp = machine == &kAArch64 ? 29 : 6;
  return reg == sp ? "sp" : reg == fp ? "fp" : "r" + std::to_string(reg);
}

std::string Text(const Machine* machine, const SFrameRule& rule, const char* none) {
  if (rule.base == SFrameRule::Base::kNone) return none;
  const bool on_cfa = rule.base == SFrameRule::Base::kCfa;
  const std::string text =
      (on_cfa ? "c" : RegisterName(machine, rule.reg)) + (rule.offset < 0 ? "" : "+") + std::to_string(rule.offset);
  return rule.deref && !on_cfa ? "(" + text + ")" : text;
}

}  // namespace

ReadelfDump ParseReadelf(std::istream& text) {
  const Patterns patterns;
  ReadelfDump dump;
  for (std::string line; std::getline(text, line);) {
    if (line.find("SFRAME_F_FDE_SORTED") != std::string::npos) dump.sorted = true;
    if (std::vector<std::string> function = patterns.function.Match(line); !function.empty()) {
      dump.functions.push_back(FunctionOf(function));
    } else if (!dump.functions.empty()) {
      AddTo(patterns, line, &dump.functions.back());
    } else if (std::vector<std::string> number = patterns.number.Match(line); !number.empty()) {
      (number[0] == "FDEs" ? dump.functions_claimed : dump.rows_claimed) = std::stoull(number[1]);
    } else {
      EXPECT_FALSE(patterns.other.Match(line).empty()) << "readelf says: " << line;
    }
  }
  return dump;
}

ReadelfFunction AsReadelf(const SFrameSection& section, const SFrameFunction& function) {
  const SFrameHeader& header = section.header();
  ReadelfFunction result = {.begin = function.begin,
                            .size = function.size,
                            .flexible = function.flexible,
                            .signal = function.signal,
                            .blocks = function.block_size != 0,
                            .key_b = function.key_b};
  SFrameSection::Rows rows(section, function);
  while (std::optional<SFrameRow> row = rows.Next()) {
    ReadelfRow text = {.start = row->start + (result.blocks ? 0 : function.begin), .undefined = row->outermost};
    if (!row->outermost) {
      text.mangled = row->mangled_ra;
      text.cfa = Text(header.machine, row->cfa, "?");
      text.fp = Text(header.machine, row->fp, "u");
      text.ra = Text(header.machine, row->ra, "u");
      if (row->ra == SFrameRule{.base = SFrameRule::Base::kCfa, .deref = true, .reg = 0, .offset = header.fixed_ra}) {
        text.ra = "f";
      }
    }
    result.rows.push_back(text);
  }
  EXPECT_FALSE(rows.damaged());
  return result;
}

std::ostream& operator<<(std::ostream& out, const ReadelfFunction& function) {
  out << std::hex << function.begin << std::dec << " " << function.size << " flexible " << function.flexible
      << " signal " << function.signal << " blocks " << function.blocks << " key b " << function.key_b;
  for (const ReadelfRow& row : function.rows) {
    out << "\n  " << std::hex << row.start << std::dec << " " << row.undefined << row.mangled << " " << row.cfa << " "
        << row.fp << " " << row.ra;
  }
  return out;
}

}  // namespace offcpu
