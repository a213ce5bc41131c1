#include "tests/unwind/readelf_dump.h"

#include <gtest/gtest.h>

#include <optional>
#include <regex>

namespace offcpu {
namespace {

// Columns run into one another where a number is wide. (x) is what lies at x, c is the CFA; u: unchanged, f: where the
// header says, U: a flexible row has no rule.
const std::regex kRow(R"( +([0-9a-f]{16})  (\(?(?:sp|fp|r\d+)[+-]\d+\)?) *)"
                      R"((u|U|f|\(?(?:c|sp|fp|r\d+)[+-]\d+\)?) *)"
                      R"((u|U|f|\(?(?:c|sp|fp|r\d+)[+-]\d+\)?)(\[s\])? *)");
const std::regex kUndefinedRow(R"( +([0-9a-f]{16})  RA undefined *)");
const std::regex kFunction(R"re( +func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (\d+) bytes)re"
                           R"re((?:, attr = "([FS]+)")?(, pauth = B key)?)re");
const std::regex kColumns(R"( +STARTPC(\[m\])? +CFA +FP +RA *)");
const std::regex kNumber(R"( +Num (FDEs|FREs): (\d+))");
const std::regex kOther(
    R"(|Contents of the SFrame.*| +Header :| +Version: SFRAME_VERSION_3| +Flags:.*| +SFRAME_F.*| +CFA fixed.*| +Function Index :)");

uint64_t Hex(const std::string& digits) { return std::stoull(digits, nullptr, 16); }

ReadelfFunction FunctionOf(const std::smatch& match) {
  ReadelfFunction function;
  function.begin = Hex(match[1]);
  function.size = std::stoull(match[2]);
  function.flexible = match[3].str().find('F') != std::string::npos;
  function.signal = match[3].str().find('S') != std::string::npos;
  function.key_b = match[4].matched;
  return function;
}

std::string RegisterName(SFrameAbi abi, uint32_t reg) {
  const bool is_aarch64 = abi == SFrameAbi::kAArch64Big || abi == SFrameAbi::kAArch64Little;
  const uint32_t sp = is_aarch64 ? 31 : abi == SFrameAbi::kAmd64 ? 7 : 15;
  const uint32_t fp = is_aarch64 ? 29 : abi == SFrameAbi::kAmd64 ? 6 : 11;
  return reg == sp ? "sp" : reg == fp ? "fp" : "r" + std::to_string(reg);
}

std::string Text(SFrameAbi abi, const SFrameRule& rule, const char* none) {
  if (rule.base == SFrameRule::Base::kNone) return none;
  const bool on_cfa = rule.base == SFrameRule::Base::kCfa;
  const std::string text =
      (on_cfa ? "c" : RegisterName(abi, rule.reg)) + (rule.offset < 0 ? "" : "+") + std::to_string(rule.offset);
  return rule.deref && !on_cfa ? "(" + text + ")" : text;
}

}  // namespace

ReadelfDump ParseReadelf(std::istream& text) {
  ReadelfDump dump;
  std::smatch match;
  for (std::string line; std::getline(text, line);) {
    if (line.find("SFRAME_F_FDE_SORTED") != std::string::npos) dump.sorted = true;
    if (std::regex_match(line, match, kFunction)) {
      dump.functions.push_back(FunctionOf(match));
    } else if (std::regex_match(line, match, kNumber)) {
      (match[1] == "FDEs" ? dump.functions_claimed : dump.rows_claimed) = std::stoull(match[2]);
    } else if (dump.functions.empty() || std::regex_match(line, kOther)) {
      EXPECT_TRUE(std::regex_match(line, kOther)) << line;
    } else if (std::regex_match(line, match, kColumns)) {
      dump.functions.back().blocks = match[1].matched;
    } else if (std::regex_match(line, match, kUndefinedRow)) {
      dump.functions.back().rows.push_back({.start = Hex(match[1]), .undefined = true});
    } else if (std::regex_match(line, match, kRow)) {
      dump.functions.back().rows.push_back({.start = Hex(match[1]),
                                            .undefined = false,
                                            .mangled = match[5].matched,
                                            .cfa = match[2],
                                            .fp = match[3],
                                            .ra = match[4]});
    } else {
      ADD_FAILURE() << "readelf says: " << line;
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
      text.cfa = Text(header.abi, row->cfa, "?");
      text.fp = Text(header.abi, row->fp, "u");
      text.ra = Text(header.abi, row->ra, "u");
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
