#include "tests/unwind/sframe_compare.h"

#include <gtest/gtest.h>

#include <memory>

#include "unwind/eh_frame.h"
#include "unwind/sframe.h"

namespace offcpu {

namespace {

// A padding word stands for a rule that there is not: the fixed one, if the header has one.
void ReplacePadding(const SFrameHeader& header, std::vector<ReadelfFunction>& functions) {
  for (ReadelfFunction& function : functions) {
    for (ReadelfRow& row : function.rows) {
      if (row.ra == "U") row.ra = header.fixed_ra != 0 ? "f" : "u";
    }
  }
}

}  // namespace

std::vector<ReadelfFunction> FunctionsOf(const SFrameSection& section) {
  std::vector<ReadelfFunction> functions;
  section.ForEach([&](uint32_t, const SFrameFunction& function) {
    EXPECT_FALSE(function.damaged);
    functions.push_back(AsReadelf(section, function));
  });
  return functions;
}

void Unlink(std::vector<ReadelfFunction>& functions) {
  for (ReadelfFunction& function : functions) {
    for (ReadelfRow& row : function.rows) row.start -= function.blocks ? 0 : function.begin;
    function.begin = 0;
  }
}

size_t CompareWithReadelf(const SFrameObject& object, std::istream& text) {
  ReadelfDump dump = ParseReadelf(text);
  absl::StatusOr<SFrameSection> section = SFrameSection::Parse(object.table.bytes, object.table.address);
  EXPECT_TRUE(section.ok()) << section.status();
  if (!section.ok()) return 0;
  EXPECT_EQ(section->header().functions, dump.functions_claimed);
  EXPECT_EQ(section->header().rows, dump.rows_claimed);
  EXPECT_EQ(section->header().sorted, dump.sorted);
  std::vector<ReadelfFunction> ours = FunctionsOf(*section);
  ReplacePadding(section->header(), dump.functions);
  if (object.relocatable) {
    Unlink(ours);
    Unlink(dump.functions);
  }
  EXPECT_EQ(ours.size(), dump.functions.size());
  size_t rows = 0;
  for (size_t i = 0; i < ours.size() && i < dump.functions.size(); ++i) {
    EXPECT_EQ(ours[i], dump.functions[i]) << "function " << i;
    rows += ours[i].rows.size();
  }
  EXPECT_EQ(rows, dump.rows_claimed);
  return rows;
}

size_t CompareWithEhFrame(const SFrameObject& object) {
  auto opened = SFrameTable::Open(object.table, object.code, kX86_64);
  EXPECT_TRUE(opened.ok()) << opened.status();
  if (!opened.ok()) return 0;
  SFrameTable& table = **opened;
  std::unique_ptr<EhFrameTable> eh_frame = EhFrameTable::Open(object.eh_frame, kX86_64);
  EXPECT_NE(eh_frame, nullptr);
  size_t both = 0;
  table.sections()[0].ForEach([&](uint32_t, const SFrameFunction& function) {
    for (uint64_t address = function.begin; address - function.begin < function.size;) {
      UnwindRow ours;
      UnwindRow theirs;
      const bool found = table.Find(address, &ours) == FindOutcome::kFound;
      if (found && eh_frame->Find(address, &theirs) == FindOutcome::kFound) {
        ++both;
        EXPECT_EQ(ours.ra, theirs.ra) << std::hex << address;
        if (ours.ra.place == Place::kUndefined) theirs.cfa = ours.cfa, theirs.fp = ours.fp;  // nobody needs them
        EXPECT_EQ(ours.cfa, theirs.cfa) << std::hex << address;
        EXPECT_EQ(ours.fp, theirs.fp) << std::hex << address;
        EXPECT_EQ(ours.signal, theirs.signal) << std::hex << address;
      }
      address = found ? ours.end : address + 1;
    }
  });
  EXPECT_EQ(table.bad_entries(), 0u);
  return both;
}

}  // namespace offcpu
