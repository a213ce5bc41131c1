#include "unwind/sframe_dump.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace offcpu {
namespace {

std::string RegisterName(const Machine* machine, uint32_t reg) {
  static constexpr absl::string_view kAmd64[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                                 "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  if (machine == &kX86_64) return reg < 16 ? std::string(kAmd64[reg]) : absl::StrCat("reg", reg);
  return reg == 31 ? "sp" : absl::StrCat("x", reg);
}

// rbp-8, *(cfa-16), or - if there is no rule.
std::string Text(const Machine* machine, const SFrameRule& rule) {
  if (rule.base == SFrameRule::Base::kNone) return "-";
  const std::string base = rule.base == SFrameRule::Base::kCfa ? "cfa" : RegisterName(machine, rule.reg);
  const std::string value = absl::StrFormat("%s%+d", base, rule.offset);
  return rule.deref ? absl::StrCat("*(", value, ")") : value;
}

std::string Text(uint32_t number, const SFrameFunction& function) {
  std::string text = absl::StrFormat("function %d: 0x%x, %d bytes", number, function.begin, function.size);
  if (function.damaged) return absl::StrCat(text, ", damaged");
  absl::StrAppend(&text, ", ", function.rows, " rows");
  if (function.block_size != 0) absl::StrAppend(&text, ", blocks of ", function.block_size);
  if (function.flexible) absl::StrAppend(&text, ", flexible");
  if (function.signal) absl::StrAppend(&text, ", signal");
  if (function.key_b) absl::StrAppend(&text, ", key b");
  return text;
}

// A row of a function with blocks holds in each of them: its start is no address.
std::string Text(const Machine* machine, const SFrameFunction& function, const SFrameRow& row) {
  std::string text = function.block_size != 0 ? absl::StrFormat("  +0x%x", row.start)
                                              : absl::StrFormat("  0x%x", function.begin + row.start);
  if (row.outermost) return absl::StrCat(text, " outermost");
  absl::StrAppend(&text, " cfa ", Text(machine, row.cfa), " fp ", Text(machine, row.fp), " ra ", Text(machine, row.ra));
  if (row.mangled_ra) absl::StrAppend(&text, " mangled");
  return text;
}

}  // namespace

void DumpSFrame(const SFrameTable& table, absl::FunctionRef<void(std::string_view)> line) {
  for (const SFrameSection& section : table.sections()) {
    const SFrameHeader& header = section.header();
    line(absl::StrFormat("SFrame V3, %s, %d functions, %d rows%s", header.machine == &kX86_64 ? "x86-64" : "aarch64",
                         header.functions, header.rows, header.sorted ? ", sorted" : ""));
    section.ForEach([&](uint32_t number, const SFrameFunction& function) {
      line(Text(number, function));
      SFrameSection::Rows rows(section, function);
      while (std::optional<SFrameRow> row = rows.Next()) line(Text(header.machine, function, *row));
      if (rows.damaged() && !function.damaged) line("  damaged");
    });
  }
}

}  // namespace offcpu
