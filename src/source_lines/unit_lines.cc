#include "source_lines/unit_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace offcpu {
namespace {

constexpr int kMaxDepth = 200;  // of entries in entries

using Indices = std::vector<uint32_t>;  // of addresses, ascending

std::string_view View(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

uint32_t Number(int number) { return number > 0 ? static_cast<uint32_t>(number) : 0; }

uint32_t NumberOf(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(die, attribute, &found), &value) != 0) return 0;
  return value <= INT32_MAX ? static_cast<uint32_t>(value) : 0;
}

// As linkers know it: the name in the source lacks what the function is in.
std::string_view NameOf(Dwarf_Die* die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    const char* name = dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
    if (name != nullptr && *name != '\0') return name;
  }
  return View(dwarf_diename(die));
}

// The rows of a unit's line table, sorted by address. What a linker has thrown away begins at address 0 in it, and its
// rows lie between those of others if it is so long that it reaches them: then the table is not used.
class LineTable {
 public:
  // `first`: the lowest address that has code of the unit.
  LineTable(Dwarf_Die* unit, uint64_t first) {
    if (dwarf_getsrclines(unit, &lines_, &count_) != 0) count_ = 0;
    if (count_ == 0 || AddressOf(0) != 0) return;
    const size_t begin = CountBefore(first);
    if (begin != 0 && !IsEnd(begin - 1)) count_ = 0;
  }

  // Null: there is none.
  Dwarf_Line* Find(uint64_t address) const {
    const size_t after = CountBefore(address + 1);
    return after == 0 || IsEnd(after - 1) ? nullptr : dwarf_onesrcline(lines_, after - 1);
  }

 private:
  uint64_t AddressOf(size_t index) const {
    Dwarf_Addr address = 0;
    dwarf_lineaddr(dwarf_onesrcline(lines_, index), &address);
    return address;
  }
  bool IsEnd(size_t index) const {
    bool is_end = true;
    dwarf_lineendsequence(dwarf_onesrcline(lines_, index), &is_end);
    return is_end;
  }
  // Rows at lower addresses.
  size_t CountBefore(uint64_t address) const {
    size_t begin = 0;
    size_t end = count_;
    while (begin < end) {
      const size_t middle = begin + (end - begin) / 2;
      if (AddressOf(middle) < address) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }

  Dwarf_Lines* lines_ = nullptr;
  size_t count_ = 0;
};

// The entries of functions that each address lies in.
class UnitWalk {
 public:
  UnitWalk(std::span<const uint64_t> addresses, EntryBudget& budget)
      : addresses_(addresses), budget_(budget), chains_(addresses.size()) {}

  void Walk(Dwarf_Die* unit) {
    // Only compilers of some languages put functions into types and into each other. To look there takes longer.
    const int language = dwarf_srclang(unit);
    in_types_ = language == DW_LANG_Rust;
    FindFunctions(unit, Missing(), 0);
    const Indices missing = Missing();
    if (missing.empty()) return;
    in_types_ = in_functions_ = true;
    FindFunctions(unit, missing, 0);
  }

  // Outermost first.
  std::vector<Dwarf_Die>& chain(size_t index) { return chains_[index]; }

 private:
  Indices Missing() const {
    Indices missing;
    for (uint32_t i = 0; i < chains_.size(); ++i) {
      if (chains_[i].empty()) missing.push_back(i);
    }
    return missing;
  }

  // Those that the ranges of the entry cover.
  Indices Covered(Dwarf_Die* die, const Indices& of) const {
    Indices covered;
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0 && budget_.Take();) {
      if (!IsLinked(begin, end)) continue;
      const auto is_before = [this](uint32_t index, uint64_t address) { return addresses_[index] < address; };
      for (auto it = std::lower_bound(of.begin(), of.end(), begin, is_before); it != of.end() && addresses_[*it] < end;
           ++it) {
        covered.push_back(*it);
      }
    }
    std::sort(covered.begin(), covered.end());
    covered.erase(std::unique(covered.begin(), covered.end()), covered.end());
    return covered;
  }

  template <typename Visit>
  void ForEachChild(Dwarf_Die* parent, int depth, Visit visit) {
    Dwarf_Die child;
    if (depth > kMaxDepth || dwarf_child(parent, &child) != 0) return;
    do {
      if (!budget_.Take()) return;
      visit(&child);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  void FindFunctions(Dwarf_Die* parent, const Indices& wanted, int depth) {
    ForEachChild(parent, depth, [&](Dwarf_Die* die) {
      switch (dwarf_tag(die)) {
        case DW_TAG_subprogram:
          return EnterFunction(die, wanted, depth);
        case DW_TAG_namespace:
        case DW_TAG_module:
          return FindFunctions(die, wanted, depth + 1);
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
        case DW_TAG_enumeration_type:
          if (in_types_) FindFunctions(die, wanted, depth + 1);
          return;
        case DW_TAG_lexical_block:
        case DW_TAG_inlined_subroutine:
          if (in_functions_) FindFunctions(die, wanted, depth + 1);
          return;
        default:
          return;
      }
    });
  }

  void EnterFunction(Dwarf_Die* die, const Indices& wanted, int depth) {
    Indices covered = Covered(die, wanted);
    // Where a linker has folded equal functions into one, the first is as good as the others.
    std::erase_if(covered, [this](uint32_t index) { return !chains_[index].empty(); });
    for (const uint32_t index : covered) chains_[index].push_back(*die);
    if (!covered.empty()) FindInlined(die, covered, 1, depth + 1);
    if (in_functions_) FindFunctions(die, wanted, depth + 1);
  }

  // `level`: how many functions the addresses are known to lie in.
  void FindInlined(Dwarf_Die* parent, const Indices& inside, size_t level, int depth) {
    ForEachChild(parent, depth, [&](Dwarf_Die* die) {
      const int tag = dwarf_tag(die);
      if (tag == DW_TAG_inlined_subroutine) {
        Indices covered = Covered(die, inside);
        std::erase_if(covered, [&](uint32_t index) { return chains_[index].size() != level; });
        for (const uint32_t index : covered) chains_[index].push_back(*die);
        if (!covered.empty()) FindInlined(die, covered, level + 1, depth + 1);
      } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
                 tag == DW_TAG_with_stmt) {
        // Its own ranges may lack those of what was inlined there.
        FindInlined(die, inside, level, depth + 1);
      }
    });
  }

  const std::span<const uint64_t> addresses_;
  EntryBudget& budget_;
  std::vector<std::vector<Dwarf_Die>> chains_;
  bool in_types_ = false;
  bool in_functions_ = false;
};

// Makes chains of what was found. Paths are as the compiler has recorded them, below the directory that it ran in.
class ChainMaker {
 public:
  explicit ChainMaker(std::set<std::string, std::less<>>& paths) : paths_(paths) {}

  // `functions`: outermost first; `unit`: whose line table has the row.
  LineChain ChainOf(std::vector<Dwarf_Die>& functions, Dwarf_Die* unit, Dwarf_Line* row) {
    LineChain chain;
    if (functions.size() > kMaxInlined) return chain;
    SourceLine place = PlaceOf(unit, row);
    for (auto die = functions.rbegin(); die != functions.rend(); ++die) {
      AddFunction(&*die, &place);
      chain.push_back(place);
      place = CallOf(&*die);
    }
    if (functions.empty() && !place.file.empty()) chain.push_back(place);
    return chain;
  }

 private:
  std::string_view PathOf(Dwarf_Die* unit, const char* file) {
    Dwarf_Attribute attribute;
    if (file == nullptr || *file == '/') return View(file);
    const std::string_view directory = View(dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute)));
    if (directory.empty()) return file;
    return *paths_.insert(std::string(directory) + "/" + file).first;
  }

  // The file that the attribute numbers. libdw's own dwarf_decl_file ends the process where the unit is split.
  std::string_view FileOf(Dwarf_Attribute* attribute) {
    Dwarf_Word number = 0;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (attribute == nullptr || dwarf_formudata(attribute, &number) != 0) return {};
    if (dwarf_cu_info(attribute->cu, nullptr, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) != 0) return {};
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count) return {};
    return PathOf(&unit, dwarf_filesrc(files, number, nullptr, nullptr));
  }

  // Where the function of the entry was inlined; of what was not inlined, nothing.
  SourceLine CallOf(Dwarf_Die* die) {
    Dwarf_Attribute file;
    return {.file = FileOf(dwarf_attr(die, DW_AT_call_file, &file)),
            .line = NumberOf(die, DW_AT_call_line),
            .column = NumberOf(die, DW_AT_call_column)};
  }

  SourceLine PlaceOf(Dwarf_Die* unit, Dwarf_Line* row) {
    int line = 0;
    int column = 0;
    if (row == nullptr) return {};
    dwarf_lineno(row, &line);
    dwarf_linecol(row, &column);
    return {.file = PathOf(unit, dwarf_linesrc(row, nullptr, nullptr)), .line = Number(line), .column = Number(column)};
  }

  void AddFunction(Dwarf_Die* die, SourceLine* line) {
    int start = 0;
    Dwarf_Attribute of_file;
    line->function = NameOf(die);
    const std::string_view file = FileOf(dwarf_attr_integrate(die, DW_AT_decl_file, &of_file));
    if (line->file.empty()) line->file = file;
    if (file == line->file && dwarf_decl_line(die, &start) == 0) line->start_line = Number(start);
  }

  std::set<std::string, std::less<>>& paths_;
};

// The lowest address of code that is linked.
std::optional<uint64_t> FirstCode(Dwarf_Die* unit, EntryBudget& budget) {
  std::optional<uint64_t> first;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0 && budget.Take();) {
    if (IsLinked(begin, end)) first = std::min<uint64_t>(first.value_or(begin), begin);
  }
  return first;
}

}  // namespace

UnitLines FindInUnit(Dwarf* dwarf, uint64_t unit, std::span<const uint64_t> addresses, EntryBudget& budget,
                     std::set<std::string, std::less<>>& paths) {
  UnitLines found = {.chains = std::vector<LineChain>(addresses.size())};
  Dwarf_Die die;
  Dwarf_Die split;
  uint8_t type = 0;
  if (dwarf_offdie(dwarf, unit, &die) == nullptr) return found;
  if (dwarf_cu_info(die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) != 0) return found;
  const std::optional<uint64_t> first = FirstCode(&die, budget);
  if (!first.has_value()) return found;
  const LineTable lines(&die, *first);
  UnitWalk walk(addresses, budget);
  const bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
  found.is_without_split = type == DW_UT_skeleton && !is_split;
  walk.Walk(is_split ? &split : &die);
  ChainMaker chains(paths);
  for (size_t i = 0; i < addresses.size(); ++i)
    found.chains[i] = chains.ChainOf(walk.chain(i), &die, lines.Find(addresses[i]));
  return found;
}

}  // namespace offcpu
